"""The task queue library (pydocket), adapted for the engine.

The version is pinned to 0.27: `open_docket` touches private attributes, for which there is no
public option, and `_safeguard_wake` wraps a private function.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit
from uuid import uuid4

from redis import exceptions
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from typing_extensions import override

from bot.runs.queue.workers import NAME
from bot.store.queue_library import Docket, Execution, TaskFunction, _concurrency
from bot.store.sentinels import follow_primary

_HEARTBEAT = timedelta(seconds=20)
"""Longer than docket's default: each heartbeat sends two dozen commands to keep docket's own list of
workers, which this project never reads."""


@asynccontextmanager
async def open_docket(url: str, *, concurrency: int = 0) -> AsyncGenerator[TicketQueue]:
    """Open the queue of tickets on the Redis at `url`, for `concurrency` runs at once."""
    most = max(1000, 2 * concurrency)
    async with TicketQueue(
        name=NAME,
        url=_with_pool_size(url, most),
        execution_ttl=timedelta(minutes=1),
        heartbeat_interval=_HEARTBEAT,
    ) as docket:
        for pool in (docket._redis._connection_pool, docket._redis._pubsub_pool):
            if pool is not None:
                follow_primary(pool)
        _retry_store_errors(docket)
        yield docket


class TicketQueue(Docket):
    """A Docket whose safeguard task does not fail when a slot is taken twice."""

    @override
    def register(self, function: TaskFunction, names: list[str] | None = None) -> None:
        if function is _concurrency._safeguard_wake:  # docket adds it under its own name
            super().register(_safeguard_wake, [function.__name__])
        else:
            super().register(function, names)

    async def put(self, name: str, **arguments: str) -> None:
        """Queue a task for the next free worker.

        `add` would first store a record of it, by which docket finds it to cancel or replace it.
        """
        key, now = str(uuid4()), datetime.now(UTC)
        task = Execution(
            self, self.tasks[name], (), arguments, key, now, attempt=1, function_name=name
        )
        async with self.redis() as redis:
            await redis.xadd(self.stream_key, dict[Any, Any](task.as_message()))


async def _safeguard_wake(waiter_stream: str, max_concurrent: int) -> None:
    """Wake a ticket that waits for its thread's slot, as docket's function of this name does.

    A worker that was suspended for longer than its lease takes its slot again although another
    worker has it by now. With more slots taken than exist, docket's script asks Redis for a negative
    number of waiting tickets and fails. Ignore that error: both holders wake waiting tickets when
    they end, and the engine's sweep does so if they die.
    """
    try:
        await _concurrency._safeguard_wake(waiter_stream, max_concurrent)
    except exceptions.ResponseError as error:
        if "ipairs" not in str(error):
            raise


def _with_pool_size(url: str, most: int) -> str:
    """Return `url` with room for `most` connections: docket's pool refuses more than 100 by default."""
    parts = urlsplit(url)
    if "max_connections" in parse_qs(parts.query):
        return url
    query = "&".join(filter(None, (parts.query, f"max_connections={most}")))
    return urlunsplit(parts._replace(query=query))


def _retry_store_errors(docket: Docket) -> None:
    """Make docket's connections retry transient Redis errors by themselves.

    Otherwise a worker reacts to any error of Redis by finishing all its jobs before it reconnects,
    and renews no lease meanwhile. Refused writes are retried too: otherwise a job that ends during
    them would keep its thread's slot.
    """
    pool = docket._redis._connection_pool
    if pool is not None:
        transient = [
            exceptions.ConnectionError,
            exceptions.TimeoutError,
            exceptions.BusyLoadingError,
            exceptions.ReadOnlyError,
            exceptions.OutOfMemoryError,
        ]
        retry = Retry(ExponentialBackoff(cap=1, base=0.05), retries=120)
        pool.connection_kwargs.update(retry=retry, retry_on_error=transient)
