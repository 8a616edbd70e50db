"""Check of the tools: the files of `tools/` load, and bot.toml names only tools that exist."""

from __future__ import annotations

from functools import partial

from bot.app.run_setup import is_tool_name
from bot.app.tool_loading import catalogue
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.ops.doctor.check import Check, ok, problem
from bot.settings import Settings
from bot.settings.checks import check_tools


def examine_tools(settings: Settings) -> list[Check]:
    """Load all tools; call none."""
    try:
        loaded = ok("tools", f"{len(catalogue().tools)} are available")
        check_tools(settings, partial(is_tool_name, settings))
    except ToolDefinitionError as error:
        return [problem("tools", str(error), "correct the file, or remove it")]
    except ConfigurationError as error:
        return [loaded, problem("channels", str(error), "correct it in bot.toml")]
    return [loaded]
