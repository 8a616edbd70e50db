"""What answers a call."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from bot.core.chain import Item
from bot.core.outcome import StopReason


@dataclass(frozen=True, slots=True)
class CallOutput:
    """What answers one call. `result` is set by a valid `complete_task` only; `cancelled` when
    the person stopped the run before this call was done; `blocked` and `ends` are verdicts of stop
    hooks on the result; `restart` is what a fresh chain is to hold of this one (E2)."""

    call_id: str
    tool: str
    text: str
    ok: bool = True
    cancelled: bool = False
    blocked: bool = False
    ends: StopReason | None = None
    acquired: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    restart: str = ""
    result: BaseModel | None = None

    def item(self) -> Item:
        """The output as the service takes it."""
        return {"type": "function_call_output", "call_id": self.call_id, "output": self.text}


def cancelled(call: Item) -> CallOutput:
    """The output of a call that a person stopped before it was done (H1)."""
    text = "Cancelled by the user before it finished."
    return CallOutput(call["call_id"], call["name"], text, ok=False, cancelled=True)
