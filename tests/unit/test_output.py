"""What commands print was often written by others; it stays text (S14)."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bot.cli.output import print_json, print_lines, write
from bot.core.check import Check, Level
from bot.ops.doctor import report
from bot.text.invisible_text import escaped_json

FORGED = "calm\x1b[2K\rAll is well.\n✓ Redis\x9b31m\u202egnp.exe\u2028x\x07"


def test_a_line_is_one_line_and_moves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """S14: no cursor moved, no line forged, nothing hidden or turned around."""
    print_lines([FORGED, "Größe 5 €"])
    first, second, end = capsys.readouterr().out.split("\n")
    assert first.isprintable()
    assert (second, end) == ("Größe 5 €", "")


@given(st.text() | st.dictionaries(st.text(), st.text()))
def test_json_means_what_it_meant(value: object) -> None:
    """Scripts read the same, people see no control character."""
    shown = escaped_json(json.dumps(value, ensure_ascii=False, indent=1))
    assert json.loads(shown) == value
    assert all(line.isprintable() for line in shown.split("\n"))


def test_json_is_printed_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(json.dumps([FORGED], ensure_ascii=False))
    out = capsys.readouterr().out
    assert json.loads(out) == [FORGED]
    assert out.strip().isprintable()


def test_findings_of_the_doctor_forge_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """S14: whatever a server calls its tools or says of an error."""
    seen = io.StringIO()
    monkeypatch.setattr(report, "Console", lambda **_: Console(file=seen, width=400))
    report.print_report([Check(Level.WARNING, FORGED, FORGED, FORGED)])
    lines = seen.getvalue().split("\n")
    assert all(line.isprintable() for line in lines)
    assert not any(line.strip().startswith("✓") for line in lines)


def test_a_reader_that_left_is_no_error_and_a_full_disk_is_one_line() -> None:
    """`bot audit | head` ends quietly; a script hears of an answer that was not written."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        write(stream, "nobody reads this")
        write(stream, "nor this")
    with Path("/dev/full").open("w") as stream, pytest.raises(SystemExit, match="No space left"):
        write(stream, "x")
