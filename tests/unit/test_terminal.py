"""A run in the terminal: its text, its exit code, its files (C8)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bot.agent.events import (
    FromSubagent,
    TextDelta,
    ToolEnded,
    ToolProgress,
    ToolRetried,
    ToolsAcquired,
    ToolStarted,
    TurnStarted,
)
from bot.cli import stdin
from bot.cli.console import ConsoleConversation, ConsoleSurface, as_text, exit_code
from bot.core.answers import Chart
from bot.core.errors import ConfigurationError, ModelErrorKind, ToolError
from bot.core.outcome import Outcome, RunStatus, StopReason, Totals
from tests.support.runs import answer


def outcome(**changes: Any) -> Outcome:
    return Outcome(
        **{
            "run_id": "run_1",
            "status": RunStatus.SUCCESS,
            "stop_reason": StopReason.COMPLETED,
            "result": answer(),
            **changes,
        }
    )


FAILED = {"status": RunStatus.FAILED, "result": None}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        (FAILED | {"stop_reason": StopReason.REFUSED}, 1),
        ({"status": RunStatus.PARTIAL, "stop_reason": StopReason.MAX_TURNS}, 2),
        (FAILED | {"error": ModelErrorKind.AUTHENTICATION}, 4),
        (FAILED | {"error": ModelErrorKind.QUOTA}, 1),
        (FAILED | {"stop_reason": StopReason.RUN_TIMEOUT}, 5),
        ({"status": RunStatus.PARTIAL, "stop_reason": StopReason.RUN_TIMEOUT}, 5),
        ({"status": RunStatus.CANCELLED, "stop_reason": StopReason.CANCELLED_TOOLS}, 130),
    ],
)
def test_every_end_has_its_exit_code(changes: dict[str, Any], code: int) -> None:
    """C8: scripts tell them apart."""
    assert exit_code(outcome(**changes)) == code


def test_an_answer_is_markdown() -> None:
    """All of it, with what it took; nothing empty is listed."""
    full = answer(
        "**Two.**",
        key_points=["a"],
        table={"caption": "T", "columns": ["x", "y"], "rows": [["1|2", "3"]]},
        charts=["art_1", "art_gone"],
        sources=[{"title": "S", "url": "https://s.example/", "supports": "all"}],
        gaps=["g"],
        follow_ups=["f?"],
        confidence="low",
    )
    chart = Chart(title="C", kind="bar", labels=[], series=[])
    totals = Totals(model="m", turns=2, tool_calls=1, input_tokens=1_000, output_tokens=1, cost=0.5)
    text = as_text(outcome(result=full, charts={"art_1": chart}, totals=totals, note="Partly."))
    assert text.startswith("Partly.\n\n**Two.**\n\n- a\n\nT\n\n| x | y |\n| --- | --- |")
    assert "| 1\\|2 | 3 |" in text
    assert "Chart: C" in text
    assert "art_gone" not in text
    assert "1. S <https://s.example/>: all" in text
    assert "\n\nI am not sure of this: please check" in text
    assert text.endswith("— m · 2 turns · 1 tool call · 1,001 tokens · $0.5000 · 0.0 s")
    assert "Sources" not in as_text(outcome())
    plain = {"summary": "You are welcome!", "sources": None, "confidence": None}
    assert as_text(outcome(result=plain, totals=totals)).startswith("You are welcome!\n\n— m")


async def test_progress_goes_to_stderr_and_the_answer_to_stdout(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """So that `bot ask … > file` holds the answer alone."""
    surface = ConsoleSurface(as_json=True, stream=True, only_data=False, waits={})
    for event in (
        TurnStarted(1, 20),
        TextDelta("Let me see.\n"),
        ToolsAcquired(("a", "b")),
        ToolStarted("c", "t", "Read x"),
        ToolProgress("c", "t", "page 3", 0.3),
        ToolRetried("c", "t", 1, "ConnectionError", 0.4),
        FromSubagent("c", ToolProgress("d", "t", "page 4\x1b[2J")),
        ToolEnded("c", "t", True, "12 rows", 0.21),
        ToolEnded("c", "t", False, "No such file", 0.1),
    ):
        await surface.show(event)
    await surface.finish(outcome())
    out, err = capsys.readouterr()
    assert (
        err
        == "Let me see.\n+ a, b\n… Read x\n  30 % · page 3\n  no answer yet (ConnectionError), trying again in 0.4 s\n  ↳   page 4\\x1b[2J\n✓ 12 rows (0.2 s)\n✗ No such file\n"
    )
    assert Outcome.model_validate_json(out) == outcome()


async def test_nothing_is_said_meanwhile_unless_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Quiet is the default of a command."""
    await ConsoleSurface(as_json=False, stream=False, only_data=False, waits={}).show(
        TextDelta("x")
    )
    assert capsys.readouterr().err == ""


