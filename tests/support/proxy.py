"""A line between the bot and one service, which delays, trickles, refuses, breaks and loses replies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

_CHUNK = 65_536


@dataclass
class _Loss:
    containing: bytes
    times: int
    after: int


class Proxy:
    """Carries bytes to `upstream` (a URL: http, redis or unix) from an address of its own, `url`.

    `delay` is in seconds for each chunk in either direction; with `trickle` replies come in pieces
    of so many bytes, each after `delay`. `refusing` closes new connections at once. `lost` counts
    replies that were lost.
    """

    def __init__(self, upstream: str) -> None:
        self.url = ""
        self.delay = 0.0
        self.trickle = 0
        self.refusing = False
        self.lost = 0
        self._upstream = urlsplit(upstream)
        self._losses: list[_Loss] = []
        self._lines: set[asyncio.Task[None]] = set()

    @classmethod
    @asynccontextmanager
    async def open(cls, upstream: str) -> AsyncGenerator[Proxy]:
        proxy = cls(upstream)
        server = await asyncio.start_server(proxy._connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        parts = proxy._upstream
        as_tcp = parts._replace(scheme="redis", path="") if parts.scheme == "unix" else parts
        secret, at, _ = parts.netloc.rpartition("@")
        proxy.url = urlunsplit(as_tcp._replace(netloc=f"{secret}{at}127.0.0.1:{port}"))
        try:
            yield proxy
        finally:
            server.close()
            proxy.refusing = True  # those that are on their way
            await proxy.cut()

    def lose_reply(self, containing: bytes = b"", *, times: int = 1, after: int = 0) -> None:
        """Let the next requests that contain these bytes pass, but cut the line when `after` bytes
        of the reply have come: what was asked for is done, and nobody hears of it."""
        self._losses.append(_Loss(containing, times, after))

    @property
    def losses_left(self) -> int:
        """Replies that are still to be lost."""
        return sum(loss.times for loss in self._losses)

    def forgive(self) -> None:
        """Nothing goes wrong any more."""
        self._losses.clear()
        self.delay, self.trickle, self.refusing = 0.0, 0, False

    async def cut(self) -> None:
        """Break every connection that is open now."""
        lines = list(self._lines)
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)

    def _connected(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        line = asyncio.create_task(self._line(near, back))
        self._lines.add(line)
        line.add_done_callback(self._lines.discard)
        # However it ends: one that was cut before its first step closes nothing by itself.
        line.add_done_callback(lambda _line: back.transport.abort())

    async def _line(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        if self.refusing:
            return
        try:
            far, onward = await self._reach()
        except OSError:
            return
        meeting: list[_Loss] = []
        pumps = {
            asyncio.create_task(self._requests(near, onward, meeting)),
            asyncio.create_task(self._replies(far, back, meeting)),
        }
        try:
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            onward.transport.abort()  # first: cut while it waits below, a line goes no further
            for pump in pumps:
                pump.cancel()
            await asyncio.gather(*pumps, return_exceptions=True)

    async def _reach(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._upstream.scheme == "unix":
            return await asyncio.open_unix_connection(self._upstream.path)
        return await asyncio.open_connection(self._upstream.hostname, self._upstream.port)

    async def _requests(
        self, near: asyncio.StreamReader, onward: asyncio.StreamWriter, meeting: list[_Loss]
    ) -> None:
        while data := await near.read(_CHUNK):
            if not meeting and (loss := self._loss(data)):
                meeting.append(loss)
            await asyncio.sleep(self.delay)
            onward.write(data)
            await onward.drain()

    async def _replies(
        self, far: asyncio.StreamReader, back: asyncio.StreamWriter, meeting: list[_Loss]
    ) -> None:
        passed = 0
        while data := await far.read(self.trickle or _CHUNK):
            if meeting:
                left = max(0, meeting[0].after - passed)
                passed += len(data)
                if len(data) > left:
                    back.write(data[:left])
                    with suppress(ConnectionError):
                        await back.drain()
                    self.lost += 1
                    return
            await asyncio.sleep(self.delay)
            back.write(data)
            await back.drain()

    def _loss(self, request: bytes) -> _Loss | None:
        for loss in self._losses:
            if loss.containing in request:
                loss.times -= 1
                if not loss.times:
                    self._losses.remove(loss)
                return loss
        return None
