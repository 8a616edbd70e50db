"""How the process logs: lines for people, or JSON with the ids as fields.

What is logged in a run carries `request_id`, `run_id` and `thread_key`, whoever logs it, and
`trace_id` and `span_id` where there is telemetry.
"""

from __future__ import annotations

import logging
import logging.config
from contextlib import suppress
from typing import Literal, TextIO

from typing_extensions import override

from bot.core.context import current_request
from bot.core.redaction import redacted

Format = Literal["text", "json"]

_QUIET = ("docket", "httpx2", "httpcore2", "slack_bolt", "slack_sdk", "aiohttp.access")
"""Libraries whose INFO is of no use to an operator; slack_sdk's would even hold text and tickets."""


class Handler(logging.StreamHandler[TextIO]):
    """Writes to stderr, without the secrets that an error or a library may have named."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))


class _Ids(logging.Filter):
    """Adds the ids of the request that is being worked for; lets everything pass."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        with suppress(LookupError):
            context = current_request()
            record.request_id = context.request_id
            record.run_id = context.run_id
            record.thread_key = context.request.thread_key
        return True


def configure(form: Format) -> None:
    """Log to stderr from INFO on, libraries from WARNING on."""
    formatters = {
        "text": {"format": "%(asctime)s %(levelname)-7s %(message)s", "datefmt": "%H:%M:%S"},
        "json": {
            "()": "pythonjsonlogger.json.JsonFormatter",
            "fmt": "%(levelname)s %(name)s %(message)s",
            "timestamp": True,
            "json_ensure_ascii": False,
            "rename_fields": {"levelname": "level", "name": "logger"},
        },
    }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": formatters,
            "filters": {"ids": {"()": _Ids}},
            "handlers": {
                "stderr": {"class": "bot.logs.Handler", "formatter": form, "filters": ["ids"]}
            },
            "root": {"level": "INFO", "handlers": ["stderr"]},
            "loggers": {name: {"level": "WARNING"} for name in _QUIET},
        }
    )
