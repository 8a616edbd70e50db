"""Waits of one run for its asker, besides approvals of calls."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

from bot.core.approvals import (
    Approval,
    ApprovalRecord,
    Ask,
    Decision,
    digest,
    wait_id,
)
from bot.core.context import current_request
from bot.core.request import Request
from bot.store import Approvals


@dataclass(frozen=True, slots=True)
class Waits:
    """What the run `run_id` waits for its asker to decide, for up to `hours`.

    Only the asker may decide. The wait itself is that of an approval.
    """

    request: Request
    run_id: str
    approvals: Approvals
    hours: float

    @property
    def in_subagent(self) -> bool:
        """Whether a sub-agent makes the call in progress. Sub-agents cannot wait."""
        return current_request().run_id != self.run_id

    async def decision(self, ask: Ask, *, seconds: float | None = None) -> Decision | None:
        """Return the asker's decision on what the call in progress needs, None while there is none.

        They have `seconds`, if that differs from `hours`. Nothing is stored for a sub-agent. Raises
        CorruptValue for a damaged value.
        """
        if self.in_subagent:
            return None
        wanted = self._approval(ask, current_request().idempotency_key)
        if seconds is not None:
            wanted = wanted.model_copy(update={"expires": int(time.time() + seconds)})
        return await self.approvals.claim(await self.approvals.ask(wanted))

    async def decide(self, ask: Ask, decision: Decision) -> None:
        """Store a decision that is known already, so that nobody is asked again."""
        wanted = self._approval(ask, current_request().idempotency_key)
        await self.approvals.answer(await self.approvals.ask(wanted), decision)

    async def records(self, kind: str) -> list[ApprovalRecord]:
        """Return what the run has asked of this kind. Raises CorruptValue for a damaged value."""
        every = await self.approvals.of_run(self.run_id)
        return [each for each in every if each.approval.kind == kind]

    async def settled(self, record: ApprovalRecord) -> ApprovalRecord:
        """Return the record with the decision that counts now: it may have expired."""
        decision = await self.approvals.claim(record.approval)
        return ApprovalRecord(record.approval, decision, record.made)

    def _approval(self, ask: Ask, call_key: str) -> Approval:
        details = json.dumps(ask.details, sort_keys=True, ensure_ascii=False)
        return Approval(
            kind=ask.kind,
            id=wait_id(call_key, ask),
            thread_key=self.request.thread_key,
            tool=ask.subject,
            title=ask.title,
            arguments=details,
            sha256=digest(ask.subject, details),
            requester=self.request.user,
            approvers=(self.request.user,),
            expires=int(time.time() + self.hours * 3_600),
            mutates=False,
            private=self.request.private,
            else_private=ask.else_private,
            done_elsewhere=ask.done_elsewhere,
        )
