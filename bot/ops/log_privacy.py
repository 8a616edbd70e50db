"""What a log line says of errors and values that may quote people, while logs hold no people's words.

An error's text is rarely written by whoever raises it alone: `int()` quotes what it could not read,
pydantic the input, services the request. So a text is shown only of errors whose words are known to
be the bot's, the operating system's or Redis's own; of all others, the type and codes are.
"""

from __future__ import annotations

import datetime
import enum
import json
import re
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import aiohttp
import openai
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
from bot.slack.transport.client import error_code

_CODE = re.compile(r"[a-z0-9_.:-]{1,60}")
_OPENAI_CODES = re.compile(r"[a-z]+(_[a-z]+){1,6}")
_DIRECT = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"


def error_text(error: BaseException) -> str:
    """Return one line about `error` that quotes nobody; "" when only its type can be named."""
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
    """Return `value` as a log line may have it: texts and numbers as they are, of errors the text or
    the type, of everything else the type."""
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


def _of_slack(error: SlackApiError) -> str:
    code = error_code(error)
    return code if _CODE.fullmatch(code) else ""


def _of_model(error: ModelError) -> str:
    return f"{error.kind} ({error.detail})" if error.detail else str(error.kind)


def _of_service(error: openai.APIError) -> str:
    if isinstance(error, openai.APIConnectionError):
        cause = error_line(error.__cause__) if error.__cause__ else "no connection"
        return f"{error.request.url.host}: {cause}"
    status = error.status_code if isinstance(error, openai.APIStatusError) else ""
    code = error.code if _OPENAI_CODES.fullmatch(error.code or "") else ""
    return f"{status} {code}"


def _of_validation(error: ValidationError) -> str:
    kinds = sorted({each["type"] for each in error.errors(include_input=False, include_url=False)})
    return f"{error.title}: {', '.join(kinds)}"


def _of_system(error: OSError) -> str:
    return str(error.strerror or "")


def _of_redis(error: RedisError) -> str:
    """Return Redis's words, except where its script or a command quotes what it was given."""
    text = str(error)
    quotes = isinstance(error, ResponseError) and not re.match(r"[A-Z]{3,} ", text)
    return "" if quotes and type(error) is ResponseError else text


_OWN = (ConfigurationError, MalformedPayload, SlackUnavailable, StoreError, ToolDefinitionError)
"""Written for operators, about keys, ids and types."""

_TEXTS: tuple[tuple[type[Any] | tuple[type[Any], ...], Callable[[Any], str]], ...] = (
    (SlackApiError, _of_slack),
    (SlackTokenRotationError, lambda error: _of_slack(error.api_error)),
    (ModelError, _of_model),
    (openai.APIError, _of_service),
    (aiohttp.ClientResponseError, lambda error: str(error.status)),
    (ValidationError, _of_validation),
    (json.JSONDecodeError, lambda error: f"at character {error.pos}"),
    (NotPermitted, lambda error: str(error.reason)),
    (RedisError, _of_redis),
    (OSError, _of_system),
    (_OWN, str),
)
"""Errors of which more can be said than their type; the first that fits counts."""

_PLAIN = (str, int, float, enum.Enum, datetime.date, datetime.timedelta)
