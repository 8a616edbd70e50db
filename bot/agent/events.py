"""The events of a run, as the loop yields them."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from bot.agent.state import LoopState
from bot.core.chain import Item, LedgerEntry
from bot.core.errors import ModelError
from bot.core.outcome import RunStatus, StopReason


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The loop has begun; nothing was sent yet."""

    model: str


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A model call is about to be made, which sends so many messages and outputs; turns count from
    1."""

    turn: int
    max_turns: int
    messages: int = 0


@dataclass(frozen=True, slots=True)
class RoomAwaited:
    """Other runs hold what is left of a budget: the next call to the model waits, until `ended`; told
    by whoever sees to budgets."""

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
    """What the deltas showed since TurnStarted does not count: the call failed, and may be made again."""


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
    `arguments` the digest of what exactly is called (`bot.core.approvals.digest`). `tool` is a name
    that the model made up where it is not `known`."""

    call_id: str
    tool: str
    title: str
    arguments: str = ""
    known: bool = True


@dataclass(frozen=True, slots=True)
class ToolEnded:
    """A call has its output. `detail` is one short line: what came out, or what went wrong;
    `title` is that of its start, or says what was not known then. A `refused` call was not run. `tool`
    is a name that the model made up where it is not `known`. With `unknown` nobody knows whether a
    change was made."""

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
class ToolsAcquired:
    """The model asked for these tools."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MessagesJoined:
    """People wrote more, and it was taken into the run; told by whoever brought it in. `last` names
    the last of these messages where they were written."""

    texts: tuple[str, ...]
    last: str


@dataclass(frozen=True, slots=True)
class Paused:
    """The last event of a run that waits for people: about these calls somebody must decide. It is
    not over, and goes on from the state that was kept last."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromSubagent:
    """Something that happened in the run of a sub-agent; `agent` is the id of the call that
    dispatched it. What it recorded is its own, and not to be kept."""

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
    | ToolStarted
    | ToolEnded
    | ToolsAcquired
    | MessagesJoined
    | Paused
    | FromSubagent
    | RunEnded
)
