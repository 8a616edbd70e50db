"""Nobody reads in a log what people asked and were answered."""

from __future__ import annotations

import io
import json
import logging
import sys
import traceback
from collections.abc import Callable
from typing import Any

import aiohttp
import httpx2
import openai
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, TypeAdapter
from redis.exceptions import ResponseError
from slack_sdk.errors import SlackApiError

from bot.core.errors import ModelError, ModelErrorKind, NotPermitted, StoreUnavailable, ToolError
from bot.core.run_log import holds_words
from bot.model.errors import from_exception
from bot.telemetry.logs import Handler, Json, Lines

WORDS = "my salary is 90210 crowns"


class Question(BaseModel):
    """A model with words in it."""

    model_config = ConfigDict(extra="forbid")
    text: int


def _raised_by(call: Callable[[], Any]) -> BaseException:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever it raises
        return error
    raise AssertionError("it raises")


def _status_error(status: int) -> openai.APIStatusError:
    request = httpx2.Request("POST", "https://models.example/v1/responses")
    body = {"error": {"message": WORDS, "code": WORDS, "param": WORDS}}
    response = httpx2.Response(status, request=request, json=body)
    return openai.APIStatusError(WORDS, response=response, body=body["error"])


def _refusal(message: str, response: object) -> SlackApiError:
    return SlackApiError(message, response)  # type: ignore[no-untyped-call]


ERRORS: list[Callable[[], BaseException]] = [
    lambda: ValueError(WORDS),
    lambda: KeyError(WORDS),
    lambda: _raised_by(lambda: int(WORDS)),
    lambda: _raised_by(lambda: json.loads(WORDS)),
    lambda: _raised_by(lambda: Question.model_validate({"text": WORDS, WORDS: 1})),
    lambda: _raised_by(lambda: TypeAdapter(dict[int, int]).validate_python({WORDS: WORDS})),
    lambda: _raised_by(lambda: WORDS.encode().decode("utf-16")),
    lambda: _raised_by(lambda: compile(WORDS, WORDS, "exec")),
    lambda: _raised_by(lambda: open(WORDS)),  # noqa: SIM115, PTH123 - it is not there
    lambda: OSError(WORDS),
    lambda: ToolError(WORDS),
    lambda: NotPermitted(WORDS, reason="member"),
    lambda: _refusal(WORDS, {"ok": False, "error": "invalid_blocks", "messages": [WORDS]}),
    lambda: _refusal(WORDS, {"ok": False, "error": WORDS}),
    lambda: _refusal(WORDS, WORDS),
    lambda: _status_error(400),
    lambda: from_exception(_status_error(500)),
    lambda: ModelError(ModelErrorKind.POLICY, WORDS),
    lambda: aiohttp.InvalidURL(WORDS),
    lambda: ResponseError(f"unknown command '{WORDS}', with args beginning with: {WORDS}"),
    lambda: AssertionError(WORDS),
    lambda: type(WORDS, (Exception,), {})() if WORDS.isidentifier() else RuntimeError(WORDS),
]


def _chained(error: BaseException, how: str) -> BaseException:
    """`error` as it may come: alone, as a cause, while handling another, noted, in a group."""
    outer: BaseException = RuntimeError("outer")
    match how:
        case "cause":
            outer.__cause__ = error
        case "context":
            outer.__context__ = error
        case "group":
            outer = BaseExceptionGroup(WORDS, [ValueError(WORDS), error])
        case "noted":
            error.add_note(WORDS)
            outer = error
        case _:
            outer = error
    return outer


def _log(logger: str, level: int, how: str, error: BaseException) -> logging.LogRecord:
    """The record that somebody makes of `error`."""
    log = logging.getLogger(logger)
    exc_info: Any = None
    args: Any = ()
    extra: dict[str, Any] = {}
    msg: Any = "something failed"
    match how:
        case "trace":
            exc_info = (type(error), error, error.__traceback__)
        case "argument":
            msg, args = "it failed: %s", (error,)
        case "represented":
            msg, args = "it failed: %r", (error,)
        case "mapping":
            msg, args = "it failed: %(why)s", ({"why": error},)
        case "model":
            msg, args = "%s came", (Question.model_construct(text=WORDS),)  # type: ignore[arg-type]
        case "container":
            msg, args = "%s came", ([WORDS, error],)
        case "extra":
            extra = {"places": [WORDS], "why": error}
        case _:
            msg = error
    return log.makeRecord(log.name, level, __file__, 1, msg, args, exc_info, extra=extra)


