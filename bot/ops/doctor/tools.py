"""Check of the tools: all load, their clients open, and bot.toml names only tools that exist."""

from __future__ import annotations

from functools import partial

from bot.app.run_setup import is_tool_name
from bot.app.tool_states import names_by, tool_states
from bot.core.check import Check, ok, problem, warning
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.settings import Settings
from bot.settings.checks import check_tools


async def examine_tools(settings: Settings) -> list[Check]:
    """Load all tools and open their clients, as a worker does; call no tool."""
    try:
        states = await tool_states(settings)
    except (ToolDefinitionError, ConfigurationError) as error:
        return [problem("tools", str(error), "correct it: the bot does not start before")]
    count = len(states.catalogue.tools) - len(states.off) - len(states.broken)
    off = [f"off: {names} ({reason})" for names, reason in names_by(states.off)]
    checks = [ok("tools", "; ".join((f"{count} are offered", *off)))]
    for group, text in states.problems:
        names = [each for each, reason in names_by(states.broken) if reason == text]
        lost = f"; off: {names[0]}" if names else ""
        fix = f"correct its service, or [tools.{group}] in bot.toml; the bot tries again by itself"
        checks.append(warning(f"tools {group}", f"{text}{lost}", fix))
    try:
        check_tools(settings, partial(is_tool_name, settings))
    except ConfigurationError as error:
        checks.append(problem("channels", str(error), "correct it in bot.toml"))
    return checks
