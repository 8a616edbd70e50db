"""pydocket as the engine uses it.

Pinned to 0.27: `_harden` touches two private attributes, for which there is no public option, and
`_safeguard_wake` a private function.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit, urlunsplit

from docket import Docket
from docket.dependencies import _concurrency
from docket.execution import TaskFunction
from redis import exceptions
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from typing_extensions import override

NAME = "bot:engine"
"""Prefix of the engine's own keys. Its streams and schedule live as long as the deployment."""

_HEARTBEAT = timedelta(seconds=20)
"""Two dozen commands each time, for docket's own list of workers, which nobody reads here."""


@asynccontextmanager
async def open_docket(url: str, *, concurrency: int = 0) -> AsyncGenerator[Docket]:
    """The carrier of tickets on the Redis at `url`, for so many runs at once."""
    most = max(1000, 2 * concurrency)
    async with _Docket(
        name=NAME,
        url=_with_connections(url, most),
        execution_ttl=timedelta(minutes=1),
        heartbeat_interval=_HEARTBEAT,
    ) as docket:
        _harden(docket)
        yield docket


class _Docket(Docket):
    """Docket, with a safeguard that does not fail."""

    @override
    def register(self, function: TaskFunction, names: list[str] | None = None) -> None:
        if function is _concurrency._safeguard_wake:  # docket adds it under its own name
            super().register(_safeguard_wake, [function.__name__])
        else:
            super().register(function, names)


async def _safeguard_wake(waiter_stream: str, max_concurrent: int) -> None:
    """Wake a ticket that waits for its thread's slot, as docket's function of this name does.

    A worker that stood still for longer than its lease takes its slot again though another has it by
    now. With more slots taken than there are, docket's script asks Redis for a negative number of
    waiting tickets, and fails. There is nothing to wake then: both holders do that when they end, and
    the engine's sweep does it if they die.
    """
    try:
        await _concurrency._safeguard_wake(waiter_stream, max_concurrent)
    except exceptions.ResponseError as error:
        if "ipairs" not in str(error):
            raise


def _with_connections(url: str, most: int) -> str:
    """Docket's pool stops at 100 connections, and refuses more, unless its URL says otherwise."""
    parts = urlsplit(url)
    if "max_connections" in parse_qs(parts.query):
        return url
    query = "&".join(filter(None, (parts.query, f"max_connections={most}")))
    return urlunsplit(parts._replace(query=query))


def _harden(docket: Docket) -> None:
    """Have docket's connections try again by themselves: without, a worker reacts to any error of
    Redis by finishing all its jobs before it reconnects, and renews no lease meanwhile. A Redis
    that takes no writes is such an error too, or the end of a job would keep its thread's slot."""
    pool = docket._redis._connection_pool
    if pool is not None:
        trouble = [
            exceptions.ConnectionError,
            exceptions.TimeoutError,
            exceptions.BusyLoadingError,
            exceptions.ReadOnlyError,
            exceptions.OutOfMemoryError,
        ]
        retry = Retry(ExponentialBackoff(cap=1, base=0.05), retries=120)
        pool.connection_kwargs.update(retry=retry, retry_on_error=trouble)
