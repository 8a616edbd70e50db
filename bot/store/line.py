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

_INCOMPLETE = object()


class Line(asyncio.Protocol):
    """An open connection. Errors of Redis are replies, too; so is the loss of the connection."""

    def __init__(self, connection: AbstractConnection) -> None:
        """Take over an open `connection` of redis-py, which must live as long as its socket."""
        self._connection = connection
        self._transport: asyncio.WriteTransport = connection._writer.transport  # type: ignore[union-attr]
        self._loop = asyncio.get_running_loop()
        self._expected = deque[tuple[asyncio.Future[Any], float]]()
        self._watch: asyncio.TimerHandle | None = None
        self._heard_at = self._loop.time()
        self.is_open, self._end = True, "the connection was lost"
        self._received = Reader(
            replyError=connection._parser.parse_error, notEnoughData=_INCOMPLETE
        )
        self._transport.set_protocol(self)

    def send(self, commands: Sequence[Sequence[Any]], due: float) -> list[asyncio.Future[Any]]:
        """Send commands of texts, bytes and numbers. Return their replies to come, in order.

        The line closes when one has not come by `due`, on the event loop's clock. Raises TypeError for
        what Redis does not store.
        """
        data = b"".join(pack_command(tuple(command)) for command in commands)
        replies = [self._loop.create_future() for _ in commands]
        self._expected.extend((reply, due) for reply in replies)
        if self._watch is None:
            self._watch = self._loop.call_at(due, self._close_if_late)
        self._transport.write(data)
        return replies

    def _close_if_late(self) -> None:
        self._watch = None
        if self._expected:
            _, due = self._expected[0]
            if due <= self._loop.time():
                self.close()
            else:
                self._watch = self._loop.call_at(due, self._close_if_late)

    def is_silent(self, since: float) -> bool:
        """Whether nothing was heard since a time on the event loop's clock, and nothing is on its way: a
        large value takes its time."""
        return self._heard_at < since and not self._transport.get_write_buffer_size()

    def close(self) -> None:
        """Close the connection; what is expected will not come."""
        self.is_open, self._end = False, "nothing came in time"
        self._transport.abort()

    @override
    def resume_writing(self) -> None:  # the other side has taken in a large value
        self._heard_at = self._loop.time()

    @override
    def data_received(self, data: bytes) -> None:
        self._heard_at = self._loop.time()
        self._received.feed(data)
        try:
            while (reply := self._received.gets()) is not _INCOMPLETE:
                if isinstance(reply, PushNotification):  # which nobody asked for
                    continue
                expected, _ = self._expected.popleft()
                if not expected.done():  # who waited for it may have been cancelled
                    expected.set_result(reply)
        except (ProtocolError, IndexError):  # what came is no reply, or nobody asked for it
            self.close()

    @override
    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        self._connection._close()  # type: ignore[no-untyped-call]
        if self._watch:
            self._watch.cancel()
        while self._expected:
            expected, _ = self._expected.popleft()
            if not expected.done():
                expected.set_result(exceptions.ConnectionError(str(error or self._end)))


async def open_line(pool: ConnectionPool) -> Line:
    """Open a line with the settings of `pool`. Raises redis's errors."""
    connection = cast(AbstractConnection, pool.make_connection())  # type: ignore[no-untyped-call]
    try:
        await connection.connect()  # type: ignore[no-untyped-call]
        return Line(connection)
    except BaseException:
        connection._close()  # type: ignore[no-untyped-call]
        raise
