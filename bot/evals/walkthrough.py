"""A model that goes the way that each case describes: it proves that files, tools and checks are
right, and costs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from bot.evals.cases import Case
from bot.local.model import ModelRequest, Reply, call, finish
from bot.local.model.standin.fill import fill

_ACQUIRE, _COMPLETE = "acquire_tools", "complete_task"
_HANDLE = re.compile(r"\b[a-z]{3}_[0-9a-z]{8}\b")
_PLACEHOLDER = re.compile(r"\$(\d+)")
_TEXT_FIELDS = ("summary", "about", "draft")


class Walkthroughs:
    """The brain of a model service. It tells the cases by their questions, and how far each is by
    what the conversation holds, so that any number can be on their way at once."""

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = sorted(cases, key=lambda case: len(case.question), reverse=True)

    def __call__(self, request: ModelRequest) -> Reply:
        """The next call of the case, with its tool acquired first where that must be."""
        case = next(each for each in self._cases if each.question.strip() in request.text)
        calls = case.walkthrough.calls
        made = [item["name"] for item in request.items if item.get("type") == "function_call"]
        done = len(made) - made.count(_ACQUIRE)
        if done >= len(calls) or request.forced:
            return finish(_result(case, request))
        [(name, arguments)] = calls[done].items()
        offered = {tool.get("name") for tool in request.tools}
        if name not in offered and made[-1:] != [_ACQUIRE]:
            return call(_ACQUIRE, {"names": [name]})
        return call(name, _with_handles(arguments, request))


def _result(case: Case, request: ModelRequest) -> dict[str, Any]:
    schema = next(tool for tool in request.tools if tool.get("name") == _COMPLETE)["parameters"]
    answer = case.walkthrough.answer
    if isinstance(answer, dict):
        return fill(schema, {}) | answer
    text_field = next((each for each in _TEXT_FIELDS if each in schema["properties"]), "")
    sources = [{"title": path.name, "url": None, "supports": "All."} for path in case.files]
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
