"""The log of runs for people: its logger, its level, and whether it may hold people's words."""

from __future__ import annotations

import logging

NOTICE = 25
"""Between INFO (20) and WARNING (30)."""

logging.addLevelName(NOTICE, "NOTICE")

run_log = logging.getLogger("bot.run")

_words = logging.getLogger("bot.words")
"""At DEBUG where logs may hold people's words (BOT_LOG_WORDS); the levels of other loggers, the root's
as well, allow none."""


def holds_words() -> bool:
    """Return whether a line may quote what people, models and tools wrote."""
    return logging.NOTSET < _words.level <= logging.DEBUG
