"""Logging of the process: lines for people with ids at the end, or JSON with ids as fields.

A service that is unreachable or refuses a call is one line; only our own bugs have a traceback.

Unless BOT_LOG_WORDS is set, handlers show values and errors as `bot.telemetry.log_privacy` allows, and hide
the messages of libraries that may quote people.

Every record of a run carries `request_id`, `run_id` and `thread_key`, and with telemetry `trace_id` and
`span_id`.
"""

from __future__ import annotations

import copy
import json
import logging
import logging.config
import logging.handlers
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TextIO

from pythonjsonlogger.json import JsonFormatter
from redis.exceptions import ConnectionError as RedisGone
from redis.exceptions import TimeoutError as RedisSilent
from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.context import current_request
from bot.core.errors import ConfigurationError, ModelError, SlackUnavailable, StoreUnavailable
from bot.core.run_log import holds_words
from bot.slack.edge.client import TRANSPORT_ERRORS, error_code
from bot.telemetry import log_privacy
from bot.text.invisible_text import escaped
from bot.text.redaction import redacted

Format = Literal["text", "json"]

_QUIET = {
    **dict.fromkeys(("httpx2", "httpcore2", "slack_sdk", "aiohttp.access"), "WARNING"),
    "openai": "WARNING",  # logs that it retries, but not why
    "docket": "ERROR",  # logs every second that Redis is gone; our listener for stop signals logs it once
    "mcp": "CRITICAL",  # tracebacks of server messages; our own connection logs the failure
    "slack_bolt": "ERROR",  # warns at each start about settings that are intended
}
"""The level from which a library's logs help an operator; slack_sdk's INFO even logs texts and
tickets."""

_EXPECTED = (
    SlackApiError,
    SlackUnavailable,
    StoreUnavailable,
    ModelError,
    RedisGone,
    RedisSilent,
    *TRANSPORT_ERRORS,
)
"""Temporary failures of other services: logged in one line."""

_QUOTES_NOBODY = ("bot", "tools", "docket", "opentelemetry")
"""Loggers whose messages quote nobody apart from their arguments; tool authors are asked for this."""

_ASYNCIO_MESSAGES = (
    "Task exception was never retrieved",
    "Future exception was never retrieved",
    "Task was destroyed but it is pending",
    "unhandled exception during asyncio.run() shutdown",
    "Unclosed client session",
    "Unclosed connector",
    "Exception in callback",
    "Executing",
    "Fatal error",
    "socket.send() raised exception",
)
"""Beginnings of asyncio's messages; the rest shows arguments and results."""

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}

_IDS = (
    "run_id",
    "thread_key",
    "request_id",
    "channel",
    "user",
    "tool",
    "call_id",
    "handle",
    "model_request",
    "trace_id",
    "span_id",
    "stop_reason",
)


class Handler(logging.StreamHandler[TextIO]):
    """A handler that writes to stderr and removes secrets that errors or libraries may quote."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(_prepared(record)))


class FileHandler(logging.handlers.WatchedFileHandler):
    """The same handler for a file, which may be rotated while the process runs."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(_prepared(record)))


def _prepared(record: logging.LogRecord) -> logging.LogRecord:
    """Return a copy of `record` as it is written.

    An expected failure is one line. People's words are removed unless logs may hold them.
    """
    prepared = copy.copy(record)
    prepared.exc_text = None  # may hold the text of another handler's formatter
    if not holds_words():
        _unquote(prepared)
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, _EXPECTED):
        message, why = prepared.getMessage(), _why(error)
        line = f"{type(error).__name__}: {why}" if why else type(error).__name__
        prepared.msg = message if why and why in message else f"{message}: {line}"
        prepared.args, prepared.exc_info = (), None
    return prepared


def _why(error: BaseException) -> str:
    """Return the cause in one line; for errors of Slack's API, their code."""
    if not holds_words():
        return log_privacy.error_text(error)
    code = error_code(error) if isinstance(error, SlackApiError) else ""
    return code or " ".join(str(error).split())


def _unquote(record: logging.LogRecord) -> None:
    """Remove everything from `record` that may quote people."""
    extras = {name: value for name, value in vars(record).items() if name not in _STANDARD}
    if record.name.split(".")[0] not in _QUOTES_NOBODY:
        record.msg, record.args = _place(record), ()
        for name in extras.keys() - set(_IDS):
            delattr(record, name)
            del extras[name]
    elif isinstance(record.args, Mapping):
        record.args = {name: log_privacy.shown(value) for name, value in record.args.items()}
    elif record.args:
        record.args = tuple(map(log_privacy.shown, record.args))
    record.msg = log_privacy.shown(record.msg)
    vars(record).update({name: log_privacy.shown(value) for name, value in extras.items()})


