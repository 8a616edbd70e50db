"""Where a run stands: one frozen value, replaced whole at each continue site (A4)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.agent.outputs import CallOutput
from bot.core.chain import Item, Usage
from bot.core.outcome import StopReason
from bot.model.types import ModelResponse


class Transition(StrEnum):
    """Why the loop goes round again."""

    STARTED = "started"
    TOOLS_ANSWERED = "tools_answered"
    FINAL_REJECTED = "final_rejected"  # complete_task did not validate
    NUDGED = "nudged"  # text without calls: pointed to complete_task
    FORCED = "forced"  # text again: complete_task is forced
    MALFORMED = "malformed"  # neither text nor calls, or cut off
    BLOCKED = "blocked"  # a stop hook sent the result back
    CLOSING = "closing"  # a guard tripped: one last call
    REBUILT = "rebuilt"  # the service lost the chain: a fresh one from our ledger
    COMPACTED = "compacted"  # a fresh, shorter chain
    CHECKPOINTED = "checkpointed"  # a fresh chain with what the model itself wrote down
    PARENT_MISSED = "parent_missed"  # the service does not find the chain: asked once more
    FELL_BACK = "fell_back"  # the next model of the list
    TOLD_MORE = "told_more"  # a hook had something to say before the call


class OpenResponse(BaseModel):
    """The response in hand: what a resumed run goes on with (I3).

    `outputs` answer those of its calls that are done; `begun` are ids of calls that change
    something and were started, so that none is started twice.
    """

    model_config = ConfigDict(frozen=True)

    response: ModelResponse
    outputs: tuple[CallOutput, ...] = ()
    begun: tuple[str, ...] = ()


class LoopState(BaseModel):
    """Serialisable, so that any worker can go on from it.

    `parent` and `pending` are the chain: the last response whose calls are all answered by
    `pending`, and what the next request sends. They are valid together at every instant (B2).
    `sent_back` counts the results that hooks did not take, which cost no turn (H4).
    `closing` is set once a guard has tripped: the next call is the last. `malformed` and
    `failed_turns` count consecutive trouble (G3). `links` are addresses that tools brought in.
    `fallback` counts the models given up. `overflowed` and `parent_missed` are set once the remedy
    was used, so that it is not tried for ever (E4, B8). `task` is the request in hand. `restart` is
    what the next chain is to begin with beside it, when the model wants a fresh one; `went_on` is
    set when it could have had one and did not want it (E2). `open` is the response that is being
    worked on, if any.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    transition: Transition = Transition.STARTED
    turn: int = 0
    sent_back: int = 0
    parent: str | None = None
    pending: tuple[Item, ...] = ()
    acquired: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    usage: Usage = Usage()
    last_usage: Usage = Usage()
    cost: float | None = 0.0
    tool_calls: int = 0
    malformed: int = 0
    failed_turns: int = 0
    warned: bool = False
    force_finish: bool = False
    closing: StopReason | None = None
    fallback: int = 0
    task: Item | None = None
    restart: str = ""
    went_on: bool = False
    overflowed: bool = False
    parent_missed: bool = False
    open: OpenResponse | None = None

    def go(self, transition: Transition, **changes: Any) -> LoopState:
        """The next state."""
        return self.model_copy(update={"transition": transition, **changes})
