"""Where a run stands: one frozen value, replaced whole at each continue site (A4)."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.core.chain import Item, Usage


class Transition(StrEnum):
    """Why the loop goes round again."""

    STARTED = "started"
    TOOLS_ANSWERED = "tools_answered"
    NUDGED = "nudged"  # text without calls: pointed to complete_task
    FORCED = "forced"  # still text: complete_task is forced
    FINAL_REJECTED = "final_rejected"  # complete_task did not validate
    MALFORMED = "malformed"  # a response without text or calls


class LoopState(BaseModel):
    """Serialisable, so that any worker can go on from it.

    `parent` and `pending` are the chain: the last response whose calls are all answered by
    `pending`, and what the next request sends. They are valid together at every instant (B2).
    `malformed` and `failed_turns` count consecutive trouble (G3).
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    turn: int = 0
    transition: Transition = Transition.STARTED
    parent: str | None = None
    pending: tuple[Item, ...] = ()
    acquired: tuple[str, ...] = ()
    usage: Usage = Usage()
    last_usage: Usage = Usage()
    cost: float | None = 0.0
    tool_calls: int = 0
    malformed: int = 0
    failed_turns: int = 0
    force_finish: bool = False
