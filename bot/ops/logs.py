"""How the process logs: lines for people, with the ids at their end, or JSON with them as fields.
A service that cannot be reached or refuses is one line; only what is a bug of ours has its trace.

While logs hold no people's words (BOT_LOG_WORDS), handlers show values and errors as `bot.ops.log_privacy`
has them, and what libraries wrote themselves not at all, unless they are known to quote nobody.

What is logged in a run carries `request_id`, `run_id` and `thread_key`, whoever logs it, and
`trace_id` and `span_id` where there is telemetry.
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
from bot.core.text.invisible_text import escaped
from bot.core.text.redaction import redacted
from bot.ops import log_privacy
from bot.slack.transport.client import TRANSPORT_ERRORS, error_code

Format = Literal["text", "json"]

_QUIET = {
    **dict.fromkeys(("httpx2", "httpcore2", "slack_sdk", "aiohttp.access"), "WARNING"),
    "openai": "WARNING",  # says that it tries again, and not why
    "docket": "ERROR",  # says each second that Redis is gone; the listener to stop signals says it once
    "mcp": "CRITICAL",  # traces of what servers send; our own connection says what went wrong
    "slack_bolt": "ERROR",  # warns at each start of settings that are as they should be
}
"""From where on libraries are of use to an operator; slack_sdk's INFO would even hold text and
tickets."""

_EXPECTED = (
    *(SlackApiError, SlackUnavailable, StoreUnavailable, ModelError, RedisGone, RedisSilent),
    *TRANSPORT_ERRORS,
)
"""Trouble of others, that comes and goes."""

_QUOTES_NOBODY = ("bot", "tools", "docket", "opentelemetry")
"""Loggers whose texts hold no people's words, once the values in them are shown as ours are; authors
of tools are asked to write theirs so."""

_OF_ASYNCIO = (
    *("Task exception was never retrieved", "Future exception was never retrieved"),
    *("Task was destroyed but it is pending", "unhandled exception during asyncio.run() shutdown"),
    *("Unclosed client session", "Unclosed connector", "Exception in callback", "Executing"),
    *("Fatal error", "socket.send() raised exception"),
)
"""How asyncio's lines begin; what follows shows arguments and results."""

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}

_IDS = (
    *("run_id", "thread_key", "request_id", "channel", "user", "tool", "call_id", "handle"),
    *("model_request", "trace_id", "span_id", "stop_reason"),
)


class Handler(logging.StreamHandler[TextIO]):
    """Writes to stderr, without the secrets that an error or a library may have named."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(_prepared(record)))


class FileHandler(logging.handlers.WatchedFileHandler):
    """Does the same into a file, which may be rotated meanwhile."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(_prepared(record)))


def _prepared(record: logging.LogRecord) -> logging.LogRecord:
    """Return a copy of `record` as it is written: expected trouble in one line, and without people's
    words unless logs may hold them."""
    prepared = copy.copy(record)
    prepared.exc_text = None  # another handler's formatter may have left its own
    if not holds_words():
        _unquote(prepared)
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, _EXPECTED):
        said, why = prepared.getMessage(), _why(error)
        line = f"{type(error).__name__}: {why}" if why else type(error).__name__
        prepared.msg = said if why and why in said else f"{said}: {line}"
        prepared.args, prepared.exc_info = (), None
    return prepared


def _why(error: BaseException) -> str:
    """Return in one line what is known; of Slack's answers the code."""
    if not holds_words():
        return log_privacy.error_text(error)
    code = error_code(error) if isinstance(error, SlackApiError) else ""
    return code or " ".join(str(error).split())


def _unquote(record: logging.LogRecord) -> None:
    """Take out of `record` what may quote people."""
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
    """Say where a library logged something, and of asyncio's troubles which it was."""
    place = f"{record.filename}:{record.lineno}"
    if record.name == "asyncio":
        known = (each for each in _OF_ASYNCIO if str(record.msg).startswith(each))
        return f"asyncio: {next(known, 'something')} ({place})"
    return f"{record.name} logged something at {place}; BOT_LOG_WORDS=true shows it"


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


class Lines(logging.Formatter):
    """A line for people, with those ids at its end that it does not name. The lines of a run begin
    with its id.

    Whoever wrote the words, a server or an error, they stay in their line: what would begin another,
    move the cursor or hide is escaped, and traces are indented.
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


class Json(JsonFormatter):
    """A JSON object in one line, which holds nothing that a terminal would act on."""

    @override
    def formatException(self, ei: Any) -> str:
        return str(super().formatException(ei)) if holds_words() else log_privacy.trace(ei[1])

    @override
    def format(self, record: logging.LogRecord) -> str:
        return "".join(c if c.isprintable() else _json_escape(c) for c in super().format(record))


def _json_escape(character: str) -> str:
    return f"\\u{ord(character):04x}" if character.isascii() else json.dumps(character)[1:-1]


def configure(form: Format, *, words: bool = False, file: Path | None = None) -> None:
    """Log to stderr from INFO on, libraries as they are of use; with `words` also what people,
    models and tools wrote. A `file` gets the same in the other form. Raises
    ConfigurationError when it cannot be written."""
    if file:
        try:
            file.open("a").close()
        except OSError as error:
            raise ConfigurationError(f"BOT_LOG_FILE: {file}: {error.strerror}.") from None
    formatters = {
        "text": {
            "()": "bot.ops.logs.Lines",
            "fmt": "%(asctime)s %(levelname)-7s %(message)s",
            "datefmt": "%H:%M:%S",
        },
        "json": {
            "()": "bot.ops.logs.Json",
            "fmt": "%(levelname)s %(name)s %(message)s",
            "timestamp": True,
            "json_ensure_ascii": False,
            "rename_fields": {"levelname": "level", "name": "logger"},
        },
    }
    filters = ["ids"]
    handlers: dict[str, dict[str, Any]] = {
        "stderr": {"class": "bot.ops.logs.Handler", "formatter": form, "filters": filters}
    }
    if file:
        handlers["file"] = {
            "class": "bot.ops.logs.FileHandler",
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


def quiet() -> None:
    """Show people only warnings on stderr; a file goes on to get everything."""
    for handler in logging.getLogger().handlers:
        if handler.get_name() == "stderr":
            handler.setLevel(logging.WARNING)
