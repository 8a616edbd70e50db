"""The store: all state in Redis. One module per kind of value; `lua/` has the atomic scripts."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.core.fronts import hidden

with hidden("opentelemetry.sdk.metrics"):  # which redis-py loads to offer figures of its own
    from redis.exceptions import AuthenticationError, NoPermissionError

from bot.store.connection import Connection, Retention, connect
from bot.store.erase import Erased, Erasure
from bot.store.leases import Lease, Leases, Lock, locked
from bot.store.pools import CLUSTER, why_unusable
from bot.store.processes import Keyring, Receivers, Refused, RefusedStore
from bot.store.threads.approvals import Approvals, ParkResult, Refusal
from bot.store.threads.artifacts import ArtifactStore
from bot.store.threads.conversation import CallerStates, Ledger
from bot.store.threads.mailbox import Mailbox
from bot.store.threads.run import Phase, PostedMessageRecord, RunRecord, Runs
from bot.store.threads.signals import Signals
from bot.store.threads.threads import DirectMessages, StaleStatuses, Threads
from bot.store.values import Names
from bot.store.workspaces.audit import AuditLog, PendingEntry
from bot.store.workspaces.budgets import (
    BudgetStore,
    Forecast,
    PauseSwitch,
    Place,
    Position,
    Reservation,
    Reserved,
    Room,
)
from bot.store.workspaces.catch_up import CatchUpStore, CatchUpTurn
from bot.store.workspaces.decisions import Decisions, ListedDecisions
from bot.store.workspaces.schedules import ScheduleStore

__all__ = [
    "Approvals",
    "ArtifactStore",
    "AuditLog",
    "BudgetStore",
    "CallerStates",
    "CatchUpStore",
    "CatchUpTurn",
    "Connection",
    "Decisions",
    "DirectMessages",
    "Erased",
    "Erasure",
    "Forecast",
    "Lease",
    "Leases",
    "Ledger",
    "Lock",
    "Mailbox",
    "Names",
    "ParkResult",
    "PauseSwitch",
    "PendingEntry",
    "Phase",
    "Place",
    "Position",
    "PostedMessageRecord",
    "Receivers",
    "Refusal",
    "Refused",
    "Reservation",
    "Reserved",
    "Retention",
    "Room",
    "RunRecord",
    "Runs",
    "ScheduleStore",
    "Signals",
    "StaleStatuses",
    "Stores",
    "Threads",
    "open_stores",
]


log = logging.getLogger(__name__)

SHARING_SECONDS = 120  # longer than any call of Slack may take
LOOK_SECONDS = 1.0  # between two attempts to reach Redis at start


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores of one Redis."""

    mailbox: Mailbox
    leases: Leases
    caller_states: CallerStates
    ledger: Ledger
    runs: Runs
    approvals: Approvals
    artifacts: ArtifactStore
    direct: DirectMessages
    threads: Threads
    channels: ListedDecisions
    profiles: Decisions
    preferences: Decisions
    schedules: ScheduleStore
    mcp: Decisions
    signals: Signals
    stale_statuses: StaleStatuses
    budgets: BudgetStore
    pause: PauseSwitch
    refused: RefusedStore
    receivers: Receivers
    catch_ups: CatchUpStore
    erasure: Erasure
    deletions: Names
    keyring: Keyring
    audit: AuditLog
    redis: Connection
    retention: Retention

    async def takes_writes(self) -> bool:
        """Return whether Redis accepts writes; it may answer and still be full or a replica."""
        try:
            await self.redis.call("SET", self.redis.key("probe"), "1", "EX", 60)
        except StoreUnavailable:
            return False
        return True

    def sharing(self, request_id: str) -> AbstractAsyncContextManager[Lock | None]:
        """Lock the sharing of a private answer with the channel; see `bot.store.leases.locked`."""
        return locked(self.redis, "sharing", request_id, seconds=SHARING_SECONDS)

    async def backlog(self) -> tuple[int, int]:
        """Return the backlog for metrics: requests in all mailboxes, and undelivered outcomes.

        The requests include those that are running.
        """
        return await self.mailbox.waiting_anywhere(), len(await self.runs.undelivered())

    async def wait_reachable(self, seconds: float) -> None:
        """Wait until Redis answers, for deployments that start Redis and the bot together.

        Raises StoreUnavailable after `seconds` without an answer, and ConfigurationError as soon as
        Redis rejects the credentials, and for a Redis Cluster.
        """
        clock = asyncio.get_running_loop().time
        deadline, has_warned = clock() + seconds, False
        while True:
            try:
                await self._refuse_cluster()
            except StoreUnavailable as error:
                if isinstance(error.__cause__, AuthenticationError):
                    cause, fix = why_unusable(error.__cause__)
                    raise ConfigurationError(f"Redis {cause}; {fix}.") from None
                if clock() >= deadline:
                    raise
                if not has_warned:
                    why = error.__cause__
                    log.warning("%s Waiting for it, %.0f s at most. %s", error, seconds, why)
                has_warned = True
                await asyncio.sleep(LOOK_SECONDS)
            else:
                return

    async def _refuse_cluster(self) -> None:
        try:
            info = await self.redis.call("INFO", "cluster")
        except NoPermissionError:  # of a user who may not read it; `bot doctor` needs it, we do not
            return
        if info.get("cluster_enabled"):
            raise ConfigurationError(f"REDIS_URL: {CLUSTER}.")


@asynccontextmanager
async def open_stores(
    url: str,
    retention: Retention | None = None,
    *,
    audit_keys: Sequence[bytes] = (),
) -> AsyncGenerator[Stores]:
    """Open the stores of one Redis (URLs: `bot.store.pools`).

    `audit_keys` seal the audit log. A process that executes runs must also enter
    `signals.listening`, to receive stop signals.
    """
    keep = retention or Retention()
    async with connect(url) as redis:
        deletions = Names(redis, redis.key("to-delete"), keep.settings)
        keyring = Keyring(redis, audit_keys)
        audit = AuditLog(redis, keep, audit_keys, keyring)
        yield Stores(
            mailbox=Mailbox(redis, keep),
            leases=Leases(redis, keep),
            caller_states=CallerStates(redis, keep),
            ledger=Ledger(redis, keep),
            runs=Runs(redis, keep),
            approvals=Approvals(redis, keep),
            artifacts=ArtifactStore(redis, keep),
            direct=DirectMessages(redis, keep),
            threads=Threads(redis, keep),
            preferences=Decisions(redis, keep, "preferences"),
            schedules=ScheduleStore(redis, keep),
            channels=ListedDecisions(redis, keep, "channel-edits", fresh=1.0),
            profiles=Decisions(redis, keep, "profiles", fresh=1.0),
            mcp=Decisions(redis, keep, "mcp-pins"),
            signals=Signals(redis, keep),
            stale_statuses=StaleStatuses(redis),
            budgets=BudgetStore(redis, keep),
            pause=PauseSwitch(redis, keep),
            refused=RefusedStore(redis),
            receivers=Receivers(redis),
            catch_ups=CatchUpStore(redis, keep),
            keyring=keyring,
            audit=audit,
            erasure=Erasure(redis, Leases(redis, keep), deletions, audit),
            deletions=deletions,
            redis=redis,
            retention=keep,
        )
