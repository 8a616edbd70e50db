"""The bot's commands as processes of their own, which can be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from bot.dev.model import ResponsesServer
from bot.dev.workspace import Workspace
from tests.support.commands import Command, start, start_code
from tests.support.deployment import MODEL

_LOOK_AGAIN = 0.05
_STARTING = 180.0  # on a machine with much else to do


def environment(ws: Workspace, api: ResponsesServer, folder: Path, **more: str) -> dict[str, str]:
    """The settings of a bot between the two stand-ins, with a lease that soon runs out. What is in
    `more` comes last, and names the environment's keys in lower case."""
    config = folder / "bot.toml"
    if not config.exists():
        config.write_text("[engine]\nlease = 1.0\nsweep = 1.0\n")
    values = {
        "slack_bot_token": ws.bot_token,
        "slack_app_token": ws.app_token,
        "slack_api_url": ws.api_url,
        "openai_api_key": api.api_key,
        "openai_base_url": api.url,
        "openai_model": MODEL,
        "bot_data_dir": str(folder),
        "bot_config": str(config),
    }
    return {key.upper(): value for key, value in (values | more).items()}


@asynccontextmanager
async def started(command: str, settings: Mapping[str, str], log: Path) -> AsyncGenerator[Command]:
    """`bot <command>`, once it is ready; killed at the end. What it says goes to `log`, and what it
    could not put away goes with it."""
    begin = _opened(log)
    with tempfile.TemporaryDirectory(prefix="bot-killed-", ignore_cleanup_errors=True) as temporary:
        process = start(
            command,
            environment={"PATH": os.environ["PATH"], "TMPDIR": temporary, **settings},
            folder=Path.cwd(),
            out=log,
            err=log,
        )
        async with _until_killed(process, command, log, begin):
            yield process


@asynccontextmanager
async def started_code(
    code: str, settings: Mapping[str, str], log: Path
) -> AsyncGenerator[Command]:
    """Python code that says " ready", as `started` does it with a command."""
    begin = _opened(log)
    process = start_code(code, environment=settings, out=log, err=log)
    async with _until_killed(process, "code", log, begin):
        yield process


@asynccontextmanager
async def _until_killed(
    process: Command, command: str, log: Path, begin: int
) -> AsyncGenerator[None]:
    try:
        async with asyncio.timeout(_STARTING):
            while " ready" not in _said(log, begin):
                if process.returncode == -signal.SIGKILL:
                    break  # by its failpoint, at work that it found before it was ready
                if process.returncode is not None:
                    raise RuntimeError(f"bot {command} ended: {_said(log, begin)[-2_000:]}")
                await asyncio.sleep(_LOOK_AGAIN)
        yield
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _opened(log: Path) -> int:
    """Where it goes on."""
    log.touch()
    return log.stat().st_size


def _said(log: Path, begin: int) -> str:
    return log.read_bytes()[begin:].decode("utf-8", errors="replace")


async def metrics_at(port: int) -> dict[str, float]:
    """What a process counts, by name with labels."""
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"http://127.0.0.1:{port}/metrics") as page,
    ):
        lines = [each.rsplit(" ", 1) for each in (await page.text()).splitlines()]
    return {name: float(value) for name, value in lines if not name.startswith("#")}
