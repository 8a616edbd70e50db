"""The state that a run starts from: its thread's stored state and the first message to the model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from bot.agent import handover, prompts
from bot.agent.builtin.acquire_tools import tool_hints, tools_offered, with_their_tools
from bot.agent.events import SkillAcquired
from bot.agent.state import LoopState, without_left_out
from bot.core.answers import Answer, stored_name
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.context import RequestContext, bound_request
from bot.core.errors import CorruptValue
from bot.core.request import Request
from bot.runs.context.earlier_exchanges import DirectHistory
from bot.runs.context.thread_news import news_of_thread
from bot.runs.run_parts import RunPart
from bot.runs.settings import DirectSettings
from bot.runs.watching import bounded, doing, optional
from bot.store import Stores
from bot.toolkit import Conversation
from bot.toolkit.catalogue import Catalogue

if TYPE_CHECKING:
    from bot.runs.run import Run

log = logging.getLogger(__name__)


def bound_to(request: Request) -> str | None:
    """Return the only person who may see the run's additions to the thread; None for everybody."""
    return request.user if request.private else None


@dataclass(frozen=True, slots=True)
class RunLoader:
    """A loader of the state that a thread's next run starts from."""

    stores: Stores
    conversation: Conversation
    images: bool
    direct: DirectSettings

    @property
    def direct_history(self) -> DirectHistory:
        """The reader of the exchanges before a direct message."""
        return DirectHistory(self.stores, self.direct, self.images)

    async def first_state(
        self, run: Run, caller: CallerState, catalogue: Catalogue
    ) -> tuple[LoopState, CallerState, ReadBefore]:
        """Return the saved state of a resumed run, or the thread's state with the new request added.

        Also return the thread's state, and what the run may see of the ledger. A new run brings it up to date first, with what people wrote in
        the thread and with the exchanges before a direct message; both are saved together, with the
        run's audit entries. Raises CorruptValue for a saved state that cannot be read.
        """
        request, run_id = run.request, run.run_id
        if run.record.state is not None:
            if run.saved is None:
                raise CorruptValue("The saved state of a run cannot be read.")
            return run.saved, caller, await read_before(self.stores, request, run_id)
        with bound_request(RequestContext(request=request, run_id=run_id)):
            read = await _visible(self.stores, request.thread_key, request, run_id)
            news = await news_of_thread(request, self.conversation, caller, read.entries)
        earlier = await self.direct_history.before(request, caller)
        caller = earlier.into(caller)
        brought = (*earlier.items, *news.items)
        caller = caller.model_copy(
            update={
                "pending": (*caller.pending, *news.items),
                "links": tuple(dict.fromkeys((*caller.links, *news.links))),
                "seen": news.seen,
                "bound_to": bound_to(request),
            }
        )
        request_item = prompts.request_message(request, news.files, images=self.images)
        is_about_thread = request.ts != request.thread and request.response_type != stored_name(
            Answer
        )
        in_thread = is_about_thread or news.left_out > 0
        wished = _wished(run.parts, catalogue)
        again = [name for name, by in wished.items() if by == "person"]
        caller = caller.model_copy(update={"noted": without_left_out(caller.noted, again)})
        offered = [
            *tools_offered(request, news.files, catalogue, in_thread=in_thread),
            *with_their_tools(wished, catalogue),
        ]
        notes = (
            *await _opening(run.parts, caller),
            *tool_hints(request, catalogue, (*caller.acquired, *offered)),
        )
        choice = run.models.choice
        state = handover.first_state(caller, request_item, *notes, offered=offered, choice=choice)
        bound = bound_to(request)
        # What others wrote stays in the conversation though the run may fail and leave it.
        news_entry = LedgerEntry(run_id="", items=brought, bound_to=bound)
        entry = LedgerEntry(run_id=run_id, items=(request_item, *notes), bound_to=bound)
        entries = [news_entry, entry] if brought else [entry]
        for name, by in wished.items():
            if (skill := catalogue.skill(name)) and name not in caller.acquired:
                await run.tell(
                    SkillAcquired.of(skill, by)
                )  # first, as its audit entry is saved now
        await run.save(
            state,
            entries,
            caller_state=caller if brought else None,
            also=self.stores.direct.building_on(request.thread_key, earlier.threads),
        )
        if request.channel.startswith("D"):  # it may go on with the exchanges of other threads
            read = await read_before(self.stores, request, run_id)
        else:
            read.entries.extend(entries)
        return state, caller, read

    async def caller_state(self, request: Request) -> CallerState:
        """Return the thread's state; a new one if it is unreadable.

        Private requests start from the thread's state and continue in a branch of their own, which
        never flows back into the thread.
        """
        states, thread_key = self.stores.caller_states, request.thread_key
        try:
            own = await states.load(thread_key, request.user) if request.private else CallerState()
            return own if own.bound_to else await states.load(thread_key)
        except CorruptValue:
            log.exception("thread starts afresh", extra={"thread_key": thread_key})
            return CallerState()

    async def history(self, request: Request, run_id: str = "") -> list[LedgerEntry]:
        """Return the thread's ledger entries that the run `run_id` of this request may see.

        Entries of private requests are left out unless this request is private and of the same
        person, and so are entries with data of personal accounts, unless they are the run's own.
        Empty if the ledger is unreadable.
        """
        return (await _visible(self.stores, request.thread_key, request, run_id)).entries


def _wished(parts: Sequence[RunPart], catalogue: Catalogue) -> dict[str, str]:
    """Return the names of the skills that code acquires with the request, and by whose wish."""
    wished = dict[str, str]()
    for part in doing("acquired", parts, RunPart):
        with optional(part, "acquired"):
            wished |= part.acquired(catalogue)
    return wished


async def _opening(parts: Sequence[RunPart], caller: CallerState) -> tuple[Item, ...]:
    """Return what features tell the model at the beginning of a conversation."""
    if caller.previous_response_id:
        return ()
    items = list[Item]()
    for part in doing("opening", parts, RunPart):
        async with bounded(part, "opening"):
            items += await part.opening()
    return tuple(items)


class ReadBefore(NamedTuple):
    """The ledger entries that a run may see.

    With `is_cut`, entries of runs whose answers it sees are not among them: somebody's own account
    was read there.
    """

    entries: list[LedgerEntry]
    is_cut: bool


async def read_before(stores: Stores, request: Request, run_id: str = "") -> ReadBefore:
    """Return the ledger entries to which the answer of the run `run_id` is traced.

    These are the entries of its thread. In a direct message, the exchanges that it continues come
    first.
    """
    if not request.channel.startswith("D"):
        return await _visible(stores, request.thread_key, request, run_id)
    own, *earlier = await stores.artifacts.places(request.thread_key)
    read = [await _visible(stores, place, request, run_id) for place in (*earlier, own)]
    entries = [entry for of_place in read for entry in of_place.entries]
    return ReadBefore(entries, is_cut=any(of_place.is_cut for of_place in read))


async def _visible(stores: Stores, thread_key: str, request: Request, run_id: str) -> ReadBefore:
    readers = (None, bound_to(request))
    try:
        entries = await stores.ledger.entries(thread_key)
    except CorruptValue:
        log.exception("the ledger is unreadable", extra={"thread_key": thread_key})
        return ReadBefore([], is_cut=False)
    visible, hidden = list[LedgerEntry](), list[LedgerEntry]()
    for entry in entries:
        may_see = entry.bound_to in readers or entry.run_id == run_id
        (visible if may_see else hidden).append(entry)
    answered = {entry.run_id for entry in visible}
    return ReadBefore(visible, is_cut=any(entry.run_id in answered for entry in hidden))
