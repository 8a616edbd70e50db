"""Models to evaluate: any of the service, and local ones that cost nothing, such as the walkthrough."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

from pydantic import SecretStr

from bot.core.ids import HANDLE
from bot.dev.demo import demo
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.model.errors import test_error
from bot.dev.model.filling import fill
from bot.dev.model.replies import Item
from bot.dev.model.request import item_text
from bot.dev.model.server import Brain
from bot.evals.cases import Case
from bot.model import Price
from bot.settings import Settings


@asynccontextmanager
async def local_model(
    settings: Settings,
    brain: Brain,
    *,
    name: str,
    chunk_delay: float = 0.0,
    counts_tokens: bool = True,
) -> AsyncGenerator[Settings]:
    """Yield `settings` with a model `name` that costs nothing and whose replies come from `brain`.

    `chunk_delay` is the time between the events of a stream, in seconds. Without `counts_tokens` no
    tokens are reported.
    """
    async with ResponsesServer.open(
        brain, chunk_delay=chunk_delay, counts_tokens=counts_tokens
    ) as api:
        model = {"price": settings.model.price or Price(input=0, output=0)}
        yield settings.model_copy(
            update={
                "openai_base_url": api.url,
                "openai_api_key": SecretStr(api.api_key),
                "openai_model": name,
                "openai_fallback_models": (),
                "model": settings.model.model_copy(update=model),
            }
        )


_ACQUIRE, _COMPLETE = "acquire_tools", "complete_task"
HANDLES = re.compile(
    rf"{HANDLE.pattern}|\b(?:fig_[0-9a-z]{{6,16}}|sched_[0-9a-z]{{6}}|Q[0-9A-Z]{{9,}})\b"
)
_SOURCE = re.compile(r"^handle: .* · source: ([^<\n]+?)(?: <([^>\n]+)>)?$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\$(\d+)")
_TEXT_FIELDS = ("summary", "about", "draft")


class Walkthroughs:
    """The replies of a model service that plays walkthroughs.

    It recognises a case by its question, and its progress by the items after the question, so that
    any number of cases can run at once.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        self._cases = {case.question.strip(): case for case in cases}
        self._before = [text.strip() for case in self._cases.values() for text in case.before]

    def __call__(self, request: ModelRequest) -> Reply:
        """Return the next call of the case, acquiring its tool first where needed, or its answer."""
        case, before, since = self._asked(request)
        calls = case.walkthrough.calls if case else ()
        made = [item["name"] for item in since if item.get("type") == "function_call"]
        outputs = [item["output"] for item in since if item.get("type") == "function_call_output"]
        earlier = HANDLES.findall("\n".join(map(item_text, before)))[-1:]
        done = len(made) - made.count(_ACQUIRE)
        if done >= len(calls) or request.forced:
            answer = _with_handles(case.walkthrough.answer if case else "Noted.", outputs, earlier)
            return finish(_result(answer, outputs, request))
        [(name, arguments)] = calls[done].items()
        offered = {tool.get("name") for tool in request.tools}
        if name not in offered and made[-1:] != [_ACQUIRE]:
            return call(_ACQUIRE, {"names": [name]})
        return call(name, _with_handles(arguments, outputs, earlier))

    def _asked(self, request: ModelRequest) -> tuple[Case | None, list[Item], list[Item]]:
        """Return the case whose question was asked last, or None for a question of `before`, with
        the items before it, and those since. Raises ApiError when the conversation has the question of no case."""
        for number, item in reversed(list(enumerate(request.items))):
            text = item_text(item) if item.get("role") == "user" else ""
            if questions := [
                question for question in (*self._cases, *self._before) if question in text
            ]:
                # An edited question is followed by its earlier text.
                first = min(questions, key=lambda each: (text.index(each), -len(each)))
                return self._cases.get(first), request.items[:number], request.items[number:]
        raise test_error(f"no case has this question: {request.last_words!r}")


def _result(
    answer: str | dict[str, Any] | None, outputs: list[str], request: ModelRequest
) -> dict[str, Any]:
    """Return the arguments of `complete_task`. Without sources of its own, the answer cites what the
    tools read."""
    schema = next(tool for tool in request.tools if tool.get("name") == _COMPLETE)["parameters"]
    titles = dict.fromkeys(pair for text in outputs for pair in _SOURCE.findall(text))
    sources = [{"title": title, "url": url or None, "supports": "All."} for title, url in titles]
    if not isinstance(answer, dict):
        text_field = next((field for field in _TEXT_FIELDS if field in schema["properties"]), "")
        answer = {text_field: "\n".join(outputs) if answer is None else answer}
    return fill(schema, {"sources": sources} | answer)


def _with_handles(value: Any, outputs: list[str], earlier: list[str]) -> Any:
    """Return `value` with "$1", "$2", … in it replaced by the handles that tools returned, in order.

    "$0" is the last handle that was named before the question: the one in `earlier`, if any.
    """
    if isinstance(value, dict):
        return {key: _with_handles(item, outputs, earlier) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_handles(item, outputs, earlier) for item in value]
    if not isinstance(value, str):
        return value
    found = dict.fromkeys(handle for text in outputs for handle in HANDLES.findall(text))
    handles = dict(enumerate(found, 1)) | dict(enumerate(earlier))
    return _PLACEHOLDER.sub(lambda match: handles.get(int(match[1]), match[0]), value)


DEMO = "demo"
WALKTHROUGH = "walkthrough"


def model_for_cases(
    model: str | None, settings: Settings, cases: Sequence[Case]
) -> AbstractAsyncContextManager[Settings]:
    """Open the model of this name and return the settings for it; None is the configured model."""
    if model == WALKTHROUGH:
        return local_model(settings, Walkthroughs(cases), name=WALKTHROUGH)
    if model == DEMO:
        return local_model(settings, demo, name=DEMO)
    return nullcontext(settings.model_copy(update={"openai_model": model}) if model else settings)
