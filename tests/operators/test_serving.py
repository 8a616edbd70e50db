"""What an operator's host and Prometheus are told over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families
from redis.asyncio import Redis

import bot.app.process
from bot.app import workspace_intake
from bot.core import failpoints
from bot.core.background import alongside
from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, call, finish, held
from bot.dev.workspace import ADA, Workspace
from bot.slack.edge.client import SlackApiWatch, slack_clients
from bot.store import open_stores
from tests.support.deployment import Deployment, configured, deployed
from tests.support.ports import free_port
from tests.support.redis_process import RedisProcess, redis_process
from tests.support.runs import answer

SALES = "C0SALES001"


class Probe:
    """Asks a process what it says of itself."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self._session = session
        self._base = f"http://127.0.0.1:{port}"

    async def get(self, path: str) -> tuple[int, Any]:
        async with self._session.get(f"{self._base}{path}") as reply:
            return reply.status, await reply.json()

    async def ready(self) -> dict[str, bool]:
        status, report = await self.get("/readyz")
        assert (status == 200) is report["ready"]
        return dict(report)

    async def until_ready_is(self, *, ready: bool, because: str | None = None) -> dict[str, bool]:
        """Its report, once that is so; `because` names what is missing."""
        async with asyncio.timeout(15):
            while True:
                with suppress(aiohttp.ClientConnectionError):  # it has not begun to listen
                    report = await self.ready()
                    if report["ready"] is ready and (because is None or not report.get(because)):
                        return report
                await asyncio.sleep(0.05)

    async def figures(self) -> dict[str, float]:
        """`name{label=value,…}`, labels in alphabetical order, to its value."""
        async with self._session.get(f"{self._base}/metrics") as reply:
            assert reply.status == 200
            families = text_string_to_metric_families(await reply.text())
            return {
                f"{each.name}{{{','.join(f'{k}={v}' for k, v in sorted(each.labels.items()))}}}": each.value
                for family in families
                for each in family.samples
            }


@asynccontextmanager
async def probing(port: int) -> AsyncGenerator[Probe]:
    async with aiohttp.ClientSession() as session:
        yield Probe(session, port)


class Living:
    """A bot in a task of its own, so that a test goes on while it starts and while it stops."""

    def __init__(self, deploying: AbstractAsyncContextManager[Deployment]) -> None:
        self.started: asyncio.Future[Deployment] = asyncio.get_running_loop().create_future()
        self.stop = asyncio.Event()
        self._deploying = deploying

    async def live(self) -> None:
        async with self._deploying as bot:
            self.started.set_result(bot)
            await self.stop.wait()


async def test_the_figures_say_what_happened(redis_url: str) -> None:
    """Requests, runs, tools, model calls and what they took, Slack's answers."""
    brain = Script([call("calculate", {"expression": "1+1"}), finish(answer("Two."))])
    port = free_port()
    async with deployed(brain, redis_url, bot_metrics_port=port) as bot, probing(port) as probe:
        bot.ws.faults.fail("users.info", 429, retry_after=0)
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts)
        await bot.ws.until(lambda: not bot.ws.status(SALES, ts).text)
        async with asyncio.timeout(60):
            while not (  # noqa: ASYNC110
                (figures := await probe.figures())["bot_requests_waiting{}"]
                == figures["bot_runs_undelivered{}"]
                == 0
            ):
                await asyncio.sleep(0.05)
    assert figures["bot_requests_repeated_total{}"] == 0  # a mention is two events
    assert figures["bot_requests_total{entry=mention}"] == 1
    assert figures["bot_runs_total{status=success,stop_reason=completed}"] == 1
    assert figures["bot_run_seconds_count{}"] == 1
    assert figures["bot_tool_calls_total{ok=true,tool=calculate}"] == 1
    assert figures["bot_model_calls_total{model=gpt-5.4-mini,outcome=ok}"] == 2
    assert figures["bot_model_tokens_total{kind=input,model=gpt-5.4-mini}"] > 0
    assert figures["bot_model_cost_dollars_total{model=gpt-5.4-mini}"] > 0
    assert figures["bot_slack_calls_total{method=users.info,status=429}"] == 1
    assert figures["bot_slack_calls_total{method=users.info,status=200}"] >= 1


