"""A model that goes the way that each case describes: it proves that files, tools and checks are
right, and costs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.model.replies import Item
from bot.dev.model.request import item_text
from bot.dev.model.standin.fill import fill
from bot.evals.cases import Case

_ACQUIRE, _COMPLETE = "acquire_tools", "complete_task"
_HANDLE = re.compile(r"\b[a-z]{3}_[0-9a-z]{8}\b")
_FILE = re.compile(r"^- (\S+) \(file_id ", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\$(\d+)")
_TEXT_FIELDS = ("summary", "about", "draft")


class Walkthroughs:
    """The brain of a model service. It tells the cases by their questions, and how far each is by
    what came after the question, so that any number can be on their way at once."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = {case.question.strip(): case for case in cases}
        self._before = [text.strip() for case in self._cases.values() for text in case.before]

    def __call__(self, request: ModelRequest) -> Reply:
        """The next call of the case, with its tool acquired first where that must be."""
        case, since = self._asked(request)
        calls = case.walkthrough.calls if case else ()
        made = [item["name"] for item in since if item.get("type") == "function_call"]
        done = len(made) - made.count(_ACQUIRE)
        if done >= len(calls) or request.forced:
            return finish(_result(case.walkthrough.answer if case else "Noted.", request))
        [(name, arguments)] = calls[done].items()
        offered = {tool.get("name") for tool in request.tools}
        if name not in offered and made[-1:] != [_ACQUIRE]:
            return call(_ACQUIRE, {"names": [name]})
        return call(name, _with_handles(arguments, request))

    def _asked(self, request: ModelRequest) -> tuple[Case | None, list[Item]]:
        """The case whose question was asked last, or None for one of those before it; and what has
        happened since."""
        known = sorted((*self._cases, *self._before), key=len, reverse=True)
        for number, item in reversed(list(enumerate(request.items))):
            text = item_text(item) if item.get("role") == "user" else ""
            if found := next((each for each in known if each in text), None):
                return self._cases.get(found), request.items[number:]
        raise LookupError("this is the question of no case")


def _result(answer: str | dict[str, Any] | None, request: ModelRequest) -> dict[str, Any]:
    schema = next(tool for tool in request.tools if tool.get("name") == _COMPLETE)["parameters"]
    if isinstance(answer, dict):
        return fill(schema, {}) | answer
    text_field = next((each for each in _TEXT_FIELDS if each in schema["properties"]), "")
    files = _FILE.findall(request.text)
    sources = [{"title": name, "url": None, "supports": "All."} for name in files]
    known = {"sources": sources} if "sources" in schema["properties"] else {}
    text = "\n".join(_outputs(request)) if answer is None else answer
    return fill(schema, {}) | known | {text_field: text}


def _outputs(request: ModelRequest) -> list[str]:
    return [item["output"] for item in request.items if item.get("type") == "function_call_output"]


def _with_handles(value: Any, request: ModelRequest) -> Any:
    """`value` with every "$1" in it replaced by the handle that it stands for."""
    if isinstance(value, dict):
        return {key: _with_handles(each, request) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_handles(each, request) for each in value]
    if not isinstance(value, str):
        return value
    found = dict.fromkeys(handle for text in _outputs(request) for handle in _HANDLE.findall(text))
    handles = dict(enumerate(found, 1))
    return _PLACEHOLDER.sub(lambda match: handles.get(int(match[1]), match[0]), value)
