"""How the process logs: lines for people, or JSON with the ids as fields."""

from __future__ import annotations

import logging
import logging.config
from typing import Literal, TextIO

from typing_extensions import override

from bot.core.redaction import redacted

Format = Literal["text", "json"]

_QUIET = ("docket", "httpx2", "httpcore2", "slack_bolt", "slack_sdk", "aiohttp.access")
"""Libraries whose INFO is of no use to an operator; slack_sdk's would even hold text and tickets."""


class Handler(logging.StreamHandler[TextIO]):
    """Writes to stderr, without the secrets that an error or a library may have named."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


def configure(form: Format) -> None:
    """Log to stderr from INFO on, libraries from WARNING on."""
    formatters = {
        "text": {"format": "%(asctime)s %(levelname)-7s %(message)s", "datefmt": "%H:%M:%S"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": formatters,
            "handlers": {"stderr": {"class": "bot.logs.Handler", "formatter": form}},
            "root": {"level": "INFO", "handlers": ["stderr"]},
            "loggers": {name: {"level": "WARNING"} for name in _QUIET},
        }
    )
