"""Start of a command: its settings and logging."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.settings import Settings


def configured() -> Settings:
    """Load the settings and configure logging. Raises ConfigurationError."""
    from bot.ops import logs
    from bot.settings import load_settings

    settings = load_settings()
    logs.configure(
        settings.bot_log_format, words=settings.bot_log_words, file=settings.bot_log_file
    )
    return settings


def quiet_connections() -> None:
    """Log no failures to connect, for commands that print them themselves."""
    logging.getLogger("bot.services.mcp").setLevel(logging.ERROR)
    logging.getLogger("bot.services.tool_clients").setLevel(logging.CRITICAL)
