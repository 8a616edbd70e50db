"""A real server for tests, and requests to keep in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import count

import pytest_asyncio
from redis.asyncio import Redis

from bot.core.approvals import Approval, Decision
from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.request import Entry, Request
from bot.store import Refusal, Stores, open_stores
from bot.store.embedded import embedded_redis
from bot.store.workspaces.audit import PendingEntry

_numbers = count(1)
_servers: list[str] = []


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def redis_server() -> AsyncIterator[str]:
    """One server for all tests."""
    async with embedded_redis(None) as url:
        _servers.append(url)
        yield url
        _servers.remove(url)


def shared_redis() -> str:
    """Return the URL of the server of the fixture `redis_server`, where no fixture can be had."""
    [url] = _servers
    return url


@pytest_asyncio.fixture
async def redis_url(redis_server: str) -> AsyncIterator[str]:
    """The server's URL, with nothing in it; what a test leaves there must expire by itself.

    Only the engine's own stream and schedule live as long as the deployment.
    """
    async with Redis.from_url(redis_server) as client:
        await client.flushall()
        yield redis_server
        kept = [key async for key in client.scan_iter("*") if not key.startswith(b"bot:engine:")]
        endless = [key for key in kept if await client.ttl(key) == -1]
        assert not endless, f"kept for ever: {endless}"


@pytest_asyncio.fixture
async def stores(redis_url: str) -> AsyncIterator[Stores]:
    async with open_stores(redis_url) as opened:
        yield opened


@pytest_asyncio.fixture
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    """A plain client, to look behind the stores."""
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


def asked(
    text: str = "How many?", *, thread: str = "1.0", ts: str = "", user: str = "U1"
) -> Request:
    """A request, told apart from all others by its ts."""
    return Request(
        entry=Entry.MENTION,
        team="T1",
        channel="C1",
        thread=thread,
        ts=ts or f"{next(_numbers)}.5",
        user=user,
        text=text,
    )


async def pending_entry(stores: Stores, what: str = "said") -> PendingEntry:
    """An entry of the audit log that a decision brings with it."""
    return await stores.audit.pending_entry(
        AuditEntry(kind=AuditKind.DECIDED, team="T1", who="U1", what=what)
    )


async def decided(
    stores: Stores, approval: Approval, decision: Decision, *, sha256: str = ""
) -> Refusal | None:
    """Somebody decides, as it was shown to them (`sha256`), and nobody is woken."""
    on_record = await pending_entry(stores)
    return await stores.approvals.decide(
        approval, decision, sha256=sha256 or approval.sha256, on_record=on_record
    )
