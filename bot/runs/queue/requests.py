"""What can be done with requests from outside a run: take in, take back, stop."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from bot.core.approvals import QUESTION_EDITED, Approval, ApprovalRecord, Decision, Verdict
from bot.core.audit import AuditKind
from bot.core.errors import CorruptValue, NotPermitted
from bot.core.failpoints import failpoint
from bot.core.outcome import Outcome
from bot.core.request import NEXT_MESSAGE, Again, Request
from bot.runs.audit_trail import audited, decided
from bot.runs.policy import budget_words
from bot.runs.queue.engine import Engine, before_the_ack
from bot.runs.queue.revisions import AskedBefore, Attempt, asked_before, attempts_at
from bot.store import Phase, Refusal, Stores
from bot.store.threads.mailbox import Seen

log = logging.getLogger(__name__)

_STATUS_SECONDS = 3.0  # in which whoever took a request in has shown its first status

WROTE_INSTEAD = "a new message came before anybody decided"


@dataclass(frozen=True, slots=True)
class Requests:
    """For whoever listens to people."""

    stores: Stores
    engine: Engine
    note_repeated: Callable[[], None] = lambda: None
    """Told of each event that comes again after all was done about it."""

    async def submit(self, request: Request, event_id: str) -> bool:
        """Keep the request and have it run; False when it was taken in before.

        Raises StoreUnavailable when that is not certain: do not acknowledge it then.
        """
        # Slack sends two events for a mention, and some again: the first does it all, unless its
        # process died in the middle.
        async with before_the_ack():
            seen = await self.stores.mailbox.seen(request, event_id)
        if seen is Seen.REPEATED:
            self.note_repeated()
        if seen is not Seen.NEW:
            return False
        new = await self.engine.submit(request, event_id)
        if new:
            log.info(
                "taken in for %s in %s",
                request.user,
                request.thread_key,
                extra={"request_id": request.id},
            )
        if request.is_typed and not request.suggested and not request.opens_thread:
            await self._decide_by_writing(request)
        if request.channel.startswith("D"):
            await self.stores.threads.join_direct(request.team, request.channel, request.user)
        if not request.private:  # what only one person saw makes nobody's reply meant for us
            await self.stores.threads.join(request.thread_key, request.user)
        await self.stores.mailbox.note_submitted(request)
        return new

    async def _decide_by_writing(self, request: Request) -> None:
        """Who writes something new in the thread takes back what they are asked there. Other ways of
        asking, a shortcut or a schedule, say nothing of that."""
        on_record = await self.stores.audit.beside(
            audited(request, AuditKind.DECIDED, "denied by writing instead", ok=False)
        )
        comment = QUESTION_EDITED if request.again is Again.EDITED else WROTE_INSTEAD
        instead = Decision(verdict=Verdict.DENIED, comment=comment)
        if await self.stores.approvals.supersede(request, instead, on_record):
            await self.stores.audit.settle(request.team)
            await self.engine.wake(request.thread_key)

    async def pending(self, team: str, channel: str, thread: str | None) -> list[Approval]:
        """What the thread's run waits for people to decide; without a thread, the runs of all threads
        of the channel."""
        here = f"{team}:{channel}:"
        keys = [here + thread] if thread else await self._threads_of(here)
        return [approval for key in keys for approval in await self._pending(key)]

    async def asked_alone(self, team: str, user: str) -> list[tuple[Approval, str]]:
        """What `user` is asked with a card in their direct messages, by runs of other places, and the
        ts of each card."""
        found: list[tuple[Approval, str]] = []
        for key in await self._threads_of(f"{team}:"):
            waits = await self.stores.mailbox.is_parked(key)
            for approval in await self._pending(key) if waits else ():
                ts = await self.stores.runs.card(approval.run_id, approval.card_for(user))
                found += [(approval, ts)] if ts else []
        return found

    async def _pending(self, thread_key: str) -> list[Approval]:
        try:
            head = await self.stores.mailbox.head(thread_key)
            run_id = await self.stores.runs.id_of(head.id) if head else None
            asked = await self.stores.approvals.of_run(run_id) if run_id else []
        except CorruptValue:  # it is set aside
            return []
        return [each.approval for each in asked if each.decision is None]

    async def asked(self, approval_id: str) -> ApprovalRecord | None:
        """A question that was put to people, and its answer if it has one."""
        return await self.stores.approvals.get(approval_id)

    async def decide(
        self, approval: Approval, decision: Decision, *, sha256: str
    ) -> Refusal | None:
        """Answer a question, as it was shown (`sha256`), and have its run go on; None when this
        answer counts. Raises StoreUnavailable when that is not certain, and NotPermitted for a yes
        while the bot is paused: the question stays open."""
        pause = await self.stores.pause.get() if decision.allows else None
        if pause is not None:
            raise NotPermitted(budget_words.paused_card(pause, "en-US"))
        audit = self.stores.audit
        on_record = await audit.beside(decided(approval, decision))
        refusal = await self.stores.approvals.decide(
            approval, decision, sha256=sha256, on_record=on_record
        )
        failpoint("approval-decided")
        await audit.settle(on_record.team)
        # Also for one decided before: whoever did may have died before this line. One that is too
        # late is shown to be so.
        if refusal in (None, Refusal.DECIDED, Refusal.EXPIRED):
            await self.engine.wake(approval.thread_key)
        return refusal

    async def withdraw(self, thread_key: str, ts: str, by: str) -> bool:
        """Take back what the message `ts` asked, and what repeated it, waiting or running; False when
        none does either."""
        team, channel, _ = thread_key.split(":", 2)
        every = await self._of_message(team, channel, ts)
        for each in every:
            await self._ask_rest(each)
        return any([await self.take_back(each.request, by) for each in every])

    async def _ask_rest(self, edit: Attempt) -> None:
        """What an edit that is worked on answers again besides is asked by itself: its answer made
        place for that of the edit."""
        if not edit.request.own or not await self.is_under_way(edit.request.id):
            return
        for each in (await asked_before(self.stores, edit.request)).beside:
            await self.stores.mailbox.put_back(each.alone)
        await self.engine.wake(edit.request.thread_key)

    async def take_back(self, request: Request, by: str) -> bool:
        """`withdraw`, for a request that is known."""
        withdrawn = await self.stores.signals.withdraw(request, by)
        if withdrawn:
            # Its status may only now be on the way.
            await self.stores.stale_statuses.add(request.thread_key, after=_STATUS_SECONDS)
            await self.engine.wake(request.thread_key)  # it may have rested
        return withdrawn

    async def is_under_way(self, request_id: str) -> bool:
        """Whether a run of the request began and still owes its end."""
        run_id = await self.stores.runs.id_of(request_id)
        begun = await self.stores.runs.begun_by(run_id) if run_id else None
        return begun is not None and begun[1] is not Phase.DELIVERED

    async def asked_with(self, team: str, channel: str, ts: str) -> AskedBefore | None:
        """How it stands with what a message asked; None when it asked nothing."""
        request_id = await self.stores.mailbox.find(team, channel, ts)
        request = await self.stores.mailbox.get(request_id) if request_id else None
        return await asked_before(self.stores, request) if request else None

    async def answers_to(self, team: str, channel: str, ts: str) -> list[tuple[str, bool]]:
        """The messages that answer what the message `ts` asked, by their ts, and whether they answer
        that alone."""
        found = []
        for each in await self._of_message(team, channel, ts):
            # An edit that waits has the answer to what it revises.
            run_id = each.run_id or next(reversed(each.request.replaces), None)
            outcome = await self.stores.runs.outcome(run_id) if run_id else None
            message = await self.stores.runs.message(run_id) if run_id else None
            if message and outcome and not outcome.silent:
                joined = await self.stores.runs.joined(each.request.id)
                alone = not (each.is_guest or joined or each.request.own)
                found.append((message, alone))
        return found

    async def _of_message(self, team: str, channel: str, ts: str) -> list[Attempt]:
        """What a message asked and what repeated that, as far as it goes with the message: all but
        what was asked together with something else."""
        request_id = await self.stores.mailbox.find(team, channel, ts)
        request = await self.stores.mailbox.get(request_id) if request_id else None
        every = await attempts_at(self.stores, request) if request else []
        return every[:1] if every and every[0].is_guest else every

    async def whole(self, request_id: str) -> Request | None:
        """A request with what was asked together with it, to be asked again; None when it has
        expired."""
        mailbox = self.stores.mailbox
        request = await mailbox.get(request_id)
        if request is None:
            return None
        joined = await mailbox.kept(await self.stores.runs.joined(request_id))
        every = (request, *(each for each in joined if each.counts))
        return request.model_copy(
            update={
                "text": NEXT_MESSAGE.join(each.text for each in every),
                "quoted": "\n\n".join(each.quoted for each in every if each.quoted),
                "files": tuple(file for each in every for file in each.files),
            }
        )

    async def answered(self, request_id: str) -> tuple[Request, Outcome] | None:
        """A request and how it ended; None before it did, and when that is not kept any more."""
        request = await self.stores.mailbox.get(request_id)
        run_id = await self.stores.runs.id_of(request_id)
        outcome = await self.stores.runs.outcome(run_id) if run_id else None
        return (request, outcome) if request and outcome else None

    async def supersede(self, old: AskedBefore, new: Request) -> None:
        """`new`, which was taken in, takes the place of `old` and of what repeated it: taken back
        while they wait, stopped without a word while they run. Safe to repeat."""
        await self.stores.mailbox.claim_again(new, new.message)
        every = (old.request, *(each.now for each in old.beside))
        for each in [a for now in every for a in await attempts_at(self.stores, now)]:
            if await self.stores.signals.supersede(each.request, old.request.user):
                await self.engine.wake(each.request.thread_key)

    async def cancel(
        self, thread_key: str, by: str, *, before: str | None = None, request_id: str = ""
    ) -> bool:
        """Stop the thread's current run, and what `by` asked there and waits, but nothing that was
        asked after `before`; False when there is nothing to stop, or the run is not that of
        `request_id`, where it is given. Each of these requests still ends with a message of its
        own."""
        every = await self.stores.mailbox.all_of(thread_key)
        if request_id and not (every and every[0].id == request_id):
            return False
        concerned = [
            each.id
            for each in every
            if (each is every[0] or each.user == by)
            and (before is None or float(each.ts) < float(before))
        ]
        return any([await self._stop(thread_key, each, by) for each in concerned])

    async def cancel_in_channel(
        self, team: str, channel: str, by: str, *, before: str | None = None
    ) -> bool:
        """`cancel` in every thread of a conversation."""
        found = await self._threads_of(f"{team}:{channel}:")
        return any([await self.cancel(thread_key, by, before=before) for thread_key in found])

    async def cancel_own(self, thread_key: str, by: str, *, request_id: str = "") -> bool:
        """Stop the thread's current run if `by` asked for it, and if it is that of `request_id`,
        where that is given."""
        waiting = await self.stores.mailbox.all_of(thread_key)
        is_own = bool(waiting) and waiting[0].user == by
        return is_own and await self.cancel(thread_key, by, request_id=request_id)

    async def cancel_asked(self, team: str, channel: str, ts: str, by: str) -> bool:
        """Stop what `by` asked with the message `ts`, with the run that it has joined, or repeated
        since."""
        every = await self._of_message(team, channel, ts)
        if not every or every[0].request.user != by:
            return False
        own = [each for each in every if each.request.user == by]
        keys = [(each.request.thread_key, each.begun_by) for each in own]
        return any([await self._stop(*key, by) for key in keys])

    async def _threads_of(self, here: str) -> list[str]:
        """The keys of threads that have requests and begin with that."""
        return [key for key in await self.stores.mailbox.threads() if key.startswith(here)]

    async def _stop(self, thread_key: str, request_id: str, by: str) -> bool:
        """Ask to stop a request, also one that is parked."""
        stops = await self.stores.signals.request_cancel(thread_key, request_id, by)
        if stops:
            await self.engine.wake(thread_key)
        return stops
