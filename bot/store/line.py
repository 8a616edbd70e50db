"""A line to Redis: one connection on which commands follow each other without waiting for replies.

Redis replies in the order of the commands, so all runs of a process share a line. redis-py opens it,
with what the URL says of TLS, credentials and Sentinels.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, cast

from redis import exceptions
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from typing_extensions import override

from bot.store.replies import NEWS, Incomplete, reply_at

_GONE = "the connection was lost"


def packed(command: Sequence[Any]) -> bytes:
    """Return a command in Redis's protocol. Raises TypeError for what is no text, bytes or number."""
    parts = [b"*%d\r\n" % len(command)]
    for part in command:
        raw = part.encode() if isinstance(part, str) else _raw(part)
        parts.append(b"$%d\r\n%b\r\n" % (len(raw), raw))
    return b"".join(parts)


def _raw(part: object) -> bytes:
    if isinstance(part, bytes):
        return part
    if isinstance(part, int | float) and not isinstance(part, bool):
        return str(part).encode()
    raise TypeError(f"Redis stores no {type(part).__name__}")


class Line(asyncio.Protocol):
    """An open connection. Errors of Redis are replies, too; so is the loss of the connection."""

    def __init__(self, connection: AbstractConnection) -> None:
        """Take over an open `connection` of redis-py, which must live as long as its socket."""
        self._connection = connection
        self._transport: asyncio.WriteTransport = connection._writer.transport  # type: ignore[union-attr]
        self._error: Callable[[str], Exception] = connection._parser.parse_error
        self._new_reply = asyncio.get_running_loop().create_future
        self._expected = deque[asyncio.Future[Any]]()
        self._received, self._enough = b"", 0
        self._transport.set_protocol(self)

    @property
    def is_open(self) -> bool:
        return not self._transport.is_closing()

    def send(self, data: bytes, commands: int) -> list[asyncio.Future[Any]]:
        """Send so many packed commands. Return their replies to come, in order."""
        replies = [self._new_reply() for _ in range(commands)]
        self._expected.extend(replies)
        self._transport.write(data)
        return replies

    def close(self) -> None:
        """Close the connection; what is expected will not come."""
        self._transport.abort()

    @override
    def data_received(self, data: bytes) -> None:
        self._received += data
        if len(self._received) < self._enough:
            return
        at, self._enough = 0, 0
        try:
            while at < len(self._received):
                is_news = self._received.startswith(NEWS, at)  # which nobody asked for
                reply, at = reply_at(self._received, at, self._error)
                expected = None if is_news else self._expected.popleft()
                if expected and not expected.done():  # who waited for it may have been cancelled
                    expected.set_result(reply)
        except Incomplete as incomplete:
            self._enough = incomplete.needed - at
        except (ValueError, IndexError):  # what came is no reply, or nobody asked for it
            self.close()
        self._received = self._received[at:]

    @override
    def connection_lost(self, error: Exception | None) -> None:
        self._connection._close()  # type: ignore[no-untyped-call]
        while self._expected:
            expected = self._expected.popleft()
            if not expected.done():
                expected.set_result(exceptions.ConnectionError(str(error or _GONE)))


async def open_line(pool: ConnectionPool) -> Line:
    """Open a line with the settings of `pool`. Raises redis's errors."""
    connection = cast(AbstractConnection, pool.make_connection())  # type: ignore[no-untyped-call]
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
        return Line(connection)
    except BaseException:
        connection._close()  # type: ignore[no-untyped-call]
        raise
