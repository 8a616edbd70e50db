"""Where a run begins: what is kept of its thread, and what the model is told first (B5)."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.agent import handover, prompts
from bot.agent.builtin.acquire_tools import tool_hints
from bot.agent.state import LoopState
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.context import RequestContext, bound_request
from bot.core.errors import CorruptValue
from bot.core.memory import Memory
from bot.core.request import Request
from bot.runs.audit_trail import RunAudit
from bot.runs.context.thread_files import files_of_thread
from bot.runs.policy.preferences import PreferenceBook
from bot.store import Lease, RunRecord, Stores
from bot.toolkit import Conversation
from bot.toolkit.catalogue import Catalogue

log = logging.getLogger(__name__)

MemoriesOf = Callable[[Request], Awaitable[Sequence[Memory]]]
"""What is remembered and may be told where a request was made."""


def bound_to(request: Request) -> str | None:
    """The one person who may see what this run adds to the conversation, None for everybody."""
    return request.user if request.private else None


@dataclass(frozen=True, slots=True)
class RunLoader:
    """Reads what a thread's next run goes on from."""

    stores: Stores
    conversation: Conversation
    memories_of: MemoriesOf
    images: bool

    async def first_state(
        self,
        request: Request,
        record: RunRecord,
        lease: Lease,
        caller: CallerState,
        catalogue: Catalogue,
        audit: RunAudit,
    ) -> LoopState:
        """Where an interrupted run stood, or the thread's chain with the new request (B5)."""
        if record.state is not None:
            return LoopState.model_validate_json(record.state)
        asked = await self._asked(request, record.run_id)
        notes = (
            *await self._remembered(request, caller),
            *await self._wished(request),
            *tool_hints(request, catalogue, caller.acquired),
        )
        state = handover.first_state(caller, asked, *notes)
        entry = LedgerEntry(run_id=record.run_id, items=(asked, *notes), bound_to=bound_to(request))
        await self.stores.runs.save_point(
            record.run_id,
            state.model_dump_json(),
            lease,
            [entry],
            on_record=await audit.due(),
        )
        return state

    async def _asked(self, request: Request, run_id: str) -> Item:
        """The request as the model reads it, with the files that stand above it in the thread."""
        entries = await self.history(request)
        with bound_request(RequestContext(request=request, run_id=run_id)):
            in_thread = await files_of_thread(
                request, self.conversation, entries, images=self.images
            )
        return prompts.request_message(request, in_thread, images=self.images)

    async def _remembered(self, request: Request, caller: CallerState) -> tuple[Item, ...]:
        """What is remembered where the request was made, at the beginning of a conversation."""
        if caller.previous_response_id:
            return ()
        return prompts.memories_message(await self.memories_of(request))

    async def _wished(self, request: Request) -> tuple[Item, ...]:
        """How the person who asks wants to be answered."""
        preferences = PreferenceBook(self.stores.preferences)
        return prompts.answer_style(
            request.author, (await preferences.of(request.team, request.user)).style
        )

    async def caller_state(self, request: Request) -> CallerState:
        """The thread's state; a fresh one when it cannot be read. What somebody asks in private
        begins where the thread stands and goes on by itself: nothing of it comes back."""
        states, thread_key = self.stores.caller_states, request.thread_key
        try:
            own = await states.load(thread_key, request.user) if request.private else CallerState()
            return own if own.bound_to else await states.load(thread_key)
        except CorruptValue:
            log.exception("thread starts afresh", extra={"thread_key": thread_key})
            return CallerState()

    async def history(self, request: Request) -> list[LedgerEntry]:
        """What was kept of the thread, and of private chains only what is on this one; nothing when
        it cannot be read any more."""
        try:
            entries = await self.stores.ledger.entries(request.thread_key)
            return [entry for entry in entries if entry.bound_to in (None, bound_to(request))]
        except CorruptValue:
            log.exception("the ledger is lost", extra={"thread_key": request.thread_key})
            return []
