"""`bot doctor`: checks of the settings and of everything that they name, each with its fix."""

from __future__ import annotations

import asyncio

from bot.app.run_setup import with_running_redis
from bot.app.tool_providers import secret_variables
from bot.ops.doctor.check import Check, Level
from bot.ops.doctor.collector import examine_collector
from bot.ops.doctor.databases import examine_databases
from bot.ops.doctor.encryption import examine_encryption
from bot.ops.doctor.env_file import examine_env_file
from bot.ops.doctor.isolation import examine_isolation
from bot.ops.doctor.mcp import examine_mcp
from bot.ops.doctor.model import examine_model
from bot.ops.doctor.pause import examine_pause
from bot.ops.doctor.redis import examine_redis
from bot.ops.doctor.refused import examine_refused
from bot.ops.doctor.report import print_report
from bot.ops.doctor.running import examine_running
from bot.ops.doctor.slack import examine_slack
from bot.ops.doctor.tools import examine_tools
from bot.ops.doctor.web_search import examine_web_search
from bot.settings import Settings

__all__ = ["Check", "Level", "examine", "examine_deployment", "print_report"]


async def examine(settings: Settings) -> list[Check]:
    """Check everything. Return the results in the order of a setup; change nothing."""
    parts = await asyncio.gather(  # all services are checked at once
        examine_tools(settings),
        examine_slack(settings),
        examine_redis(settings),
        examine_refused(with_running_redis(settings)),
        examine_pause(with_running_redis(settings)),
        examine_encryption(with_running_redis(settings)),
        examine_model(settings),
        examine_databases(settings),
        examine_isolation(),
        examine_mcp(with_running_redis(settings)),
        examine_web_search(settings),
        examine_collector(settings),
    )
    return [
        *examine_env_file(secret_variables(settings)),
        *(check for part in parts for check in part),
    ]


async def examine_deployment(settings: Settings) -> list[Check]:
    """Check what runs now: its Redis, workers, queues and the runs of the last hour."""
    here = with_running_redis(settings)
    parts = await asyncio.gather(
        examine_redis(settings), examine_pause(here), examine_refused(here), examine_running(here)
    )
    return [check for part in parts for check in part]
