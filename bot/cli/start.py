"""What every command that does something begins with."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.settings import Settings


def configured() -> Settings:
    """The settings, with logging set up as they say. Raises ConfigurationError."""
    from bot.ops import logs
    from bot.settings import load_settings

    settings = load_settings()
    logs.configure(
        settings.bot_log_format, words=settings.bot_log_words, file=settings.bot_log_file
    )
    return settings


def quiet_mcp() -> None:
    """For commands that print themselves why an MCP server cannot be reached."""
    logging.getLogger("bot.services.mcp").setLevel(logging.ERROR)
