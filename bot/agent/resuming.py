"""What a run that goes on after an interruption reads from the ledger."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from bot.agent.complete import NAME as COMPLETE
from bot.agent.complete import ResponseType
from bot.agent.outputs import ACCEPTED
from bot.agent.state import LoopState, Transition
from bot.core.chain import Item, LedgerEntry


def added_items(entries: Sequence[LedgerEntry], run_id: str) -> list[Item]:
    """Return what the run has added to the conversation so far. Its first entry is the request,
    which it was given."""
    own = [entry for entry in entries if entry.run_id == run_id][1:]
    return [i for entry in own if not (entry.abandoned or entry.checkpoint) for i in entry.items]


async def accepted_result(
    state: LoopState, entries: Sequence[LedgerEntry], response_type: ResponseType
) -> BaseModel | None:
    """Return the result that version 1 of the state accepted without keeping it: the arguments of
    its call are in the ledger. None for every other state."""
    if state.ending or state.open or state.transition is not Transition.TOOLS_ANSWERED:
        return None
    accepted = {item.get("call_id") for item in state.pending if item.get("output") == ACCEPTED}
    for item in (item for entry in reversed(entries) for item in entry.items):
        if item.get("name") == COMPLETE and item.get("call_id") in accepted:
            return await response_type.parse(item["arguments"])
    return None
