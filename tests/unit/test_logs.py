"""What an operator reads when something goes wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.core.errors import ConfigurationError
from bot.telemetry.logs import configure
from tests.support.commands import said_by

CODE = """
import logging
from bot.core.errors import StoreUnavailable
from bot.telemetry.logs import configure

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
    said = said_by(CODE)
    trouble, bug, trace, *_ = said.splitlines()
    assert trouble.endswith(
        "The answer was not posted: StoreUnavailable: Redis cannot be reached. (run_id=run_7)"
    )
    assert bug.endswith("Run run_7 failed")
    assert trace.startswith("    Traceback")


FOREIGN = """
import logging
from bot.telemetry.logs import configure

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
    said = said_by(FOREIGN.format(form=form))
    lines = said.split("\n")[:-1]
    assert all(line.isprintable() for line in lines)
    begun = [line for line in lines if not line.startswith("    ")]
    assert len(begun) == 2
    assert "Approved by Ann" in begun[0]
    if form == "json":
        assert json.loads(begun[0])["message"].startswith("MCP server a\nb says: ends\r\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_lines_and_json_are_written_at_once(form: str, tmp_path: Path) -> None:
    """I5: BOT_LOG_FILE gets the records in the form that stderr does not have, without secrets, for
    the bot's user alone; a command that shows people only warnings leaves the file whole."""
    file = tmp_path / "bot.log"
    code = (
        "import logging, os; from pathlib import Path; from bot.telemetry import logs; os.umask(0o077)\n"
        f"logs.configure({form!r}, file=Path({str(file)!r})); logs.quiet()\n"
        "from bot.core.run_log import NOTICE, run_log\n"
        "run_log.log(NOTICE, 'run_1 turn 1', extra={'run_id': 'run_1'})\n"
        "logging.getLogger('x').warning('api_key=sk-abcdefghijklmnop123456')"
    )
    said = said_by(code)
    kept = file.read_text().splitlines()
    assert len(kept) == 2
    assert len(said.splitlines()) == 1
    first, second = (said, kept[0]) if form == "json" else (kept[0], said)
    assert json.loads(first)["log.logger"] in {"bot.run", "x"}
    assert not second.startswith("{")
    assert "sk-abc" not in file.read_text() + said
    assert file.stat().st_mode & 0o077 == 0


def test_a_log_file_that_cannot_be_written_is_one_clear_line(tmp_path: Path) -> None:
    """I5: said at start."""
    with pytest.raises(ConfigurationError, match=r"BOT_LOG_FILE: .*: No such file or directory"):
        configure("text", file=tmp_path / "none" / "bot.log")
