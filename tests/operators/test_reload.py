"""SIGHUP makes a running bot take up its settings, and loses nothing."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from bot.cli.processes import _run_with_settings
from bot.core.errors import StoreUnavailable
from bot.dev.model import ModelRequest, Reply, ResponsesServer, finish, held
from bot.dev.workspace import ADA, Workspace
from bot.settings import Settings
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"


@pytest.fixture(autouse=True)
def hangups_are_heard() -> Iterator[None]:
    """A process that was started to ignore SIGHUP, as by nohup, would go on ignoring it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


async def says(log: Path, text: str, times: int = 1) -> None:
    """Wait until the log says it so often."""
    async with asyncio.timeout(60):
        while log.read_text().count(text) < times:  # noqa: ASYNC110, ASYNC240 - another process's file
            await asyncio.sleep(0.05)


async def test_it_takes_up_new_settings_and_keeps_the_old_ones_if_they_are_wrong(
    tmp_path: Path,
) -> None:
    """A question under way is answered all the same; a typing error in bot.toml stops nobody."""
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        at = Deployment(ws, api)
        settings, log = environment(ws, api, tmp_path), tmp_path / "log"
        config = tmp_path / "bot.toml"
        before = config.read_text().replace("[engine]\n", "[engine]\ngrace = 1.0\n")
        config.write_text(before)
        async with started("serve", settings, log) as process:
            [ready] = [line for line in log.read_text().splitlines() if " ready: @" in line]
            assert "; Socket Mode; " in ready
            assert "; Redis in " in ready
            config.write_text(f"{before}[access]\nusers = 3\n")
            process.send_signal(signal.SIGHUP)
            await says(log, "the old settings stay: Wrong setting: access.users")
            config.write_text(f"{before}[hosted]\nfile_search = 7\n")
            process.send_signal(signal.SIGHUP)
            await says(log, "the old settings stay", 2)
            asked = await at.ask(ADA, SALES, "How many?")
            await ws.until(lambda: api.requests)
            config.write_text(f'{before}[channels.{GENERAL}]\npeople = ["U0BEN00001"]\n')
            process.send_signal(signal.SIGHUP)
            await says(log, "taking up the settings channels")
            await says(log, " ready", 2)
            go.set()
            await at.answered(SALES, asked, seconds=60)
            assert len(at.own(SALES, asked)) == 1
            process.send_signal(signal.SIGHUP)
            await says(log, "the settings are as they were")
            outside = await at.ask(ADA, GENERAL, "How many?")
            await ws.until(lambda: [e for e in ws.effects if e.method == "chat.postEphemeral"])
            assert at.own(GENERAL, outside) == []
            (tmp_path / "own").mkdir()
            (tmp_path / "own" / "crm.py").write_text("def f(:\n")
            config.write_text(f"{before}[tools]\npaths = ['{tmp_path}/own']\n")
            (tmp_path / "own").chmod(0o777)
            process.send_signal(signal.SIGHUP)
            await says(log, "the old settings stay: Wrong setting: tools.paths: others can change")
            (tmp_path / "own").chmod(0o700)
            process.send_signal(signal.SIGHUP)
            await says(log, "cannot start with the new settings, so the old ones stay")
            await says(log, " ready", 3)
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(60):
                assert await process.wait() == 0


def settings_each_time(first: str, *more: str) -> Callable[[], Settings]:
    """What the command reads, at each reading."""
    rest = iter([Settings(openai_model=each) for each in (first, *more)])
    return lambda: next(rest)


async def test_a_signal_to_end_while_it_drains_for_new_settings_ends_it() -> None:
    """O7: it does not start once more, which would take a host's patience."""
    started: list[str] = []

    @asynccontextmanager
    async def opened(settings: Settings) -> AsyncGenerator[dict[str, str]]:
        started.append(settings.openai_model)
        os.kill(os.getpid(), signal.SIGHUP)
        yield {}
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.05)

    async with asyncio.timeout(60):
        await _run_with_settings(settings_each_time("first", "second"), opened)
    assert started == ["first"]


async def test_the_old_settings_stay_where_the_new_ones_reach_nothing() -> None:
    """O7: a Redis or a Slack at a mistyped address cannot be told before the start."""
    started: list[str] = []

    @asynccontextmanager
    async def opened(settings: Settings) -> AsyncGenerator[dict[str, str]]:
        started.append(settings.openai_model)
        if settings.openai_model == "second":
            raise StoreUnavailable("Redis cannot be reached.")
        os.kill(os.getpid(), signal.SIGHUP if len(started) == 1 else signal.SIGTERM)
        yield {}

    async with asyncio.timeout(60):
        await _run_with_settings(settings_each_time("first", "second"), opened)
    assert started == ["first", "second", "first"]
