"""`bot serve`, but catching up slowly enough to be killed in the middle, and soon again."""

from __future__ import annotations

import asyncio
import functools

import bot.app.process
import bot.app.workspace_intake
import bot.slack.intake.catch_up
import bot.store.workspaces.catch_up
from bot.settings import load_settings
from bot.slack.intake.catch_up import CatchUp


async def main(pace: float) -> None:
    vars(bot.app.workspace_intake)["CatchUp"] = functools.partial(CatchUp, pace=pace)
    vars(bot.slack.intake.catch_up)["LOOK_SECONDS"] = 0.2
    vars(bot.store.workspaces.catch_up)["LOCK_SECONDS"] = 1
    async with bot.app.process.bot(load_settings()):
        print("ready", flush=True)  # noqa: T201 - the test reads it
        await asyncio.Event().wait()
