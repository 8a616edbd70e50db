"""A real server for tests, requests to keep in it, and a line to it that can lose replies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path

import pytest_asyncio
from redis.asyncio import Redis

from bot.core.request import Entry, Request
from bot.store import Stores, open_stores
from bot.store.embedded import embedded_redis

_numbers = count(1)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis_server() -> AsyncIterator[str]:
    """One server for all tests."""
    async with embedded_redis(None) as url:
        yield url


@pytest_asyncio.fixture
async def redis_url(redis_server: str) -> AsyncIterator[str]:
    """The server's URL, with nothing in it; what a test leaves there must expire by itself.

    Only the engine's own stream and schedule live as long as the deployment.
    """
    async with Redis.from_url(redis_server) as client:
        await client.flushall()
        yield redis_server
        kept = [key async for key in client.scan_iter("*") if not key.startswith(b"bot:engine:")]
        assert [key for key in kept if await client.ttl(key) < 0] == []


@pytest_asyncio.fixture
async def stores(redis_url: str) -> AsyncIterator[Stores]:
    async with open_stores(redis_url) as opened:
        yield opened


@pytest_asyncio.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    """A plain client, to look behind the stores."""
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


def asked(text: str = "How many?", *, thread: str = "1.0", ts: str = "") -> Request:
    """A request, told apart from all others by its ts."""
    return Request(
        entry=Entry.MENTION,
        team="T1",
        channel="C1",
        thread=thread,
        ts=ts or f"{next(_numbers)}.5",
        user="U1",
        text=text,
    )


class LossyLine:
    """Passes on to the server; with `lose_next_reply` the server acts, but nobody hears of it."""

    def __init__(self, url: str, path: Path) -> None:
        self.url = f"unix://{path}"
        self.lose_next_reply = False
        self._server = url.removeprefix("unix://")
        self._path = path

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[None]:
        async with await asyncio.start_unix_server(self._carry, self._path):
            yield

    async def _carry(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        far, onward = await asyncio.open_unix_connection(self._server)
        try:
            while request := await near.read(65_536):
                onward.write(request)
                reply = await far.read(65_536)
                if self.lose_next_reply:
                    self.lose_next_reply = False
                    return
                back.write(reply)
        finally:
            onward.close()
            back.close()
