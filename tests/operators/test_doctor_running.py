"""`bot doctor --running` looks at a live deployment and says what is wrong with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.app.process import bot
from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.dev.model import ModelRequest, Reply, ResponsesServer, finish, held
from bot.dev.workspace import ADA, BEN, Workspace
from bot.ops.doctor import Check, Level, examine_deployment
from bot.runs.queue.engine import EngineOptions
from bot.settings import Settings
from bot.slack.message import repair
from bot.store import open_stores
from tests.support.deployment import Deployment, configured
from tests.support.redis_process import redis_process
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"


@asynccontextmanager
async def one_at_a_time(folder: Path) -> AsyncGenerator[tuple[Deployment, Settings, asyncio.Event]]:
    """A workspace for a bot that has room for one run, whose model waits for the event."""
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with (
        redis_process(folder, **{"maxmemory-policy": "noeviction"}) as redis,
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
    ):
        settings = configured(ws, api, redis.url, engine=EngineOptions(concurrency=1, sweep=1.0))
        yield Deployment(ws, api), settings, go


async def found(settings: Settings) -> dict[str, Check]:
    return {each.subject: each for each in await examine_deployment(settings)}


async def test_a_busy_deployment_is_told_from_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who runs, who waits and since when; and without a worker, that nobody answers."""
    monkeypatch.setattr(repair, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(repair, "_MIN_WAIT", timedelta(seconds=1))
    async with one_at_a_time(tmp_path) as (at, settings, go):
        async with bot(settings):
            first = await at.ask(ADA, SALES, "How many?")
            await at.ws.until(lambda: at.api.requests)
            second = await at.ask(BEN, GENERAL, "How few?")
            await at.ws.until(lambda: "in line" in at.ws.status(GENERAL, second).text)
            checks = await found(settings)
            assert "1 running" in checks["workers"].text
            assert checks["being answered"].text.startswith("1 thread")
            assert checks["waiting for a worker"].text.startswith("1 thread")
            assert {each.level for each in checks.values()} == {Level.OK}
            go.set()
            await at.answered(SALES, first)
            await at.answered(GENERAL, second)
            await at.ws.until(lambda: at.ws.status(GENERAL, second).session == "active")
            checks = await found(settings)
            assert "2 completed" in checks["answered in the last hour"].text
            assert checks["waiting for a worker"].text == "nothing"
        async with open_stores(str(settings.redis_url)) as stores:
            await stores.redis.call(
                "DEL", "bot:engine:workers"
            )  # as if it had been silent for a minute
        checks = await found(settings)
        assert checks["workers"].level is Level.PROBLEM
        assert "bot worker" in checks["workers"].fix


async def test_a_dead_web_process_is_found(tmp_path: Path) -> None:
    """Workers run, and nothing arrives: a process counts while it is ready, and not after its end."""
    async with one_at_a_time(tmp_path) as (_, settings, _), bot(settings, intake=False):
        await until_fine(settings, "workers")
        checks = await found(settings)
        assert checks["receiving events"].level is Level.PROBLEM
        assert "bot web" in checks["receiving events"].fix
        async with bot(settings, work=False):
            assert "1 ready" in (await until_fine(settings, "receiving events")).text
        assert (await found(settings))["receiving events"].level is Level.PROBLEM


async def until_fine(settings: Settings, subject: str) -> Check:
    """Wait until nothing is wrong there."""
    async with asyncio.timeout(20):
        while (check := (await found(settings))[subject]).level is not Level.OK:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        return check


async def test_questions_that_wait_too_long_and_a_failing_model_are_told(tmp_path: Path) -> None:
    """Each with what to do about it."""
    async with one_at_a_time(tmp_path) as (at, settings, _):
        async with bot(settings, work=False):
            thread = await at.ask(ADA, SALES, "How many?")
            async with open_stores(str(settings.redis_url)) as stores:
                while not (threads := await stores.mailbox.threads()):  # noqa: ASYNC110
                    await asyncio.sleep(0.02)
                [request] = await stores.mailbox.all_of(threads[0])
                late = datetime.now(UTC) - timedelta(minutes=11)
                await stores.mailbox.rewrite(request.model_copy(update={"received_at": late}))
                for reasons in (
                    ("completed", "model_error"),
                    ("model_error", "completed", "model_error"),
                ):
                    few = (await found(settings))["answered in the last hour"]
                    await stores.audit.append(
                        [
                            AuditEntry(kind=AuditKind.ENDED, team=at.ws.team_id, who=ADA, what=each)
                            for each in reasons
                        ]
                    )
        assert few.level is Level.WARNING  # too few for a share, and not fine
        assert few.text.startswith("1 of 2 runs ended because of the model: ")
        assert thread
        checks = await found(settings)
        assert checks["waiting for a worker"].level is Level.PROBLEM
        assert "11 min old" in checks["waiting for a worker"].text
        assert checks["answered in the last hour"].level is Level.PROBLEM
        assert (
            "60% of the runs ended because of the model" in checks["answered in the last hour"].text
        )
        assert "`model service failed`" in checks["answered in the last hour"].fix
