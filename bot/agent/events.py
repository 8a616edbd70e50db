"""The events of a run, and how the loop hands them to its consumer."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from inspect import CORO_SUSPENDED, getcoroutinestate
from types import coroutine
from typing import Any

from pydantic import BaseModel

from bot.agent.state import LoopState
from bot.core.chain import Item, LedgerEntry
from bot.core.errors import ModelError
from bot.core.outcome import RunStatus, StopReason
from bot.toolkit.progress import shown_progress
from bot.toolkit.skill import Skill

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The loop has begun; no request has been sent yet."""

    model: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A call of `model` is about to be made, which sends a number of messages and outputs; turns
    count from 1."""

    turn: int
    max_turns: int
    messages: int = 0
    model: str = ""


@dataclass(frozen=True, slots=True)
class RoomAwaited:
    """The next model call waits, because other runs hold the rest of a budget; with `ended` the
    wait is over. The budget code sends this event."""

    ended: bool = False


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the response that is streaming; narration, never the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More of the summary of what the model is thinking."""

    text: str


@dataclass(frozen=True, slots=True)
class ResultDelta:
    """More of the text of the result that the model is writing; none of it counts before RunEnded,
    and with the next TurnStarted it was not taken."""

    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """The text of the deltas since TurnStarted is void: the call failed, and may be repeated."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """Something was added to the conversation, and `state` is the run's state now.

    The consumer must keep both before it asks for the next event.
    """

    state: LoopState
    entry: LedgerEntry


@dataclass(frozen=True, slots=True)
class SavePoint:
    """The state of the run, with nothing new in the conversation; to be kept like `Recorded`."""

    state: LoopState


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A call is about to run, or to be refused. `title` is its one-line summary for people,
    `arguments` the digest of the exact call (`bot.core.approvals.digest`). If not `known`, the
    model invented the name `tool`."""

    call_id: str
    tool: str
    title: str
    arguments: str = ""
    known: bool = True


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call has its output. `detail` is one short line about the result or the error; `title` is
    that of its start, or a more exact one. A `refused` call was not run. If not `known`, the model
    invented the name `tool`. With `unknown` a change may or may not have been made."""

    call_id: str
    tool: str
    ok: bool
    detail: str
    seconds: float
    title: str = ""
    refused: bool = False
    known: bool = True
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class ToolProgress:
    """A running call says what it does, at most once a second. `text` is one line in the tool's own
    words; `share` is the part that is done (0 to 1), None if unknown."""

    call_id: str
    tool: str
    text: str
    share: float | None = None

    @property
    def line(self) -> str:
        """Return the line that people see."""
        return shown_progress(self.text, self.share)


@dataclass(frozen=True, slots=True)
class ToolRetried:
    """An attempt of a call failed, and the next one begins in `pause` seconds.

    `attempt` counts from 1; `error` is the class of the exception.
    """

    call_id: str
    tool: str
    attempt: int
    error: str
    pause: float


ToolEvent = ToolStarted | ToolProgress | ToolRetried | ToolEnded
"""An event of one call, from its start to its end."""


@dataclass(frozen=True, slots=True)
class ToolsAcquired:
    """The model asked for these tools."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SkillAcquired:
    """A skill was acquired, `by` the model, a person who named it, or the channel."""

    name: str
    title: str
    digest: str
    origin: str
    by: str = "model"

    @classmethod
    def of(cls, skill: Skill, by: str = "model") -> SkillAcquired:
        """Return the event of a skill."""
        return cls(skill.name, skill.title, skill.digest, skill.origin, by)


@dataclass(frozen=True, slots=True)
class PersonAsked:
    """A running call asks its asker something and waits; with `answered` it goes on.

    The run keeps its worker, unlike with `Paused`.
    """

    call_id: str
    answered: bool = False


@dataclass(frozen=True, slots=True)
class MessagesJoined:
    """Further messages of people joined the run; the hook that adds them sends this event."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Paused:
    """The last event of a run that waits until people decide about these calls. The run is not
    over: it continues from the last saved state."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromSubagent:
    """An event of a sub-agent's run; `agent` is the id of the call that dispatched it. The consumer
    does not save what the sub-agent recorded."""

    agent: str
    event: Event


@dataclass(frozen=True, slots=True)
class RunEnded:
    """The last event, unless the run is paused.

    `result` is None when there is none. `error` is set when the model service ended the run.
    `done` are the titles of the calls that went well, for when there is no result to show.
    `new_items` is all that the loop added to the conversation, in order.
    """

    state: LoopState
    status: RunStatus
    stop_reason: StopReason
    result: BaseModel | None = None
    error: ModelError | None = None
    done: tuple[str, ...] = ()
    new_items: tuple[Item, ...] = ()


Event = (
    RunStarted
    | TurnStarted
    | RoomAwaited
    | TextDelta
    | ReasoningDelta
    | ResultDelta
    | TextWithdrawn
    | Recorded
    | SavePoint
    | ToolEvent
    | ToolsAcquired
    | SkillAcquired
    | PersonAsked
    | MessagesJoined
    | Paused
    | FromSubagent
    | RunEnded
)


class Emission:
    """Suspends a coroutine with an event until the consumer asks for the next one."""

    __slots__ = ("event",)

    def __init__(self, event: Event) -> None:
        self.event = event

    def __await__(self) -> Generator[Any]:
        yield self


def emit(event: Event) -> Emission:
    """Hand an event to the consumer of the run. Await it, in the loop's own coroutine: neither in a
    task that it started, nor inside `Interrupt.within`."""
    return Emission(event)


class _Left(BaseException):
    """Raised in a coroutine whose consumer does not ask for more events."""


class Emitting:
    """Iterates over the events that a coroutine emits, without a task or a queue: what it awaits is
    awaited by the consumer, and it stands still while the consumer handles an event."""

    __slots__ = ("_work",)

    def __init__(self, work: Coroutine[Any, Any, None]) -> None:
        self._work = work

    def __aiter__(self) -> Emitting:
        return self

    async def __anext__(self) -> Event:
        if event := await _resumed(self._work):
            return event
        raise StopAsyncIteration

    async def leave(self) -> None:
        """End the coroutine where it is; its cleanup may await. What that raises or emits is logged:
        the exception for which the consumer leaves must not be replaced."""
        try:
            while getcoroutinestate(self._work) == CORO_SUSPENDED:
                if event := await _resumed(self._work, _Left()):
                    log.error("lost by the cleanup of a run: %s", type(event).__name__)
        except _Left:
            pass
        except Exception:
            log.exception("the cleanup of a run failed")
        self._work.close()


@coroutine
def _resumed(
    work: Coroutine[Any, Any, None], exception: BaseException | None = None
) -> Generator[Any, Any, Event | None]:
    """Run a coroutine, or raise `exception` in it, to its next event; return None at its end."""
    sent: Any = None
    try:
        while True:
            waits_for = work.throw(exception) if exception else work.send(sent)
            if isinstance(waits_for, Emission):
                return waits_for.event
            try:
                sent, exception = (yield waits_for), None
            except BaseException as error:  # noqa: BLE001 - it is the coroutine's
                exception = error
    except StopIteration:
        return None
