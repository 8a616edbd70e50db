"""What an operator reads when something goes wrong."""

from __future__ import annotations

import logging
from collections.abc import Generator
from io import StringIO

import pytest

from bot import logs
from bot.core.errors import StoreUnavailable


@pytest.fixture
def written() -> Generator[StringIO]:
    """What is logged as `bot serve` does."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    logs.configure("text")
    [handler] = root.handlers
    assert isinstance(handler, logging.StreamHandler)
    heard = StringIO()
    handler.setStream(heard)
    yield heard
    root.handlers, root.level = before, level


def fail(error: Exception, what: str) -> None:
    try:
        raise error
    except Exception:
        logging.getLogger("bot.test").exception(what, extra={"run_id": "run_7"})


def test_trouble_of_a_service_is_one_line_and_a_bug_has_its_trace(written: StringIO) -> None:
    """With the ids that a line does not name."""
    fail(StoreUnavailable("Redis cannot\nbe reached."), "The answer was not posted")
    [line] = written.getvalue().splitlines()
    assert line.endswith(
        "The answer was not posted: StoreUnavailable: Redis cannot be reached. (run_id=run_7)"
    )
    fail(KeyError("ours"), "Run run_7 failed")
    first, *trace = written.getvalue().splitlines()[1:]
    assert first.endswith("Run run_7 failed")
    assert trace[0].startswith("Traceback")
