"""What a host does with the Procfile: start a web and a worker process, send work, stop them."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp

from bot.dev.model import ResponsesServer, Script, call, finish
from bot.dev.workspace import ADA, Workspace
from tests.support.deployment import MODEL, Deployment
from tests.support.ports import free_port
from tests.support.redis_process import redis_process
from tests.support.runs import answer

ROOT = Path(__file__).parents[2]
SALES = "C0SALES001"


@asynccontextmanager
async def procfile_runner(
    port: int, folder: Path, **settings: str
) -> AsyncGenerator[asyncio.subprocess.Process]:
    """Honcho with the Procfile; `web` listens on `port`. Killed at the end if it still runs."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        **settings,
    }
    arguments = ("start", "-d", str(folder), "-f", str(ROOT / "Procfile"), "-p", str(port))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "honcho", *arguments),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def ready(port: int) -> None:
    """Waits until the host's probe would say so."""
    async with asyncio.timeout(20), aiohttp.ClientSession() as session:
        while True:
            try:
                async with session.get(f"http://127.0.0.1:{port}/readyz") as reply:
                    if reply.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                pass
            await asyncio.sleep(0.1)


async def test_web_and_worker_answer_and_end(tmp_path: Path) -> None:
    """Events over HTTP go to `web`, `worker` answers, SIGTERM ends both with nothing left."""
    brain = Script([call("calculate", {"expression": "1+1"}), finish(answer("Two."))])
    port = free_port()
    async with (
        redis_process(tmp_path) as redis,
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
        procfile_runner(
            port,
            tmp_path,
            SLACK_BOT_TOKEN=ws.bot_token,
            SLACK_SIGNING_SECRET=ws.signing_secret,
            SLACK_API_URL=ws.api_url,
            OPENAI_API_KEY=api.api_key,
            OPENAI_BASE_URL=api.url,
            OPENAI_MODEL=MODEL,
            REDIS_URL=redis.url,
        ) as host,
    ):
        await ready(port)
        await ws.listen_over_http(f"http://127.0.0.1:{port}/slack/events")
        bot = Deployment(ws, api)
        ts = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, ts, seconds=30)
        assert len(bot.own(SALES, ts)) == 1
        host.terminate()
        assert host.stdout is not None
        async with asyncio.timeout(20):
            said = (await host.stdout.read()).decode()
            await host.wait()
    for name in ("web.1", "worker.1"):
        assert re.search(rf"{name}\s*\| .*INFO +stopped", said), said
    assert "Traceback" not in said
