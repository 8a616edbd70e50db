"""Artifacts as tools see them: bytes in, the same bytes out, and only in their thread (D7, D8)."""

from __future__ import annotations

import pytest
from redis.asyncio import Redis

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.surface import PostedMessages
from bot.store import Stores
from bot.toolkit.provided.artifacts import Artifacts, Column
from tests.support.redis import asked


def in_thread(thread: str) -> RequestContext:
    return RequestContext(request=asked(thread=thread), run_id="run_1")


async def test_bytes_come_back_as_they_went_in(stores: Stores) -> None:
    """Whatever they are: spreadsheets, images, text in any encoding."""
    artifacts: Artifacts = ThreadArtifacts(stores.artifacts)
    data = bytes(range(256)) * 10
    with bound_request(in_thread("1.0")):
        saved = await artifacts.save(
            data,
            name="orders.parquet",
            media_type="application/vnd.apache.parquet",
            prefix="table",
            rows=3,
            columns=(Column(name="id", type="BIGINT"),),
            source_title="Orders",
            source_url="https://example.com/orders",
        )
        assert saved.handle.startswith("table_")
        assert saved.size == len(data)
        assert await artifacts.find(saved.handle) == saved
        assert await artifacts.read(saved.handle) == data


async def test_another_thread_does_not_see_them(stores: Stores) -> None:
    """A handle that is told to somebody elsewhere opens nothing (reliability 9)."""
    artifacts = ThreadArtifacts(stores.artifacts)
    with bound_request(in_thread("1.0")):
        saved = await artifacts.save(b"secret", name="a.txt", media_type="text/plain")
    with bound_request(in_thread("2.0")):
        for look in (artifacts.find, artifacts.read):
            with pytest.raises(ToolError, match="this thread has none"):
                await look(saved.handle)


async def test_a_mistyped_handle_gets_its_neighbours(stores: Stores) -> None:
    """The model copies handles by hand, so to speak."""
    artifacts = ThreadArtifacts(stores.artifacts)
    with bound_request(in_thread("1.0")):
        saved = await artifacts.save(b"1", name="a.txt", media_type="text/plain")
        with pytest.raises(ToolError, match=saved.handle):
            await artifacts.read(saved.handle[:-1] + "?")


async def test_too_much_is_refused_with_what_to_do(stores: Stores) -> None:
    """Redis holds everything in memory."""
    artifacts = ThreadArtifacts(stores.artifacts, max_bytes=10)
    with bound_request(in_thread("1.0")):
        await artifacts.save(b"x" * 10, name="a.txt", media_type="text/plain")
        with pytest.raises(ToolError, match="Ask for less"):
            await artifacts.save(b"x" * 11, name="b.txt", media_type="text/plain")


async def test_what_is_used_is_kept_for_longer(stores: Stores, redis: Redis) -> None:
    """Seven days count from the last use, for the bytes and their description alike."""
    artifacts = ThreadArtifacts(stores.artifacts)
    with bound_request(in_thread("1.0")):
        saved = await artifacts.save(b"1", name="a.txt", media_type="text/plain")
        keys = [key async for key in redis.scan_iter(f"*:{saved.handle}:*")]
        assert len(keys) == 2
        for use in (artifacts.find, artifacts.read):
            for key in keys:
                await redis.expire(key, 60)
            await use(saved.handle)
            assert [await redis.ttl(key) > 86_400 for key in keys] == [True, True]


async def test_an_expired_one_is_not_offered(stores: Stores, redis: Redis) -> None:
    """Neighbours that are named can be read."""
    artifacts = ThreadArtifacts(stores.artifacts)
    with bound_request(in_thread("1.0")):
        saved = await artifacts.save(b"1", name="a.txt", media_type="text/plain")
        await redis.delete(*[key async for key in redis.scan_iter(f"*:{saved.handle}:*")])
        with pytest.raises(ToolError, match="this thread has none"):
            await artifacts.read(saved.handle)


async def test_the_record_of_a_run_is_what_surfaces_ask_for(stores: Stores) -> None:
    """The store knows nothing of surfaces; that it fits is checked here, by mypy and at work."""
    lease = await stores.leases.take("T1:C1:1.0")
    post: PostedMessages = stores.runs.messages("run_1", lease)
    assert post.run_id == "run_1"
