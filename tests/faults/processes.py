"""The bot's commands as processes of their own, which can be killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from bot.local.model import ResponsesServer
from bot.local.workspace import Workspace
from tests.support.deployment import MODEL

_LOOK_AGAIN = 0.05
_STARTING = 60.0


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
async def started(
    command: str, settings: Mapping[str, str], log: Path
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """`bot <command>`, once it is ready; killed at the end. What it says goes to `log`, and what it
    could not put away goes with it."""
    with (
        log.open("ab") as out,
        tempfile.TemporaryDirectory(prefix="bot-killed-", ignore_cleanup_errors=True) as temporary,
    ):
        begin = out.tell()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", command),
            env={"PATH": os.environ["PATH"], "TMPDIR": temporary, **settings},
            stdout=out,
            stderr=out,
        )
        async with _until_killed(process, command, log, begin):
            yield process


@asynccontextmanager
async def _until_killed(
    process: asyncio.subprocess.Process, command: str, log: Path, begin: int
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