async def test_a_run_whose_end_is_put_up_again_counts_once(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(O8, G6) It broke off when the answer was up, before anything could be noted of that."""
    port = free_port()
    (tmp_path / "run-delivered").write_text("raise")
    monkeypatch.setattr(failpoints, "_orders", tmp_path)
    brain = Script([finish(answer("Two."))])
    async with deployed(brain, redis_url, bot_metrics_port=port) as bot, probing(port) as probe:
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts)
        async with asyncio.timeout(60), open_stores(redis_url) as stores:
            while await stores.mailbox.waiting_anywhere():  # noqa: ASYNC110 - Redis tells nobody
                await asyncio.sleep(0.05)
        figures = await probe.figures()
    assert (tmp_path / "run-delivered.taken").exists()
    assert figures["bot_runs_total{status=success,stop_reason=completed}"] == 1


async def test_the_figures_say_what_is_going_on(redis_url: str) -> None:
    """A run under way, and the request behind it; a failing model by kind."""
    go, port = asyncio.Event(), free_port()

    def brain(request: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with deployed(brain, redis_url, bot_metrics_port=port) as bot, probing(port) as probe:
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: bot.api.requests)
        figures = await probe.figures()
        assert figures["bot_runs_active{}"] == figures["bot_requests_waiting{}"] == 1
        go.set()
        await bot.answered(SALES, ts)


async def test_ready_means_that_redis_and_slack_are_there(tmp_path: Path) -> None:
    """Alive throughout: a process that waits for Redis, or for room there, must not be killed for
    it."""
    port = free_port()
    async with (
        redis_process(tmp_path) as redis,
        deployed(Script([]), redis.url, bot_metrics_port=port) as bot,
        probing(port) as probe,
    ):
        report = await probe.until_ready_is(ready=True)
        assert set(report) == {"ready", "serving", "event_loop", "redis", "slack"}
        redis.freeze()
        report = await probe.until_ready_is(ready=False, because="redis")
        assert report["slack"]
        assert (await probe.get("/healthz"))[0] == 200
        redis.thaw()
        await probe.until_ready_is(ready=True)
        async with Redis.from_url(redis.url) as full:
            await full.config_set("maxmemory", 1)
            await probe.until_ready_is(ready=False, because="redis")
            await full.config_set("maxmemory", 0)
        await probe.until_ready_is(ready=True)
        bot.ws.faults.drop_sockets()
        await probe.until_ready_is(ready=False, because="slack")
        await probe.until_ready_is(ready=True)


async def test_a_revoked_token_shows_in_readiness_and_metrics(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O8: over Socket Mode too, where the connections stay open: nobody can be answered any more."""
    monkeypatch.setattr(workspace_intake, "SlackApiWatch", partial(SlackApiWatch, every=0.05))
    port = free_port()
    async with (
        deployed(Script([]), redis_url, bot_metrics_port=port) as bot,
        probing(port) as probe,
        slack_clients(bot.ws.bot_token, base_url=bot.ws.api_url) as clients,
    ):
        await probe.until_ready_is(ready=True)
        assert (await probe.figures())["bot_ready{check=slack}"] == 1
        await clients.writes.auth_revoke()
        report = await probe.until_ready_is(ready=False, because="slack")
        assert report["redis"]
        assert (await probe.figures())["bot_ready{check=slack}"] == 0
        assert (await probe.get("/healthz"))[0] == 200


async def test_over_http_ready_means_that_slack_answers(redis_url: str) -> None:
    """O8: no connection shows it there; a probe calls nothing, however often it comes."""
    port = free_port()
    async with (
        deployed(Script([]), redis_url, slack_app_token=None, port=port) as bot,
        probing(port) as probe,
    ):
        report = await probe.until_ready_is(ready=True)
        assert report["slack"]
        asked = [each for each in bot.ws.effects if each.method == "auth.test"]
        for _ in range(50):
            assert (await probe.ready())["ready"]
        assert [each for each in bot.ws.effects if each.method == "auth.test"] == asked


async def test_slack_is_there_until_it_refuses_the_token_or_stays_away() -> None:
    """O8: one lost answer says nothing; a revoked token does at once, a Slack that is away in time."""
    async with Workspace.open() as ws, slack_clients(ws.bot_token, base_url=ws.api_url) as clients:
        watch = SlackApiWatch(clients.live.auth_test, every=0.02, good_for=0.5)
        assert not await watch.answers()
        async with alongside(watch.run(), name="watch"):
            await _until(watch, answers=True)
            ws.faults.fail("auth.test", "internal_error")
            before = len(ws.effects)
            await ws.until(lambda: len(ws.effects) > before + 1)
            assert await watch.answers()
            ws.faults.fail("auth.test", 503, times=100_000)
            await _until(watch, answers=False)
            ws.faults.clear()
            await _until(watch, answers=True)
            await clients.writes.auth_revoke()
            before = len(ws.effects)
            await ws.until(lambda: len(ws.effects) > before + 1)
            assert not await watch.answers()


async def _until(watch: SlackApiWatch, *, answers: bool) -> None:
    async with asyncio.timeout(15):
        while await watch.answers() is not answers:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_process_that_drains_is_alive_and_not_ready(redis_url: str) -> None:
    """A host then sends nothing more, and does not kill it before its runs have ended."""
    go, port = asyncio.Event(), free_port()

    def brain(request: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with probing(port) as probe, asyncio.TaskGroup() as tasks:
        process = Living(deployed(brain, redis_url, bot_metrics_port=port))
        tasks.create_task(process.live())
        bot = await process.started
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: bot.api.requests)
        process.stop.set()
        await probe.until_ready_is(ready=False, because="serving")
        assert (await probe.get("/healthz"))[0] == 200
        go.set()
    assert len(bot.terminals(SALES, ts)) == 1


async def test_a_redis_that_comes_a_little_later(tmp_path: Path) -> None:
    """Everything is started at once; the bot waits, alive and not ready."""
    redis, port = RedisProcess(tmp_path), free_port()
    process = Living(deployed(Script([finish(answer("Two."))]), redis.url, bot_metrics_port=port))
    async with probing(port) as probe, asyncio.TaskGroup() as tasks:
        tasks.create_task(process.live())
        await probe.until_ready_is(ready=False, because="redis")
        assert (await probe.get("/healthz"))[0] == 200
        await redis.start()
        bot = await process.started
        await probe.until_ready_is(ready=True)
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts)
        process.stop.set()
    await redis.kill()


