"""A line to Redis: one connection on which commands follow each other without waiting for replies.

Redis replies in the order of the commands, so all runs of a process share a line. redis-py opens it,
with what the URL says of TLS, credentials and Sentinels.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

from hiredis import ProtocolError, PushNotification, Reader, pack_command
from redis import exceptions
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from typing_extensions import override

_GONE = "the connection was lost"
_INCOMPLETE = object()


class Line(asyncio.Protocol):
    """An open connection. Errors of Redis are replies, too; so is the loss of the connection."""

    def __init__(self, connection: AbstractConnection) -> None:
        """Take over an open `connection` of redis-py, which must live as long as its socket."""
        self._connection = connection
        self._transport: asyncio.WriteTransport = connection._writer.transport  # type: ignore[union-attr]
        self._new_reply = asyncio.get_running_loop().create_future
        self._expected = deque[asyncio.Future[Any]]()
        self._received = Reader(
            replyError=connection._parser.parse_error, notEnoughData=_INCOMPLETE
        )
        self._transport.set_protocol(self)

    @property
    def is_open(self) -> bool:
        return not self._transport.is_closing()

    def send(self, commands: Sequence[Sequence[Any]]) -> list[asyncio.Future[Any]]:
        """Send commands of texts, bytes and numbers. Return their replies to come, in order.

        Raises TypeError for what Redis does not store.
        """
        data = b"".join(pack_command(tuple(command)) for command in commands)
        replies = [self._new_reply() for _ in commands]
        self._expected.extend(replies)
        self._transport.write(data)
        return replies

    def close(self) -> None:
        """Close the connection; what is expected will not come."""
        self._transport.abort()

    @override
    def data_received(self, data: bytes) -> None:
        self._received.feed(data)
        try:
            while (reply := self._received.gets()) is not _INCOMPLETE:
                if isinstance(reply, PushNotification):  # which nobody asked for
                    continue
                expected = self._expected.popleft()
                if not expected.done():  # who waited for it may have been cancelled
                    expected.set_result(reply)
        except (ProtocolError, IndexError):  # what came is no reply, or nobody asked for it
            self.close()

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
