"""The model of a job: it plays the job's turns with what a request offers, as a strong model would."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from bot.dev.model import ModelRequest, Reply, calls, finish, text
from bot.dev.model.filling import fill
from bot.dev.model.replies import Item
from bot.dev.model.request import item_text
from bot.evals.models import HANDLES
from tests.jobs.job import Act, Call, Turn

ACQUIRE, COMPLETE, ASK = "acquire_tools", "complete_task", "ask_person"
_TEXT_FIELDS = ("summary", "about", "draft")
_PLACEHOLDER = re.compile(r"\$(?:(\d+|last)|link(\d+)|([\w-]+\.[a-z]{2,5})|(today|tomorrow|soon))")
_FILE = re.compile(r"(\S+) \((?:file_id )?(F[0-9A-Z]{6,})")
_LINK = re.compile(r"https?://[^\s<>|)\]]+/archives/[^\s<>|)\]]+")


class Player:
    """A brain for one job. `acts` are the turns that follow what people do, act by act; `problems`
    says what did not fit, `guessed` counts calls of tools whose arguments it has not seen."""

    def __init__(
        self, do: Callable[[Act], Awaitable[None]], acts: Iterable[Sequence[Turn]]
    ) -> None:
        self.problems = list[str]()
        self.guessed = 0
        self._do = do
        self._turns = deque((n, turn) for n, turns in enumerate(acts) for turn in turns)
        self._act = -1
        self._last: Reply | None = None
        self._again = 0

    @property
    def waits(self) -> bool:
        """Whether there are turns of this act that no request has come for."""
        return bool(self._now())

    def begin_act(self) -> None:
        """Play the turns of the next act from the next request on."""
        self._act += 1
        self._last, self._again = None, 0

    def skip_act(self) -> list[Turn]:
        """Leave out the turns of this act, and return them."""
        left = self._now()
        for _ in left:
            self._turns.popleft()
        return left

    def _now(self) -> list[Turn]:
        return [turn for act, turn in self._turns if act <= self._act]

    async def __call__(self, request: ModelRequest) -> Reply:
        """Return the next response, or what a model says when its result has not been accepted."""
        tools = {str(tool["name"]): tool for tool in request.tools if "name" in tool}
        if COMPLETE not in tools:
            return text("Noted.", disobey=True)
        if not self.waits:
            return self._once_more(request, tools)
        turn = _chosen(self._turns[0][1], tools)
        if missing := self._missing(request, tools):
            return calls((ACQUIRE, fill(tools[ACQUIRE]["parameters"], {"names": missing})))
        self._turns.popleft()
        for act in turn.meanwhile:
            await self._do(act)
        self._last = self._reply(turn, request, tools)
        return self._last

    def _once_more(self, request: ModelRequest, tools: dict[str, Item]) -> Reply:
        """Return the last result again: as a call if it was text, for it has not been accepted."""
        self._again += 1
        ended = self._last and (not self._last.called or COMPLETE in self._last.called)
        if self._last is None or not ended:
            self.problems.append(f"the model was asked for more: {request.last_words}")
            return finish(self._result("Done.", tools))
        said = next((item for item in self._last.items if item["type"] == "message"), None)
        if said:
            return finish(self._result(said["text"], tools))
        if self._last.called == [COMPLETE]:
            self.problems.append(f"the result came back: {request.last_words}")
        if self._again > 3:
            return text("I give up.", disobey=True)
        answer = next(i for i in self._last.items if i.get("name") == COMPLETE)
        return Reply(({**answer, "call_id": ""},))

    def _missing(self, request: ModelRequest, tools: dict[str, Item]) -> list[str]:
        """Return the tools that the turns at hand need and that cannot be called yet, unless the
        last call has asked for them already."""
        if ACQUIRE not in tools or _runs_listed(tools):
            return []
        turns = [_chosen(turn, tools) for turn in self._now()]
        asks = {ASK: None} if turns[0].ask and _has(ASK, tools) else {}
        named = asks | dict.fromkeys(name for turn in turns for name, _ in turn.called)
        missing = [name for name in named if name not in tools]
        if not {*asks, *(name for name, _ in turns[0].called)}.intersection(missing):
            return []
        before = [item["arguments"] for item in request.items if item.get("name") == ACQUIRE]
        return [] if before and missing[0] in before[-1] else missing

    def _reply(self, turn: Turn, request: ModelRequest, tools: dict[str, Item]) -> Reply:
        known = _Known(request)
        if turn.text is not None:
            return text(known.filled(turn.text))
        if turn.ask is not None:
            return self._question(turn.ask, tools)
        if turn.answer is not None:
            return finish(self._result(known.filled(turn.answer), tools))
        self.guessed += sum(name not in tools for name, _ in turn.called)
        made = [_call(name, known.filled(arguments), tools) for name, arguments in turn.called]
        last = self._turns[0][1] if self._turns else None
        if last and last.beside and last.answer is not None and _permits_beside(tools):
            self._turns.popleft()
            made.append((COMPLETE, self._result(known.filled(last.answer), tools)))
        return calls(*made)

    def _question(self, ask: dict[str, Any], tools: dict[str, Item]) -> Reply:
        if _has(ASK, tools):
            return calls(_call(ASK, ask, tools))
        options = {"follow_ups": ask.get("options", [])}
        return finish(self._result({"summary": ask["question"], **options}, tools))

    def _result(self, answer: Any, tools: dict[str, Item]) -> dict[str, Any]:
        schema = tools[COMPLETE]["parameters"]
        if not isinstance(answer, dict):
            field = next((name for name in _TEXT_FIELDS if name in schema["properties"]), "")
            answer = {field: answer}
        return fill(schema, answer)


class _Known:
    """What a conversation has named: handles and ids, links, files."""

    def __init__(self, request: ModelRequest) -> None:
        said = "\n".join(item_text(item) for item in request.items)
        self._handles = list(dict.fromkeys(HANDLES.findall(said)))
        self._links = list(dict.fromkeys(_LINK.findall(said)))
        self._files: dict[str, str] = dict(_FILE.findall(said))

    def filled(self, value: Any) -> Any:
        """Return `value` with "$1", "$link1", "$sales.csv", "$today" … in it replaced."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.filled(item) for item in value]
        return _PLACEHOLDER.sub(self._replacement, value) if isinstance(value, str) else value

    def _replacement(self, match: re.Match[str]) -> str:
        handle, link, file, day = match.groups()
        if day:
            return _day(day)
        if file:
            return self._files.get(file, match[0])
        if link and int(link) > len(self._links) and self._handles:
            return f"{{{{{self._handles[0]}.link[{link}]}}}}"
        values, number = (self._handles, handle) if handle else (self._links, link)
        place = len(values) if number == "last" else int(number)
        return values[place - 1] if 0 < place <= len(values) else match[0]


