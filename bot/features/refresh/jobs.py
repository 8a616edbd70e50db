"""The job of a refresh: repeat, compare, keep the result, and show it to whoever asked for it."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.chain import LedgerEntry
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features.refresh.compare import compared
from bot.features.refresh.refreshable import figures_of
from bot.features.refresh.refreshed import Refreshed
from bot.features.refresh.repeat import LASTING, Repetition
from bot.features.refresh.store import RefreshStore
from bot.runs.audit_trail import request_entry
from bot.runs.context.answer_locale import answer_locale
from bot.runs.context.run_loader import read_before
from bot.runs.policy import budget_words
from bot.runs.policy.channels import ChannelSettings
from bot.runs.run_deps import RunDeps
from bot.text.translation import Text

log = logging.getLogger(__name__)

REFRESH = "refresh"
"""The kind of job."""

NOT_STORED = Text("I no longer have the data of that answer. Ask the question again.")
NOT_ALLOWED = Text("You may not ask here any more.")
PRIVATE = Text("A private answer cannot be refreshed. Ask the question again.")
NOTHING = Text("I cannot read any figure of this answer again. Ask the question again.")
FAILED = Text("Something went wrong on my side. Please try again.")
_MAX_DEATHS = 2
_DATE = re.compile(r"\b(?:19|20)\d\d-\d\d(?:-\d\d)?\b")

Show = Callable[[Request, Refreshed], Awaitable[None]]
"""Shows a result to the person who asked for it; that of a schedule in the thread if it is news."""


@dataclass(frozen=True, slots=True)
class RefreshJobs:
    """The refreshes of one workspace."""

    deps: RunDeps
    show: Show

    async def run(self, request: Request, deaths: int) -> None:
        """Refresh the answer that the job names. Safe to repeat: a result that is stored is shown as it
        is, so that what was posted of it is found again."""
        assert request.job  # noqa: S101 - that is why it is called
        run_id, stores = request.job.subject, self.deps.stores
        results = RefreshStore.of(stores)
        original, outcome = await stores.runs.answer(run_id) or (None, None)
        result = Refreshed(
            run_id=run_id,
            request_id=request.id,
            user=request.user,
            answered_at=original.received_at if original else request.received_at,
        )
        try:
            before = (
                await results.get(original.thread_key, run_id, request.user) if original else None
            )
            if before and before.request_id == request.id:
                result = before
            elif original is None or outcome is None:
                result = result.model_copy(update={"problem": NOT_STORED()})
            elif deaths >= _MAX_DEATHS:
                result = result.model_copy(update={"problem": FAILED()})
            else:
                result = await self._refreshed(request, original, outcome, result)
            if original and result is not before:
                result = await results.keep(original.thread_key, result)
                await stores.runs.renew(run_id, original.thread_key)
        finally:
            if original:
                await results.end(original.thread_key, run_id)
        await self.show(request, result)

    async def _refreshed(
        self, request: Request, kept: Request, outcome: Outcome, result: Refreshed
    ) -> Refreshed:
        """Return the result with figures, or with the reason why nothing was read again."""
        deps = self.deps
        asker = _asked_by(request, kept)
        channel = await deps.channels.of(kept.team, kept.channel)
        if problem := await self._refusal(asker, kept, channel):
            return result.model_copy(update={"problem": problem})
        figures, others = figures_of(outcome.traced) if outcome.traced else ([], 0)
        known = await read_before(deps.stores, kept)
        entries = _until(result.run_id, known.entries)
        repetition = await Repetition.prepared(deps, asker, channel, entries)
        await repetition.run(place.call_id for _, place in figures)
        reasons = {*repetition.missing.values()}
        if not repetition.outputs and reasons <= LASTING:
            return result.model_copy(update={"problem": NOTHING(), "is_over": True})
        await deps.stores.audit.append(_entries(asker, repetition))
        changes = await asyncio.to_thread(
            compared, figures, repetition, outcome.result or {}, answer_locale(kept, outcome.result)
        )
        arguments = " ".join(output.arguments for output in repetition.outputs.values())
        return result.model_copy(
            update={
                "figures": changes,
                "others": others,
                "periods": tuple(sorted({*_DATE.findall(arguments)})),
            }
        )

    async def _refusal(self, asker: Request, kept: Request, channel: ChannelSettings) -> str:
        """Return why the person may not refresh the answer now; "" if they may."""
        if pause := await self.deps.budgets.paused():
            return budget_words.paused_card(pause)
        if kept.private:
            return PRIVATE()
        if not await self.deps.frontend.may_ask(asker, channel):
            return NOT_ALLOWED()
        return ""


def _asked_by(request: Request, kept: Request) -> Request:
    """Return the answer's request as that of the person who refreshes it.

    It is private, so that what is read again is kept for them alone.
    """
    return kept.model_copy(
        update={
            "id": request.id,
            "entry": request.entry,
            "user": request.user,
            "author": request.author,
            "locale": request.locale,
            "time_zone": request.time_zone,
            "mentioned": (),
            "private": True,
            "received_at": request.received_at,
        }
    )


def _until(run_id: str, entries: Sequence[LedgerEntry]) -> Sequence[LedgerEntry]:
    """Return the entries up to the last of a run."""
    own = [n for n, entry in enumerate(entries) if entry.run_id == run_id]
    return entries[: own[-1] + 1] if own else ()


def _entries(request: Request, repetition: Repetition) -> list[AuditEntry]:
    """Return the audit entries of a refresh: who asked for it, and which tools were called."""
    tools = [output.tool for output in repetition.outputs.values()]
    called = [request_entry(request, AuditKind.CALLED, tool) for tool in tools]
    return [request_entry(request, AuditKind.ASKED, REFRESH), *called]
