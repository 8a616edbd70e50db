"""Privacy of logs: errors and values without anything that people wrote.

The text of an error often quotes its input: `int()` quotes the text that it could not read, pydantic
the value, services the request. So logs show the text of errors only when the bot, the operating
system or Redis wrote it, and the type and codes of all other errors.
"""

from __future__ import annotations

import datetime
import enum
import json
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import aiohttp
from pydantic import ValidationError
from redis.exceptions import RedisError, ResponseError
from slack_sdk.errors import SlackApiError, SlackTokenRotationError

from bot.core.errors import (
    ConfigurationError,
    MalformedPayload,
    ModelError,
    NotPermitted,
    SlackUnavailable,
    StoreError,
    ToolDefinitionError,
)
from bot.slack.edge.client import error_code

if TYPE_CHECKING:
    from bot.model import sdk

_CODE = re.compile(r"[a-z0-9_.:-]{1,60}")
_OPENAI_CODES = re.compile(r"[a-z]+(_[a-z]+){1,6}")
_DIRECT = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"


def error_text(error: BaseException) -> str:
    """Return one line about `error` that quotes nobody; "" when only its type is safe."""
    sdk = sys.modules.get("bot.model.sdk")  # which nobody else needs to load
    if sdk is not None and isinstance(error, sdk.APIError):
        return " ".join(_service_text(error).split())
    for kind, text in _TEXTS:
        if isinstance(error, kind):
            return " ".join(text(error).split())
    return ""


def error_line(error: BaseException) -> str:
    """Return the type of `error` and its text, as the last line of a trace has them."""
    text = error_text(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def trace(error: BaseException) -> str:
    """Return the trace of `error`, its causes and its group, with source lines and no quotes."""
    return "\n".join(_trace(error, set()))


def shown(value: object) -> object:
    """Return `value` as a log line may show it.

    Texts and numbers are unchanged; errors become their safe text or type, other objects their type.
    """
    if isinstance(value, BaseException):
        return error_text(value) or type(value).__name__
    if value is None or isinstance(value, _PLAIN):
        return value
    return f"<{type(value).__name__}>"


def _trace(error: BaseException, seen: set[int]) -> Iterator[str]:
    seen.add(id(error))
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _trace(before, seen)
        yield from ("", _DIRECT if error.__cause__ else _DURING, "")
    if error.__traceback__:
        yield "Traceback (most recent call last):"
        yield from "".join(traceback.format_tb(error.__traceback__)).splitlines()
    yield error_line(error)
    if isinstance(error, BaseExceptionGroup):
        for number, each in enumerate(error.exceptions, 1):
            if id(each) not in seen:
                yield f"  {number} of {len(error.exceptions)}:"
                yield from (f"    {line}" for line in _trace(each, seen))


def _slack_text(error: SlackApiError) -> str:
    code = error_code(error)
    return code if _CODE.fullmatch(code) else ""


def _model_text(error: ModelError) -> str:
    return f"{error.kind} ({error.detail})" if error.detail else str(error.kind)


def _service_text(error: sdk.APIError) -> str:
    from bot.model import sdk

    if isinstance(error, sdk.APIConnectionError):
        cause = error_line(error.__cause__) if error.__cause__ else "no connection"
        return f"{error.request.url.host}: {cause}"
    status = error.status_code if isinstance(error, sdk.APIStatusError) else ""
    code = error.code if _OPENAI_CODES.fullmatch(error.code or "") else ""
    return f"{status} {code}"


def _validation_text(error: ValidationError) -> str:
    kinds = sorted({each["type"] for each in error.errors(include_input=False, include_url=False)})
    return f"{error.title}: {', '.join(kinds)}"


def _system_text(error: OSError) -> str:
    return str(error.strerror or "")


def _redis_text(error: RedisError) -> str:
    """Return Redis's text, unless it may quote the arguments of a script or command."""
    text = str(error)
    may_quote = isinstance(error, ResponseError) and not re.match(r"[A-Z]{3,} ", text)
    return "" if may_quote and type(error) is ResponseError else text


_OWN = (ConfigurationError, MalformedPayload, SlackUnavailable, StoreError, ToolDefinitionError)
"""Errors of ours whose text is for operators: about keys, ids and types."""

_TEXTS: tuple[tuple[type[Any] | tuple[type[Any], ...], Callable[[Any], str]], ...] = (
    (SlackApiError, _slack_text),
    (SlackTokenRotationError, lambda error: _slack_text(error.api_error)),
    (ModelError, _model_text),
    (aiohttp.ClientResponseError, lambda error: str(error.status)),
    (ValidationError, _validation_text),
    (json.JSONDecodeError, lambda error: f"at character {error.pos}"),
    (NotPermitted, lambda error: str(error.reason)),
    (RedisError, _redis_text),
    (OSError, _system_text),
    (_OWN, str),
)
"""Errors with a safe text, and the function that returns it; the first match counts."""

_PLAIN = (str, int, float, enum.Enum, datetime.date, datetime.timedelta)
