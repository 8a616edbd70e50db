"""Redis is away for longer than Slack's first two tries: questions keep their order, and their pace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.core.errors import StoreUnavailable
from bot.dev.model import finish
from bot.dev.workspace import ADA
from bot.runs.queue.engine import EngineOptions
from bot.slack.edge import tasks
from bot.slack.edge.tasks import EventRetries
from tests.support.deployment import Deployment, deployed
from tests.support.ports import free_port
from tests.support.redis_process import RedisProcess, redis_process
from tests.support.runs import answer

SALES = "C0SALES001"
AWAY = 8.0  # seconds; Slack's second try fails as well, and the third comes after a minute
SOON = 25.0


@asynccontextmanager
async def bot_over(transport: str, redis_url: str) -> AsyncGenerator[Deployment]:
    port = free_port()
    over_http: dict[str, Any] = {"slack_app_token": None, "port": port}
    settings = over_http if transport == "http" else {}
    async with deployed(
        lambda _: finish(answer("Two.")), redis_url, engine=EngineOptions(sweep=1.0), **settings
    ) as bot:
        if transport == "http":
            await bot.ws.listen_over_http(f"http://127.0.0.1:{port}/slack/events")
        yield bot


async def stop(server: RedisProcess, how: str) -> None:
    if how == "killed":
        await server.kill()
    else:
        server.freeze()


async def back(server: RedisProcess, how: str) -> None:
    if how == "killed":
        await server.start()
    else:
        server.thaw()


@pytest.mark.parametrize(("transport", "how"), [("socket mode", "killed"), ("http", "paused")])
async def test_every_thread_is_answered_in_order_once_redis_is_back(
    tmp_path: Path, transport: str, how: str
) -> None:
    """R10: nothing was acknowledged; this process goes on trying, and Slack's copies come later."""
    async with redis_process(tmp_path) as server, bot_over(transport, server.url) as bot:
        await bot.answered(SALES, await bot.ask(ADA, SALES, "Before?"))
        await stop(server, how)
        roots = [await bot.ask(ADA, SALES, f"first{n}?") for n in range(4)]
        for n, root in enumerate(roots):
            await bot.ask(ADA, SALES, f"second{n}?", root)
        await asyncio.sleep(AWAY)
        await back(server, how)
        for n, root in enumerate(roots):
            await bot.ask(ADA, SALES, f"third{n}?", root)

        def all_heard() -> str:
            text = "\n".join(json.dumps(each.body["input"]) for each in bot.api.requests)
            words = ("first", "second", "third")
            return text if all(f"{w}{n}?" in text for w in words for n in range(4)) else ""

        text = await bot.ws.until(all_heard, SOON)
        for n in range(4):
            first, second, third = (text.index(f"{w}{n}?") for w in ("first", "second", "third"))
            assert first < second < third, n
        for root in roots:
            await bot.answered(SALES, root, seconds=20)
        assert len(bot.api.requests) <= 1 + 3 * len(roots)  # none was answered twice


async def test_one_line_does_not_hold_up_another() -> None:
    """R10: order is kept within a thread; a second copy of an event waits for the first."""
    done: list[str] = []
    is_away = {"a1"}

    async def work(name: str) -> str:
        if name in is_away:
            raise StoreUnavailable("away")
        done.append(name)
        return name

    async with EventRetries.open() as retries:
        first = asyncio.create_task(
            retries.run_in_order("a1", lambda: work("a1"), line="a", when=1)
        )
        await asyncio.sleep(0)
        copy = asyncio.create_task(
            retries.run_in_order("a1", lambda: work("copy"), line="a", when=1)
        )
        second = asyncio.create_task(
            retries.run_in_order("a2", lambda: work("a2"), line="a", when=2)
        )
        assert await retries.run_in_order("b1", lambda: work("b1"), line="b", when=3) == "b1"
        is_away.clear()
        assert list(await asyncio.gather(first, copy, second)) == ["a1", "a1", "a2"]
    assert ",".join(done) == "b1,a1,a2"


async def test_only_so_many_events_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """R10: memory is bounded; beyond it, and at the end, Slack's own copies have to do."""
    monkeypatch.setattr(tasks, "MOST", 3)
    monkeypatch.setattr(tasks, "ACK_SECONDS", 0.05)
    tries: list[int] = []

    async def away(number: int) -> None:
        tries.append(number)
        raise StoreUnavailable("away")

    async with EventRetries.open() as retries:
        for number in range(5):
            with pytest.raises(StoreUnavailable):
                await retries.run_in_order(str(number), lambda n=number: away(n), line=str(number))  # type: ignore[misc]
        await asyncio.sleep(1.2)
    assert [tries.count(number) > 1 for number in range(5)] == [True] * 3 + [False] * 2
    before = len(tries)
    await asyncio.sleep(0.6)
    assert len(tries) == before
