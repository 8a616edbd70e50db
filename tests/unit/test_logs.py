"""What an operator reads when something goes wrong."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CODE = """
import logging
from bot.core.errors import StoreUnavailable
from bot.logs import configure

configure("text")

def fail(error, what):
    try:
        raise error
    except Exception:
        logging.getLogger("bot.test").exception(what, extra={"run_id": "run_7"})

fail(StoreUnavailable("Redis cannot\\nbe reached."), "The answer was not posted")
fail(KeyError("ours"), "Run run_7 failed")
"""


def test_trouble_of_a_service_is_one_line_and_a_bug_has_its_trace() -> None:
    """With the ids that a line does not name."""
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    trouble, bug, trace, *_ = done.stderr.splitlines()
    assert trouble.endswith(
        "The answer was not posted: StoreUnavailable: Redis cannot be reached. (run_id=run_7)"
    )
    assert bug.endswith("Run run_7 failed")
    assert trace.startswith("    Traceback")


FOREIGN = """
import logging
from bot.logs import configure

configure({form!r})
words = "ends\\r\\n12:00:00 INFO    Approved by Ann \\x1b[2K\\x9b8m\\u202e\\x00\\u2028here"
log = logging.getLogger("bot.test")
log.warning("MCP server %s says: %s", "a\\nb", words, extra={{"tool": "x\\ny"}})
try:
    raise ValueError(words)
except ValueError:
    log.exception("failed", stack_info=True)
"""


@pytest.mark.parametrize("form", ["text", "json"])
def test_words_of_others_forge_no_line(form: str) -> None:
    """S14: whatever a server, a file or an error says, each record begins where the log began it,
    and a terminal acts on none of it."""
    command = [sys.executable, "-c", FOREIGN.format(form=form)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    lines = done.stderr.split("\n")[:-1]
    assert all(line.isprintable() for line in lines)
    begun = [line for line in lines if not line.startswith("    ")]
    assert len(begun) == 2
    assert "Approved by Ann" in begun[0]
    if form == "json":
        assert json.loads(begun[0])["message"].startswith("MCP server a\nb says: ends\r\n")