def _chosen(turn: Turn, tools: dict[str, Item]) -> Turn:
    """Return the turn itself, or of several the first whose tools there are."""
    if not turn.first_of:
        return turn
    there = (one for one in turn.first_of if all(_has(name, tools) for name, _ in one.called))
    return next(there, turn.first_of[-1]).model_copy(update={"meanwhile": turn.meanwhile})


def _day(name: str) -> str:
    now = datetime.now(UTC)
    if name == "soon":
        return (now + timedelta(seconds=3)).isoformat(timespec="seconds")
    return f"{now + timedelta(days=name == 'tomorrow'):%Y-%m-%d}"


def _call(name: str, arguments: dict[str, Any], tools: dict[str, Item]) -> Call:
    """Return a call with null for what a model leaves out, if it sees the tool's schema."""
    return (name, fill(tools[name]["parameters"], arguments) if name in tools else arguments)


def _has(name: str, tools: dict[str, Item]) -> bool:
    """Return whether there is a tool of this name: offered, or named by `acquire_tools`."""
    listed = str(tools.get(ACQUIRE, {}).get("description", ""))
    return name in tools or re.search(rf"\b{name}\b", listed) is not None


def _runs_listed(tools: dict[str, Item]) -> bool:
    """Return whether `acquire_tools` says that a tool on its list can be called at once."""
    said = str(tools.get(ACQUIRE, {}).get("description", ""))
    return "it runs" in said


def _permits_beside(tools: dict[str, Item]) -> bool:
    """Return whether the description of `complete_task` permits calls beside it."""
    return "alone" not in str(tools[COMPLETE].get("description", ""))
