"""Room in a budget that a killed worker held (G6, O4)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.dev.model import ModelRequest, Reply, ResponsesServer, finish, held
from bot.dev.workspace import ADA, BEN, Workspace
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment
from tests.support.runs import answer

SALES = "C0SALES001"
CONFIGURED = """
[engine]
lease = 1.0
sweep = 1.0

[budgets]
workspace_day = { tokens = 9000 }
"""


@pytest.mark.timeout(120)
async def test_a_worker_that_is_killed_in_a_call_blocks_no_budget(
    tmp_path: Path, redis_url: str
) -> None:
    """O4: there is room for one call at a time. The question that was under way goes on elsewhere, the
    next one finds room at once, and nothing is held in the end."""
    never = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        return finish(answer("Two.")) if api.requests[1:] else held(finish(answer()), never)

    (tmp_path / "bot.toml").write_text(CONFIGURED)
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        bot = Deployment(ws, api)
        settings = environment(ws, api, tmp_path, redis_url=redis_url)
        async with Redis.from_url(redis_url, decode_responses=True) as redis:
            async with started("serve", settings, tmp_path / "log") as process:
                first = await bot.ask(ADA, SALES, "First?")
                await api.until(lambda: api.requests, 30)
                assert await held_ids(redis)
                process.kill()
            async with started("serve", settings, tmp_path / "log"):
                await bot.answered(SALES, first)
                second = await bot.ask(BEN, SALES, "Second?")
                [terminal] = await bot.answered(SALES, second)
            assert await held_ids(redis) == []
    assert "Two." in str(terminal["blocks"])


async def held_ids(redis: Redis) -> list[str]:
    keys = [key async for key in redis.scan_iter("bot:v1:held:*")]
    return [str(field) for key in keys for field in await redis.hkeys(key)]
