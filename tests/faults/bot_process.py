"""`bot serve`, but for a short lease, so that a killed one's work is soon taken up again."""

from __future__ import annotations

import asyncio
import functools

import bot.app
from bot.runs.engine import EngineOptions, open_engine
from bot.settings import load_settings


async def main() -> None:
    options = EngineOptions(lease=1.0, sweep=1.0)
    vars(bot.app)["open_engine"] = functools.partial(open_engine, options=options)
    async with bot.app.bot(load_settings()):
        print("ready", flush=True)  # noqa: T201 - the test reads it
        await asyncio.Event().wait()


asyncio.run(main())
