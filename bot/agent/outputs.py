"""What answers a call."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from pydantic import BaseModel

from bot.core.chain import Item
from bot.core.outcome import StopReason
from bot.toolkit.tool import Tool


@dataclass(frozen=True, slots=True)
class CallOutput:
    """What answers one call. `result` is set by a valid `complete_task` only; `cancelled` when
    the person stopped the run before this call was done; `blocked` and `ends` are verdicts of stop
    hooks on the result; `restart` is what a fresh chain is to hold of this one (E2). `mark` is set
    where others wrote the text; `note` is what we say of it."""

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
    mark: str = ""
    note: str = ""
    result: BaseModel | None = None

    def item(self) -> Item:
        """The output as the service takes it."""
        text = marked(self.text, self.mark) if self.mark else self.text
        text = f"{self.note}\n{text}" if self.note else text
        return {"type": "function_call_output", "call_id": self.call_id, "output": text}


def new_mark() -> str:
    """Made after what it is to mark was: nobody who wrote in it can close it early."""
    return secrets.token_hex(4)


def mark_for(tool: Tool) -> str:
    """Of one output; "" where the words are ours."""
    return new_mark() if tool.foreign else ""


def marked(text: str, mark: str) -> str:
    """`text` as data for the model, as its instructions say (LLM01)."""
    return f"[data {mark}]\n{text}\n[end of data {mark}]"


def cancelled(call: Item) -> CallOutput:
    """The output of a call that a person stopped before it was done (H1)."""
    text = "Cancelled by the user before it finished."
    return CallOutput(call["call_id"], call["name"], text, ok=False, cancelled=True)
