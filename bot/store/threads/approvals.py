"""Approvals in the store: requests for approval, decisions, and threads parked until a decision.

One hash per run: `asked:<id>` is the approval, `said:<id>` its only decision, `used:<id>` is set when
the call went ahead, and `made:<id>` is how far the call has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from bot.core.approvals import Approval, ApprovalRecord, CallProgress, Decision, Verdict
from bot.core.errors import CorruptValue
from bot.core.request import Request
from bot.store.connection import Connection, Retention
from bot.store.leases import Lease
from bot.store.threads.mailbox import (
    mailbox_keys,
    message_claim,
    parked_key,
    request_key,
    run_of_key,
)
from bot.store.values import decode, set_aside
from bot.store.workspaces.audit import PendingEntry

M = TypeVar("M", Approval, Decision)


CHANGED = "what was approved was something else, or was asked by an older version: ask again"


class Refusal(StrEnum):
    """Why a decision does not count."""

    UNKNOWN = "unknown"  # the approval does not exist or has been deleted
    FORBIDDEN = "forbidden"  # this person may not decide
    CHANGED = "changed"  # the person saw a different call
    DECIDED = "decided"  # somebody else decided first
    EXPIRED = "expired"


class ParkResult(StrEnum):
    """The result of parking a thread."""

    PARKED = "parked"
    DECIDED = "decided"  # not parked: there is a decision already
    CANCELLED = "cancelled"  # not parked: somebody stopped or deleted the request


class Approvals:
    """The store of approvals. The first decision counts; scripts make sure there is only one."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def ask(self, approval: Approval) -> Approval:
        """Store an approval. Return the stored one: an earlier one with the same id, if any."""
        key, field = self._key(approval.run_id), f"asked:{approval.id}"
        _, _, raw = await self._redis.together(
            ("HSETNX", key, field, approval.model_dump_json()),
            ("EXPIRE", key, self._retention.thread),
            ("HGET", key, field),
        )
        return await self._decoded(Approval, raw, approval.run_id)

    async def get(self, approval_id: str) -> ApprovalRecord | None:
        """Return an approval with its decision, None if it does not exist."""
        asked = await self.of_run(approval_id.partition(":")[0])
        return next((each for each in asked if each.approval.id == approval_id), None)

    async def of_run(self, run_id: str) -> list[ApprovalRecord]:
        """Return all approvals of a run. Raises CorruptValue, once, for a damaged value."""
        fields = await self._redis.call("HGETALL", self._key(run_id))
        found = []
        for name, raw in fields.items():
            kind, _, approval_id = name.decode().partition(":")
            if kind == "asked":
                stored, made = (fields.get(f"{k}:{approval_id}".encode()) for k in ("said", "made"))
                approval = await self._decoded(Approval, raw, run_id)
                decision = await self._decoded(Decision, stored, run_id) if stored else None
                found.append(
                    ApprovalRecord(
                        approval, decision, CallProgress(made.decode()) if made else None
                    )
                )
        return found

    async def decide(
        self, approval: Approval, decision: Decision, *, sha256: str, on_record: PendingEntry
    ) -> Refusal | None:
        """Store a decision about the call that was shown (`sha256`), with its audit entry.

        Return None when the decision counts, also when it is repeated. The thread is then no longer
        parked, and the caller must queue a ticket for it.
        """
        refusal = await self._redis.script(
            "approval_decide",
            [
                self._key(approval.run_id),
                self._standing_key(approval),
                parked_key(self._redis, approval.thread_key),
                on_record.key,
            ],
            approval.id,
            sha256,
            decision.by,
            decision.model_dump_json(),
            self._standing_seconds(approval, decision),
            self._retention.thread,
            on_record.text,
        )
        return Refusal(refusal.decode()) if refusal else None

    async def claim(self, approval: Approval) -> Decision | None:
        """Return the decision right before the call is made, None while there is none.

        An approval counts for this call with these arguments, until it expires. After a crash the
        same call may claim it again; the record of intents prevents a second execution.
        """
        raw = await self._redis.script(
            "approval_claim",
            [self._key(approval.run_id)],
            approval.id,
            approval.sha256,
            Decision(verdict=Verdict.EXPIRED).model_dump_json(),
            Decision(verdict=Verdict.DENIED, comment=CHANGED).model_dump_json(),
        )
        return await self._decoded(Decision, raw, approval.run_id) if raw else None

    async def standing(self, approval: Approval) -> Decision | None:
        """Return the standing approval of the thread that covers this call, None without one."""
        if not approval.standing:
            return None
        key = self._standing_key(approval)
        raw = await self._redis.call("GET", key)
        try:
            return decode(Decision, raw) if raw else None
        except CorruptValue:
            await set_aside(self._redis, key)
            return None

    async def answer(self, approval: Approval, decision: Decision) -> None:
        """Store a decision of the bot itself, unless there is a decision already."""
        key = self._key(approval.run_id)
        await self._redis.call("HSETNX", key, f"said:{approval.id}", decision.model_dump_json())

    async def note(self, approval: Approval, made: CallProgress) -> None:
        """Record how far the approved call has come."""
        key = self._key(approval.run_id)
        await self._redis.together(
            ("HSET", key, f"made:{approval.id}", made), ("EXPIRE", key, self._retention.thread)
        )

    async def forget(self, approval: Approval) -> None:
        """Delete an approval and what was decided about it: the run asks for it again."""
        fields = (f"{kind}:{approval.id}" for kind in ("asked", "said", "used", "made"))
        await self._redis.call("HDEL", self._key(approval.run_id), *fields)

    async def supersede(
        self,
        request: Request,
        decision: Decision,
        on_record: PendingEntry,
        answer: tuple[Decision, PendingEntry] | None = None,
    ) -> bool:
        """Decide the open approvals of a user who has sent another `request` to the thread since.

        `answer` decides an open question that was asked before the message was written: the run then
        answers the request as well, which leaves the mailbox. `decision` decides the others. Return
        whether there were any. The audit entries are written in the same step.
        """
        said, entry = answer or (None, None)
        return bool(
            await self._redis.script(
                "approval_supersede",
                [
                    mailbox_keys(self._redis, request.thread_key)[0],
                    message_claim(self._redis, request.team, request.channel, request.ts),
                    parked_key(self._redis, request.thread_key),
                    run_of_key(self._redis, ""),
                    self._key(""),
                    on_record.key,
                    self._redis.key("run", ""),
                    self._redis.key("cancelled", ""),
                ],
                request.user,
                decision.model_dump_json(),
                on_record.text,
                self._retention.thread,
                request.ts if said else "",
                said.model_dump_json() if said else "",
                entry.text if entry else "",
            )
        )

    async def park(
        self, request: Request, run_id: str, waiting: Sequence[Approval], lease: Lease
    ) -> ParkResult:
        """Park the thread until a decision or until the first approval expires. Raises LeaseLost.

        The thread is not parked if there is a decision already or the request was cancelled.
        """
        until = min(approval.expires for approval in waiting)
        parked = await self._redis.script(
            "approval_park",
            [
                lease.key,
                self._redis.key("run", run_id),
                self._key(run_id),
                parked_key(self._redis, request.thread_key),
                self._redis.key("cancelled", request.id),
                request_key(self._redis, request.id),
                *mailbox_keys(self._redis, request.thread_key),
            ],
            lease.token,
            run_id,
            until,
            self._retention.request,
            *(approval.id for approval in waiting),
        )
        return ParkResult(parked.decode())

    def _standing_seconds(self, approval: Approval, decision: Decision) -> int:
        stands = approval.standing and decision.verdict is Verdict.STANDING
        return int(approval.standing_hours * 3_600) if stands else 0

    async def _decoded(self, kind: type[M], raw: bytes, run_id: str) -> M:
        try:
            return decode(kind, raw)
        except CorruptValue:
            await set_aside(self._redis, self._key(run_id))
            raise

    def _key(self, run_id: str) -> str:
        return self._redis.key("approvals", run_id)

    def _standing_key(self, approval: Approval) -> str:
        return self._redis.key(
            "standing", approval.thread_key, approval.requester, approval.standing
        )