async def test_files_are_read_and_never_overwritten(tmp_path: Path) -> None:
    """What a tool shares is a new file beside the caller, whatever name the model gives."""
    given = tmp_path / "sales.csv"
    given.write_bytes(b"a,b\n")
    conversation = ConsoleConversation.with_files([given], tmp_path)
    [ref] = (ref for ref, _ in conversation.files.values())
    assert (ref.id, ref.name, ref.media_type, ref.size) == ("F1", "sales.csv", "text/csv", 4)
    assert (await conversation.download("F1", max_bytes=4)).data == b"a,b\n"
    with pytest.raises(ToolError, match=r"F1 \(sales.csv\)"):
        await conversation.download("F2", max_bytes=4)
    with pytest.raises(ToolError, match="at most 3"):
        await conversation.download("F1", max_bytes=3)
    with pytest.raises(ToolError, match="already exists"):
        await conversation.share(b"new", name="sales.csv")
    assert given.read_bytes() == b"a,b\n"
    await conversation.share(b"new", name="../../etc/out.csv")
    assert (tmp_path / "out.csv").read_bytes() == b"new"


async def test_there_is_no_thread_and_no_channel() -> None:
    """Said so to the model, which goes on without."""
    conversation = ConsoleConversation.with_files([], Path())
    assert await conversation.thread(limit=5) == []
    with pytest.raises(ToolError, match="terminal"):
        await conversation.history("general", limit=5)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b'a;b\n1;"x; y"\n', "stdin.csv"),
        (b"Dear Ada,\nyes.\n", "stdin.txt"),
        (b' {"a": 1}', "stdin.json"),
        (b"<!DOCTYPE html><p>", "stdin.html"),
        (b"%PDF-1.7\n\x00", "stdin.pdf"),
        (b"PK\x03\x04\x00", "stdin"),
    ],
)
def test_what_is_piped_in_has_a_name_by_which_it_is_read(data: bytes, name: str) -> None:
    """`cat sales.csv | bot ask …` is a table, although nobody said so."""
    assert stdin.file_name(data) == name


def test_stdin_that_does_not_end_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a script hangs forever, nor is the memory filled. One that is only left open is not read."""
    monkeypatch.setattr(stdin, "MOST_SILENCE", 0.05)
    monkeypatch.setattr(stdin, "FIRST_SECONDS", 0.05)
    reading, writing = os.pipe()
    for file, says in ((reading, "does not end"), ("/dev/zero", "50 MB")):
        with open(file) as stream:  # noqa: PTH123 - one is a number
            monkeypatch.setattr("sys.stdin", stream)
            with pytest.raises(ConfigurationError, match=says):
                stdin.read_stdin(is_asked_for=True)
    reading, other = os.pipe()
    with open(reading) as stream:  # noqa: PTH123
        monkeypatch.setattr("sys.stdin", stream)
        assert stdin.read_stdin(is_asked_for=False) == b""
    assert "`--file -` waits for it" in capsys.readouterr().err
    os.close(other)
    os.close(writing)
