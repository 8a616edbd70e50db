"""What an operator reads when something goes wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    assert trace.startswith("Traceback")
