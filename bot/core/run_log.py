"""The run log: a logger for people to read, its level, and whether lines may quote messages."""

from __future__ import annotations

import logging

NOTICE = 25
"""Log level between INFO (20) and WARNING (30)."""

logging.addLevelName(NOTICE, "NOTICE")

run_log = logging.getLogger("bot.run")

_words = logging.getLogger("bot.words")
"""At level DEBUG when logs may quote messages (BOT_LOG_WORDS). Only this logger's level counts."""


def holds_words() -> bool:
    """Return whether log lines may quote text of people, models and tools."""
    return logging.NOTSET < _words.level <= logging.DEBUG
