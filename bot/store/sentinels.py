"""Connections to the primary that Redis Sentinels name."""

from __future__ import annotations

from typing import Any

from redis.asyncio import ConnectionPool
from redis.asyncio.sentinel import (
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)
from typing_extensions import override

# The queue reads the same REDIS_URL with these.
from bot.store.queue_library import OwnedSentinelConnectionPool, parse_sentinel_url


class _Following(SentinelManagedConnection):
    """A connection that asks the Sentinels for the primary each time it opens a socket.

    redis-py asks only for a connection's first socket: a command that is tried again on the same
    connection would go on knocking at the server that is gone.
    """

    @override
    async def _connect(self) -> None:
        self.host, self.port = await self.connection_pool.get_master_address()
        await super()._connect()  # type: ignore[no-untyped-call]


class _FollowingSSL(_Following, SentinelManagedSSLConnection):
    """The same with TLS."""


def follow_primary(pool: ConnectionPool) -> None:
    """Make the connections of `pool` follow the primary, if it has Sentinels to ask."""
    if isinstance(pool, SentinelConnectionPool):
        is_tls = issubclass(pool.connection_class, SentinelManagedSSLConnection)
        pool.connection_class = _FollowingSSL if is_tls else _Following


def sentinel_pool(url: str, options: dict[str, Any]) -> ConnectionPool:
    """Return a pool of connections to the primary for a `redis+sentinel://` URL; a new connection asks
    the Sentinels which it is. Raises ValueError for a URL that is wrong."""
    given = parse_sentinel_url(url)
    # They are asked in turn: one that hangs may not take the whole time of a command.
    seconds = options.get("socket_connect_timeout")
    patience = {"socket_timeout": seconds, "socket_connect_timeout": seconds}
    sentinels = Sentinel(given.sentinels, sentinel_kwargs={**patience, **given.sentinel_kwargs})  # type: ignore[no-untyped-call]
    settings = {**options, "db": given.db, **given.connection_kwargs}
    pool = OwnedSentinelConnectionPool(given.service_name, sentinels, **settings)  # type: ignore[no-untyped-call]
    follow_primary(pool)
    return pool
