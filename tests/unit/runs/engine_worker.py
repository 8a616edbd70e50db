"""A worker process to be killed: says what it starts, and never finishes it."""

from __future__ import annotations

import asyncio
import sys

from bot.core.request import Request
from bot.runs.queue.engine import EngineOptions, open_engine
from bot.store import open_stores


async def hang(request: Request, deaths: int) -> None:
    print(request.id, deaths, flush=True)  # noqa: T201 - the test reads it
    await asyncio.Event().wait()


async def main(url: str, lease: float) -> None:
    async with (
        open_stores(url) as stores,
        open_engine(url, stores.mailbox, EngineOptions(lease=lease)) as engine,
        engine.work(hang),
    ):
        await asyncio.Event().wait()


asyncio.run(main(sys.argv[1], float(sys.argv[2])))
