"""Questions to people, their answers, and threads that wait for them (reliability 10).

One hash per run: `asked:<id>` is the question, `said:<id>` the one answer it ever gets, `used:<id>`
that the call went ahead on it, and `made:<id>` how far that came.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from bot.core.approvals import Approval, ApprovalRecord, Decision, Made, Verdict
from bot.core.errors import CorruptValue
from bot.core.request import Request
from bot.store.connection import Connection, Retention
from bot.store.threads.leases import Lease
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


CHANGED = "what was approved was something else"


class Refusal(StrEnum):
    """Why a decision does not count."""

    UNKNOWN = "unknown"  # there is no such question, or not any more
    FORBIDDEN = "forbidden"  # not by this person
    CHANGED = "changed"  # it was another question that they saw
    DECIDED = "decided"  # somebody was first
    EXPIRED = "expired"


class Rest(StrEnum):
    """Whether a thread rests."""

    PARKED = "parked"
    DECIDED = "decided"  # there is an answer already
    CANCELLED = "cancelled"  # somebody pressed Stop, or took the question back


class Approvals:
    """Every answer is written once, in Lua, by whoever comes first."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def ask(self, approval: Approval) -> Approval:
        """Keep the question; returns the one that is kept, an earlier one if there is any."""
        key, field = self._key(approval.run_id), f"asked:{approval.id}"
        _, _, raw = await self._redis.together(
            ("HSETNX", key, field, approval.model_dump_json()),
            ("EXPIRE", key, self._retention.thread),
            ("HGET", key, field),
        )
        return await self._decoded(Approval, raw, approval.run_id)

    async def get(self, approval_id: str) -> ApprovalRecord | None:
        """A question and its answer; None when there is none of that name."""
        asked = await self.of_run(approval_id.partition(":")[0])
        return next((each for each in asked if each.approval.id == approval_id), None)

    async def of_run(self, run_id: str) -> list[ApprovalRecord]:
        """All that a run asked. Raises CorruptValue, once, when it cannot be read."""
        fields = await self._redis.call("HGETALL", self._key(run_id))
        found = []
        for name, raw in fields.items():
            kind, _, approval_id = name.decode().partition(":")
            if kind == "asked":
                said, made = (fields.get(f"{k}:{approval_id}".encode()) for k in ("said", "made"))
                approval = await self._decoded(Approval, raw, run_id)
                decision = await self._decoded(Decision, said, run_id) if said else None
                found.append(
                    ApprovalRecord(approval, decision, Made(made.decode()) if made else None)
                )
        return found

    async def decide(
        self, approval: Approval, decision: Decision, *, sha256: str, on_record: PendingEntry
    ) -> Refusal | None:
        """Answer the question, as it was shown (`sha256`), and put that on record; None when this
        decision counts, also when it did before. Whoever waits for it is not parked any more: bring
        a ticket."""
        said = await self._redis.script(
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
        return Refusal(said.decode()) if said else None

    async def claim(self, approval: Approval) -> Decision | None:
        """The answer, right before the call is made on it; None while there is none.

        An approval counts for this very call and these arguments, until it expires. It may be
        claimed again by the same call, after a crash; that the call is made once is for its intent.
        """
        raw = await self._redis.script(
            "approval_claim",
            [self._key(approval.run_id)],
            *(approval.id, approval.sha256),
            Decision(verdict=Verdict.EXPIRED).model_dump_json(),
            Decision(verdict=Verdict.DENIED, comment=CHANGED).model_dump_json(),
        )
        return await self._decoded(Decision, raw, approval.run_id) if raw else None

    async def standing(self, approval: Approval) -> Decision | None:
        """What was approved for the thread and covers this as well."""
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
        """Answer for everybody, unless somebody has."""
        key = self._key(approval.run_id)
        await self._redis.call("HSETNX", key, f"said:{approval.id}", decision.model_dump_json())

    async def note(self, approval: Approval, made: Made) -> None:
        """Keep how far the call came that was approved."""
        key = self._key(approval.run_id)
        await self._redis.together(
            ("HSET", key, f"made:{approval.id}", made), ("EXPIRE", key, self._retention.thread)
        )

    async def supersede(
        self, request: Request, decision: Decision, on_record: PendingEntry
    ) -> bool:
        """Answer what the thread's run waits for, if whoever it waits for asked `request` since, and
        put that on record; True when there was something."""
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
                ],
                request.user,
                decision.model_dump_json(),
                on_record.text,
                self._retention.thread,
            )
        )

    async def park(
        self, request: Request, run_id: str, waiting: Sequence[Approval], lease: Lease
    ) -> Rest:
        """Let the thread rest until somebody decides, or the first question expires, unless there is
        something to go on with. Raises LeaseLost."""
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
            *(lease.token, run_id, until, self._retention.request),
            *(approval.id for approval in waiting),
        )
        return Rest(parked.decode())

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
