"""Operations on requests from outside a run: submit, withdraw, approve, stop.

The Slack listeners and the operator commands use them; runs read the effects from the store.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from bot.core.approvals import (
    QUESTION_EDITED,
    Approval,
    ApprovalRecord,
    Decision,
    Verdict,
)
from bot.core.audit_kinds import AuditKind
from bot.core.errors import CorruptValue, NotPermitted
from bot.core.failpoints import failpoint
from bot.core.outcome import Outcome
from bot.core.request import NEXT_MESSAGE, RepeatReason, Request
from bot.runs.audit_trail import decision_entry, request_entry
from bot.runs.context.answer_locale import locale_of_message
from bot.runs.policy import budget_words
from bot.runs.queue.engine import Engine, within_ack_deadline
from bot.runs.queue.revisions import EditScope, Revision, edit_scope_of, revisions_of
from bot.runs.watching import Observer, Submission
from bot.store import Phase, Refusal, Stores
from bot.store.threads.mailbox import Seen
from bot.store.values import Command
from bot.text.translation import Text

log = logging.getLogger(__name__)

_STATUS_SECONDS = 3.0  # within which the process that submitted a request shows its first status

WROTE_INSTEAD = Text("a new message came before anybody decided")


def written(request: Request) -> Decision:
    """Return the answer to a question that its asker gives with a message."""
    files = [file.model_dump(mode="json") for file in request.files]
    return Decision(
        verdict=Verdict.APPROVED,
        by=request.user,
        name=request.author,
        at=int(float(request.ts)),
        answer={
            "text": request.text,
            "files": files,
            "quoted": request.quoted,
            "message": request.ts,
        },
    )


@dataclass(frozen=True, slots=True)
class Requests:
    """The requests of a workspace, with everything that people can do to them from outside a run."""

    stores: Stores
    engine: Engine
    observers: Sequence[Observer] = ()

    async def submit(self, request: Request, event_id: str) -> bool:
        """Store the request and queue it. Return False when it was submitted before.

        Raises StoreUnavailable when that is uncertain: then do not acknowledge the request.
        """
        submission = Submission(request)
        with ExitStack() as stack:
            for observer in self.observers:
                stack.enter_context(observer.submitting(submission))
            await self._submit(submission, event_id)
        return submission.is_new

    async def _submit(self, submission: Submission, event_id: str) -> None:
        request = submission.request
        # Slack sends two events for a mention, and repeats some: the first event is fully handled,
        # unless its process dies before that.
        async with within_ack_deadline():
            seen = await self.stores.mailbox.seen(request, event_id)
        if seen is not Seen.NEW:
            submission.is_repeated = seen is Seen.REPEATED
            return
        is_new = await self.engine.submit(request, event_id)
        if is_new:
            log.info(
                "request of %s in %s submitted",
                request.user,
                request.thread_key,
                extra={"request_id": request.id},
            )
        if request.is_typed and not request.suggested and not request.opens_thread:
            await self._decide_by_writing(request)
        if request.channel.startswith("D"):
            await self.stores.threads.join_direct(request.team, request.channel, request.user)
        joining = list[Command]()
        # Replies are not for the bot where only one person saw its message, or nobody asked it.
        if not (request.private or request.is_by_rule):
            joining = self.stores.threads.joining(request.thread_key, request.user)
        await self.stores.mailbox.note_submitted(request, *joining)
        submission.is_new = is_new

    async def _decide_by_writing(self, request: Request) -> None:
        """Answer the question, and deny the approvals, that wait for the author of a new message in
        the thread.

        Requests that nobody typed there, such as a shortcut's or a schedule's, decide nothing, and an
        edit answers nothing.
        """
        audit = self.stores.audit
        denied = request_entry(request, AuditKind.DECIDED, "denied by writing instead", ok=False)
        answered = request_entry(request, AuditKind.DECIDED, "answered by writing", ok=True)
        why = QUESTION_EDITED if request.again is RepeatReason.EDITED else WROTE_INSTEAD
        instead = Decision(verdict=Verdict.DENIED, comment=why.english)
        answer = None if request.again else (written(request), await audit.pending_entry(answered))
        on_record = await audit.pending_entry(denied)
        if await self.stores.approvals.supersede(request, instead, on_record, answer):
            failpoint("approval-decided")
            await audit.settle(request.team)
            await self.engine.wake(request.thread_key)

    async def pending(self, team: str, channel: str, thread: str | None) -> list[Approval]:
        """Return the undecided approvals of the thread's run; without a thread, of all in the channel."""
        prefix = f"{team}:{channel}:"
        keys = [prefix + thread] if thread else await self._threads_of(prefix)
        return [approval for key in keys for approval in await self._pending(key)]

    async def asked_directly(
        self, team: str, channel: str, user: str, *, below: str | None = None
    ) -> str:
        """Return the thread whose run waits, outside the threads of a direct message, for the answer of
        `user` to a question; "" if none does, or its card is not the message `below`, if given."""
        for approval in await self.pending(team, channel, None):
            if approval.is_question and not approval.private and approval.requester == user:
                head = await self.stores.mailbox.head(approval.thread_key)
                card = await self.stores.runs.card(approval.run_id, approval.id)
                if head and head.top_level and below in (None, card):
                    return head.thread
        return ""

    async def approvals_in_dm(self, team: str, user: str) -> list[tuple[Approval, str]]:
        """Return the approvals asked of `user` in their direct messages, each with its card's ts.

        The runs that ask for them belong to other conversations.
        """
        places: list[tuple[Approval, str]] = []
        for key in await self._threads_of(f"{team}:"):
            is_parked = await self.stores.mailbox.is_parked(key)
            for approval in await self._pending(key) if is_parked else ():
                ts = await self.stores.runs.card(approval.run_id, approval.card_for(user))
                places += [(approval, ts)] if ts else []
        return places

    async def _pending(self, thread_key: str) -> list[Approval]:
        try:
            head = await self.stores.mailbox.head(thread_key)
            run_id = await self.stores.runs.id_of(head.id) if head else None
            records = await self.stores.approvals.of_run(run_id) if run_id else []
        except CorruptValue:  # the engine sets it aside
            return []
        return [record.approval for record in records if record.decision is None]

    async def asked(self, approval_id: str) -> ApprovalRecord | None:
        """Return an approval with its decision, if any; None when it is unknown."""
        return await self.stores.approvals.get(approval_id)

    async def decide(
        self, approval: Approval, decision: Decision, *, sha256: str
    ) -> Refusal | None:
        """Decide an approval as it was shown (`sha256`) and resume its run.

        Return None when this decision counts, else why not. Raises StoreUnavailable when that is
        uncertain, and NotPermitted for an approval while the bot is paused: the approval stays open.
        """
        is_action = decision.allows and not approval.done_elsewhere
        pause = await self.stores.pause.get() if is_action else None
        if pause is not None:
            raise NotPermitted(budget_words.paused_card(pause))
        audit = self.stores.audit
        on_record = await audit.pending_entry(decision_entry(approval, decision))
        refusal = await self.stores.approvals.decide(
            approval, decision, sha256=sha256, on_record=on_record
        )
        failpoint("approval-decided")
        await audit.settle(on_record.team)
        # Also for an approval decided before: the process that did so may have died before this line.
        # The run shows an approval that expired as such.
        if refusal in (None, Refusal.DECIDED, Refusal.EXPIRED):
            await self.engine.wake(approval.thread_key)
        return refusal

    async def withdraw(self, thread_key: str, ts: str, by: str) -> bool:
        """Withdraw the request of the message `ts` and its revisions, waiting or running.

        Return False when none of them waits or runs.
        """
        team, channel, _ = thread_key.split(":", 2)
        every = await self._of_message(team, channel, ts)
        for request_record in every:
            await self._requeue_joined(request_record)
        return any([await self.take_back(each.request, by) for each in every])

    async def withdraw_watched(self, thread_key: str, ts: str, by: str) -> None:
        """Withdraw what rules would answer to the message `ts`, waiting or running."""
        for request in await self.stores.mailbox.all_of(thread_key):
            if request.is_by_rule and request.ts == ts:
                await self.take_back(request, by)

    async def forget_question(self, thread_key: str, ts: str) -> None:
        """Delete what is kept of a deleted question for later use of its answer. Safe to repeat."""
        team, channel, _ = thread_key.split(":", 2)
        for each in await self._of_message(team, channel, ts):
            if each.run_id:
                await self.stores.runs.forget_request(each.run_id)

    async def _requeue_joined(self, edit: Revision) -> None:
        """Queue again, by themselves, the other messages that a running edit answers as well.

        The edit's run replaces the answer that these messages had.
        """
        if not edit.request.own or not await self.is_under_way(edit.request.id):
            return
        for each in (await edit_scope_of(self.stores, edit.request)).others:
            await self.stores.mailbox.put_back(each.alone)
        await self.engine.wake(edit.request.thread_key)

    async def take_back(self, request: Request, by: str) -> bool:
        """Withdraw a known request, waiting or running. Return False when it does neither."""
        withdrawn = await self.stores.signals.withdraw(request, by)
        if withdrawn:
            # The process that submitted it may only now be showing its first status.
            await self.stores.stale_statuses.add(request.thread_key, after=_STATUS_SECONDS)
            await self.engine.wake(request.thread_key)  # the thread may be parked
        return withdrawn

    async def is_under_way(self, request_id: str) -> bool:
        """Return whether a run of the request began and its final message is not delivered yet."""
        run_id = await self.stores.runs.id_of(request_id)
        begun = await self.stores.runs.begun_by(run_id) if run_id else None
        return begun is not None and begun[1] is not Phase.DELIVERED

    async def is_busy(self, team: str, channel: str) -> bool:
        """Return whether a run of a direct message is answered outside its threads just now, or waits to
        be; one that waits for people does not count."""
        for key in await self._threads_of(f"{team}:{channel}:"):
            try:
                head = await self.stores.mailbox.head(key)
            except CorruptValue:  # the engine sets it aside
                continue
            if head and head.top_level and not await self.stores.mailbox.is_waiting_for_people(key):
                return True
        return False

    async def asker_of(self, run_id: str) -> str | None:
        """Return who asked what a run answers: "" while it waits for people, None when unknown."""
        try:
            begun = await self.stores.runs.begun_by(run_id)
        except CorruptValue:
            return None
        if begun and begun[1] is Phase.WAITING:
            return ""
        request = await self.stores.mailbox.get(begun[0]) if begun else None
        return request.user if request else None

    async def edit_scope(self, team: str, channel: str, ts: str) -> EditScope | None:
        """Return everything that an edit of a message replaces; None when the message asked nothing."""
        request_id = await self.stores.mailbox.find(team, channel, ts)
        request = await self.stores.mailbox.get(request_id) if request_id else None
        return await edit_scope_of(self.stores, request) if request else None

    async def is_known(self, team: str, channel: str, ts: str) -> bool:
        """Return whether a message was taken in, ignored by a rule, or deleted before it came."""
        taken = await self.stores.mailbox.was_taken(team, channel, ts)
        return taken or await self.stores.threads.was_noticed(team, channel, ts)

    async def ignore(self, team: str, channel: str, ts: str) -> None:
        """Make the message `ts` ask nothing if it still comes. A message that asked is not affected."""
        await self.stores.mailbox.claim_for_nothing(team, channel, ts)

    async def answers_to(self, team: str, channel: str, ts: str) -> list[tuple[str, bool, str]]:
        """Return the ts of each message that answers the message `ts`, whether it answers only that, and
        its locale."""
        found = []
        for each in await self._of_message(team, channel, ts):
            # An edit that waits still shows the answer to the request that it revises.
            run_id = each.run_id or next(reversed(each.request.replaces), None)
            outcome = await self.stores.runs.outcome(run_id) if run_id else None
            message = await self.stores.runs.message(run_id) if run_id else None
            if message and outcome and not outcome.silent:
                joined = await self.stores.runs.joined(each.request.id)
                alone = not (each.joined_another or joined or each.request.own)
                found.append((message, alone, locale_of_message(outcome, each.request)))
        return found

    async def _of_message(self, team: str, channel: str, ts: str) -> list[Revision]:
        """Return the request of a message and its revisions.

        A request that joined the run of another one comes without revisions: they belong to both.
        """
        request_id = await self.stores.mailbox.find(team, channel, ts)
        request = await self.stores.mailbox.get(request_id) if request_id else None
        every = await revisions_of(self.stores, request) if request else []
        return every[:1] if every and every[0].joined_another else every

    async def whole(self, request_id: str) -> Request | None:
        """Return a request merged with those that joined its run, to ask it again; None when expired."""
        mailbox = self.stores.mailbox
        request = await mailbox.get(request_id)
        if request is None:
            return None
        joined = await mailbox.get_many(await self.stores.runs.joined(request_id))
        every = (request, *(joining for joining in joined if joining.is_current))
        return request.model_copy(
            update={
                "text": NEXT_MESSAGE.join(answered.text for answered in every),
                "quoted": "\n\n".join(answered.quoted for answered in every if answered.quoted),
                "files": tuple(file for answered in every for file in answered.files),
            }
        )

    async def answered(self, request_id: str) -> tuple[Request, Outcome] | None:
        """Return a request and its outcome; None while it has none, and after either has expired."""
        request = await self.stores.mailbox.get(request_id)
        run_id = await self.stores.runs.id_of(request_id)
        outcome = await self.stores.runs.outcome(run_id) if run_id else None
        return (request, outcome) if request and outcome else None

    async def asked_in(self, run_id: str) -> list[Request]:
        """Return the requests that a run answers, the first of them first; [] after they expired.

        Requests that joined the run expire before the one that began it.
        """
        answer = await self.stores.runs.answer(run_id)
        if answer is None:
            return []
        request = answer[0]
        stored = await self.stores.mailbox.get(request.id)
        if stored and not stored.is_current:
            return []
        joined = await self.stores.mailbox.get_many(await self.stores.runs.joined(request.id))
        return [request, *(joining for joining in joined if joining.is_current)]

    async def supersede(self, old: EditScope, new: Request) -> None:
        """Replace `old` and its revisions by `new`, which was submitted.

        Waiting requests are withdrawn, and running ones stopped without a message. Safe to repeat.
        """
        await self.stores.mailbox.claim_again(new, new.message)
        every = (old.request, *(each.now for each in old.others))
        for each in [a for now in every for a in await revisions_of(self.stores, now)]:
            if await self.stores.signals.supersede(each.request, old.request.user):
                await self.engine.wake(each.request.thread_key)

    async def cancel(
        self, thread_key: str, by: str, *, before: str | None = None, request_id: str = ""
    ) -> bool:
        """Stop the thread's current run and the waiting requests of `by`.

        Requests after the timestamp `before` are not stopped. Return False when there is nothing to
        stop, or when `request_id` is given and the current run answers another request. Each stopped
        request still ends with a final message.
        """
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
        """Stop runs and waiting requests in every thread of a conversation, as `cancel` does."""
        threads = await self._threads_of(f"{team}:{channel}:")
        return any([await self.cancel(thread_key, by, before=before) for thread_key in threads])

    async def cancel_own(self, thread_key: str, by: str, *, request_id: str = "") -> bool:
        """Stop the thread's current run if `by` asked for it and it answers `request_id`, if given."""
        waiting = await self.stores.mailbox.all_of(thread_key)
        is_own = bool(waiting) and waiting[0].user == by
        return is_own and await self.cancel(thread_key, by, request_id=request_id)

    async def cancel_message(self, team: str, channel: str, ts: str, by: str) -> bool:
        """Stop the request that `by` made with the message `ts`, its revisions, and the run it joined."""
        every = await self._of_message(team, channel, ts)
        if not every or every[0].request.user != by:
            return False
        own = [each for each in every if each.request.user == by]
        return any([await self._stop(each.request.thread_key, each.begun_by, by) for each in own])

    async def _threads_of(self, prefix: str) -> list[str]:
        """Return the keys of threads that have requests and begin with `prefix`."""
        return [key for key in await self.stores.mailbox.threads() if key.startswith(prefix)]

    async def _stop(self, thread_key: str, request_id: str, by: str) -> bool:
        """Signal a request to stop, and wake its thread in case it is parked."""
        stops = await self.stores.signals.request_cancel(thread_key, request_id, by)
        if stops:
            await self.engine.wake(thread_key)
        return stops
