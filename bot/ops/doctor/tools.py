"""The tools: whether all files of `tools/` make some, and what bot.toml says of those in channels."""

from __future__ import annotations

from functools import partial

from bot.app.run_setup import is_tool_name
from bot.app.tool_loading import catalogue
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.ops.doctor.findings import Finding, ok, problem
from bot.settings import Settings
from bot.settings.checks import check_tools


def examine_tools(settings: Settings) -> list[Finding]:
    """Calls none of them."""
    try:
        made = ok("tools", f"{len(catalogue().tools)} are there")
        check_tools(settings, partial(is_tool_name, settings))
    except ToolDefinitionError as error:
        return [problem("tools", str(error), "correct the file, or take it out")]
    except ConfigurationError as error:
        return [made, problem("channels", str(error), "correct it in bot.toml")]
    return [made]
