"""What bot.toml says of channels, where only the rest of the bot can tell whether that is so."""

from __future__ import annotations

from functools import partial

from bot.checks import check_tools
from bot.core.errors import ConfigurationError
from bot.doctor.findings import Finding, problem
from bot.runners import names_tools
from bot.settings import Settings


def examine_channels(settings: Settings) -> list[Finding]:
    """Nothing is said where all is well: most have no such settings."""
    try:
        check_tools(settings, partial(names_tools, settings))
    except ConfigurationError as error:
        return [problem("channels", str(error), "correct it in bot.toml")]
    return []