def _written(record: logging.LogRecord, form: str) -> str:
    stream = io.StringIO()
    handler = Handler(stream)
    handler.setFormatter(Lines("%(levelname)s %(message)s") if form == "text" else Json())
    handler.handle(record)
    return stream.getvalue()


HOWS = ["trace", "argument", "represented", "mapping", "model", "container", "extra", "itself"]
LIBRARIES = ["slack_sdk.web.async_client", "openai._base_client", "httpx2", "asyncio", "slack_bolt"]


@given(
    make=st.sampled_from(ERRORS),
    chain=st.sampled_from(["alone", "cause", "context", "group", "noted"]),
    how=st.sampled_from(HOWS),
    logger=st.sampled_from(["bot.runs.runner", "docket.worker", *LIBRARIES]),
    level=st.sampled_from([logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR]),
    form=st.sampled_from(["text", "json"]),
)
def test_a_log_line_quotes_nobody(
    make: Callable[[], BaseException], chain: str, how: str, logger: str, level: int, form: str
) -> None:
    """O8: whatever error quotes a person, however it is logged, at any level and by any library;
    even when another handler formatted the record first."""
    record = _log(logger, level, how, _chained(make(), chain))
    logging.Formatter().format(record)
    written = _written(record, form)
    assert written
    assert "90210" not in written
    assert "salary" not in written


@given(
    library=st.sampled_from(LIBRARIES),
    template=st.sampled_from(["%s", "Sending a request - url: https://slack.com, body: {}", "{}"]),
    form=st.sampled_from(["text", "json"]),
)
def test_what_a_library_wrote_itself_is_not_shown(library: str, template: str, form: str) -> None:
    """O8: slack_sdk, openai and httpx write whole bodies into their lines; the operator reads where
    that was."""
    args = (WORDS,) if template == "%s" else ()
    log = logging.getLogger(library)
    record = log.makeRecord(library, 10, "/lib/client.py", 7, template.format(WORDS), args, None)
    written = _written(record, form)
    assert "90210" not in written
    assert library in written
    assert "client.py:7" in written


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (StoreUnavailable("Redis accepts no writes."), ": Redis accepts no writes."),
        (_status_error(429), ": 429"),
        (from_exception(_status_error(429)), ": overloaded (HTTP 429)"),
        (ConnectionRefusedError(111, "Connection refused"), ": Connection refused"),
        (ResponseError("MISCONF Redis is configured to save"), ": MISCONF Redis is"),
        (_refusal(WORDS, {"error": "invalid_auth"}), "invalid_auth"),
        (_raised_by(lambda: Question.model_validate({"text": WORDS})), "Question: int_parsing"),
    ],
)
def test_what_an_operator_needs_is_there(error: BaseException, line: str) -> None:
    """O8: codes, the kind of failure, the system's and Redis's own words."""
    assert line in _written(_log("bot.x", logging.ERROR, "argument", error), "text")


def test_a_trace_shows_where_it_was() -> None:
    """O8: files, lines, functions, causes and the members of groups, without their words."""
    try:
        try:
            int(WORDS)
        except ValueError as error:
            raise ExceptionGroup("of tasks", [ToolError(WORDS)]) from error
    except ExceptionGroup:
        record = logging.LogRecord("bot.x", 40, __file__, 1, "failed", (), sys.exc_info())
    written = _written(record, "text")
    for expected in ("ValueError", "direct cause", "ExceptionGroup", "1 of 1", "ToolError"):
        assert expected in written
    assert "int(WORDS)" in written
    assert "90210" not in written


@pytest.mark.parametrize("form", ["text", "json"])
def test_words_are_there_where_they_are_wanted(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """O8: BOT_LOG_WORDS=true shows errors and libraries' lines as they are."""
    monkeypatch.setattr(logging.getLogger("bot.words"), "level", logging.DEBUG)
    assert holds_words()
    error = _raised_by(lambda: int(WORDS))
    written = _written(_log("slack_sdk", logging.ERROR, "trace", error), form)
    assert WORDS in written
    assert "something failed" in written
    assert traceback.format_exception_only(error)[0].strip()[:20] in written
