"""`bot doctor`: could the bot work with these settings, and how to mend what keeps it from it."""

from __future__ import annotations

import asyncio

from bot.doctor.collector import examine_collector
from bot.doctor.databases import examine_databases
from bot.doctor.encryption import examine_encryption
from bot.doctor.env_file import examine_env_file
from bot.doctor.findings import Finding, Level
from bot.doctor.mcp import examine_mcp
from bot.doctor.model import examine_model
from bot.doctor.pause import examine_pause
from bot.doctor.redis import examine_redis
from bot.doctor.refused import examine_refused
from bot.doctor.report import print_report
from bot.doctor.slack import examine_slack
from bot.doctor.tools import examine_tools
from bot.doctor.web_search import examine_web_search
from bot.runners import beside
from bot.settings import Settings

__all__ = ["Finding", "Level", "examine", "print_report"]


async def examine(settings: Settings) -> list[Finding]:
    """Everything that was looked at, in the order in which one sets it up. Changes nothing."""
    parts = await asyncio.gather(
        examine_slack(settings),
        examine_redis(settings),
        examine_refused(beside(settings)),
        examine_pause(beside(settings)),
        examine_encryption(beside(settings)),
        examine_model(settings),
        examine_databases(settings),
        examine_mcp(beside(settings)),
        examine_web_search(settings),
        examine_collector(settings),
    )
    read = [*examine_env_file(), *examine_tools(settings)]
    return [*read, *(finding for part in parts for finding in part)]