async def test_a_redis_that_never_comes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The process gives up with one line, and its host starts it again."""
    monkeypatch.setattr(bot.app.process, "REDIS_SECONDS", 0.1)
    with pytest.raises(StoreUnavailable, match="Redis"):
        async with deployed(Script([]), f"redis://127.0.0.1:{free_port()}/0"):
            pass


async def test_a_redis_that_does_not_let_us_in(tmp_path: Path) -> None:
    """That does not pass by waiting."""
    async with redis_process(tmp_path) as redis:
        async with Redis.from_url(redis.url) as client:
            await client.config_set("requirepass", "secret")
        with pytest.raises(ConfigurationError, match="REDIS_URL"):
            async with deployed(Script([]), redis.url):
                pass


async def test_a_port_that_is_taken_is_one_clear_line(redis_url: str) -> None:
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=Script([])) as api,
        bot.app.process.bot(configured(ws, api, redis_url, port=(port := free_port()))),
    ):
        with pytest.raises(ConfigurationError, match=str(port)):
            async with bot.app.process.bot(configured(ws, api, redis_url, port=port)):
                pass


async def test_a_worker_leaves_the_port_to_the_web_process_beside_it(redis_url: str) -> None:
    """They often share one environment, PORT included; figures go to a port of their own."""
    port, metrics_port = free_port(), free_port()
    async with Workspace.open() as ws, ResponsesServer.open(brain=Script([])) as api:
        web = configured(ws, api, redis_url, port=port)
        worker = web.model_copy(update={"bot_metrics_port": metrics_port})
        async with (
            bot.app.process.bot(web, work=False),
            bot.app.process.bot(worker, intake=False),
            probing(port) as at_web,
            probing(metrics_port) as at_worker,
        ):
            assert "slack" in await at_web.until_ready_is(ready=True)
            assert "slack" not in await at_worker.until_ready_is(ready=True)
            assert "bot_runs_active{}" in await at_worker.figures()
