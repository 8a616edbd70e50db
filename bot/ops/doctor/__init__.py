"""`bot doctor`: checks of the settings and of everything that they name, each with its fix."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from bot.app.run_setup import with_running_redis
from bot.app.tool_providers import secret_variables
from bot.core.check import Check, Level, problem
from bot.ops.doctor.features import examine_features
from bot.ops.doctor.machine import examine_collector, examine_env_file, examine_isolation
from bot.ops.doctor.model import examine_model
from bot.ops.doctor.redis import (
    examine_encryption,
    examine_keys,
    examine_pause,
    examine_redis,
    examine_refused,
)
from bot.ops.doctor.report import print_report
from bot.ops.doctor.running import examine_running
from bot.ops.doctor.slack import examine_slack
from bot.ops.doctor.tools import examine_databases, examine_mcp, examine_tools, examine_web_search
from bot.settings import Settings
from bot.text.invisible_text import readable
from bot.text.redaction import redacted

_MOST_SAID = 300
_REPORT = "look at the settings of this part; if they are right, report this line as a bug"

__all__ = ["Check", "Level", "examine", "examine_deployment", "print_report"]


async def examine(settings: Settings) -> list[Check]:
    """Check everything. Return the results in the order of a setup; change nothing."""
    here = with_running_redis(settings)
    checks = await _all_of(  # all services are checked at once
        tools=examine_tools(settings),
        Slack=examine_slack(settings),
        Redis=examine_redis(settings),
        refused=examine_refused(here),
        pause=examine_pause(here),
        encryption=examine_encryption(here),
        model=examine_model(settings),
        databases=examine_databases(settings),
        isolation=examine_isolation(),
        MCP=examine_mcp(here),
        search=examine_web_search(settings),
        traces=examine_collector(settings),
        **examine_features(here),
    )
    files = examine_env_file(secret_variables(settings))
    return [*files, *examine_keys(settings), *checks]


async def examine_deployment(settings: Settings) -> list[Check]:
    """Check what runs now: its Redis, workers, queues and the runs of the last hour."""
    here = with_running_redis(settings)
    return await _all_of(
        Redis=examine_redis(settings),
        pause=examine_pause(here),
        refused=examine_refused(here),
        running=examine_running(here),
    )


async def _all_of(**parts: Awaitable[list[Check]]) -> list[Check]:
    """Return all checks. A part that breaks is a problem of its own, and hides no other."""
    done = await asyncio.gather(*parts.values(), return_exceptions=True)
    checks: list[Check] = []
    for subject, result in zip(parts, done, strict=True):
        if isinstance(result, Exception):
            why = f"{type(result).__name__}: {redacted(str(result))}"[:_MOST_SAID]
            checks.append(problem(subject, f"the check broke: {readable(why)}", _REPORT))
        elif isinstance(result, BaseException):
            raise result
        else:
            checks += result
    return checks