def _place(record: logging.LogRecord) -> str:
    """Return where a library logged something, and for asyncio which kind of message."""
    place = f"{record.filename}:{record.lineno}"
    if record.name == "asyncio":
        known = (each for each in _ASYNCIO_MESSAGES if str(record.msg).startswith(each))
        return f"asyncio: {next(known, 'something')} ({place})"
    return f"{record.name} logged something at {place}; BOT_LOG_WORDS=true shows it"


class _Ids(logging.Filter):
    """A filter that adds the ids of the current request to each record and drops none."""

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        with suppress(LookupError):
            context = current_request()
            record.request_id = context.request_id
            record.run_id = context.run_id
            record.thread_key = context.request.thread_key
        return True


class Lines(logging.Formatter):
    """A formatter of lines for people; ids that a line does not name follow at its end.

    A record never leaves its line: characters that would start a new line, move the cursor or hide
    text are escaped, and tracebacks are indented.
    """

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        line = escaped(super().formatMessage(record))
        known = {name: getattr(record, name, None) for name in _IDS}
        ids = [
            f"{name}={value}" for name, value in known.items() if value and str(value) not in line
        ]
        return f"{line} ({escaped(', '.join(ids))})" if ids and record.name != "bot.run" else line

    @override
    def formatException(self, ei: Any) -> str:
        return _indented(super().formatException(ei) if holds_words() else log_privacy.trace(ei[1]))

    @override
    def formatStack(self, stack_info: str) -> str:
        return _indented(super().formatStack(stack_info))


def _indented(trace: str) -> str:
    return "\n".join(f"    {escaped(line)}" for line in trace.splitlines())


_ECS = {
    "message": "message",
    "timestamp": "@timestamp",
    "levelname": "log.level",
    "name": "log.logger",
    "exc_info": "error.stack_trace",
    "trace_id": "trace.id",
    "span_id": "span.id",
    "user": "user.id",
}
"""Names of the Elastic Common Schema (ECS 8), which OpenTelemetry collectors read as well. All
other fields of a record are `labels`."""

_STATIC = {"ecs.version": "8.17.0", "service.name": "slack-answer-bot"}


class Json(JsonFormatter):
    """A formatter of one JSON object per line, without control characters for a terminal."""

    @override
    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        named = {_ECS.get(name, f"labels.{name}"): value for name, value in log_data.items()}
        return _STATIC | named

    @override
    def formatException(self, ei: Any) -> str:
        return str(super().formatException(ei)) if holds_words() else log_privacy.trace(ei[1])

    @override
    def format(self, record: logging.LogRecord) -> str:
        return "".join(c if c.isprintable() else _json_escape(c) for c in super().format(record))


def _json_escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]


def configure(form: Format, *, words: bool = False, file: Path | None = None) -> None:
    """Log to stderr from level INFO, and to `file` in the other format.

    With `words`, log also what people, models and tools wrote. Raises ConfigurationError when the
    file cannot be written.
    """
    if file:
        try:
            file.open("a").close()
        except OSError as error:
            raise ConfigurationError(f"BOT_LOG_FILE: {file}: {error.strerror}.") from None
    formatters = {
        "text": {
            "()": "bot.telemetry.logs.Lines",
            "fmt": "%(asctime)s %(levelname)-7s %(message)s",
            "datefmt": "%H:%M:%S",
        },
        "json": {
            "()": "bot.telemetry.logs.Json",
            "fmt": "%(levelname)s %(name)s %(message)s",
            "timestamp": True,
            "json_ensure_ascii": False,
        },
    }
    filters = ["ids"]
    handlers: dict[str, dict[str, Any]] = {
        "stderr": {"class": "bot.telemetry.logs.Handler", "formatter": form, "filters": filters}
    }
    if file:
        handlers["file"] = {
            "class": "bot.telemetry.logs.FileHandler",
            "filename": str(file),
            "encoding": "utf-8",
            "formatter": "json" if form == "text" else "text",
            "filters": filters,
        }
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "formatters": formatters,
            "filters": {"ids": {"()": _Ids}},
            "handlers": handlers,
            "root": {"level": "INFO", "handlers": list(handlers)},
            "loggers": {
                **{name: {"level": level} for name, level in _QUIET.items()},
                "bot.words": {"level": "DEBUG" if words else "INFO"},
            },
        }
    )


def quiet() -> list[str]:
    """Show only warnings on stderr; a log file still gets everything.

    Why the model service failed goes into the returned list instead, for the command to say it.
    """
    failures = list[str]()

    def takes(record: logging.LogRecord) -> bool:
        if not hasattr(record, "model_request"):
            return True
        failures.append(escaped(record.getMessage()))
        return False

    for handler in logging.getLogger().handlers:
        if handler.get_name() == "stderr":
            handler.setLevel(logging.WARNING)
            handler.addFilter(takes)
    return failures
