"""What `bot ask` prints: words for people, and with a schema data and nothing else."""

import json
from typing import Any

import pytest
from pydantic import BaseModel

from bot.agent.events import RoomAwaited, TextDelta
from bot.cli.ask import ask
from bot.cli.console import as_text, console_surface
from bot.core.answers import GIVEN
from bot.core.errors import ConfigurationError
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Entry, Request
from tests.unit.slack.test_results import ACTIONS, DRAFT, LINK, SUMMARY

SCHEMA = {"type": "object", "properties": {"total": {"type": "integer"}}}
ASKED = Request(
    entry=Entry.HEADLESS, team="local", channel="terminal", thread="1", ts="1", user="u", text="?"
)

NOT_POSTED: Any = None
"""A terminal has no messages that could be posted twice."""


def ended(result: BaseModel | dict[str, Any], **changes: Any) -> Outcome:
    data = isinstance(result, dict)
    fields = {
        "run_id": "run_1",
        "status": RunStatus.SUCCESS,
        "stop_reason": StopReason.COMPLETED,
        "response_type": GIVEN if data else type(result).__name__,
        "result": result if isinstance(result, dict) else result.model_dump(),
    }
    return Outcome.model_validate(fields | changes)


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        (
            SUMMARY,
            [
                "The launch is **late**.",
                f"- Ben: we wait until Monday. <{LINK}>",
                "- Chloe asks who pays. <https://made.up/x?q=secret>",
                "- 2026-11-20 09:12 — Ada reports the _bug_.",
                "- The PDF has no text.",
            ],
        ),
        (ACTIONS, [f"- Fix the *login* page — Ben, 2026-11-27 <{LINK}>"]),
        (DRAFT, ["> Hi Ben,", "> - yes", "- You agree with Monday.", "Tone: friendly <!here>"]),
        ({"total": 3}, ['  "total": 3']),
    ],
)
def test_every_response_type_reads_well_in_a_terminal(result, lines):
    """C3."""
    shown = as_text(ended(result)).splitlines()
    assert [line for line in lines if line not in shown] == []


def test_a_budget_that_is_nearly_used_up_is_said_in_a_terminal_too():
    """G6."""
    warned = as_text(ended(SUMMARY, warnings=("85 % of your budget for today is used.",)))
    assert warned.splitlines()[-1] == "85 % of your budget for today is used."


async def printed(outcome: Outcome, **asked: Any) -> None:
    opens = console_surface(as_json=False, stream=False)
    async with opens(ASKED.model_copy(update=asked), NOT_POSTED) as surface:
        await surface.finish(outcome)


async def test_words_do_nothing_to_the_terminal(capsys):
    """Whoever wrote them: what would clear it or hide a line stands there as it is written."""
    wiped = DRAFT.model_copy(update={"draft": "Hi\x1b[2JBen,\n\tyes"})
    async with console_surface(as_json=False, stream=True)(ASKED, NOT_POSTED) as surface:
        await surface.show(TextDelta("\x1b]0;title\x07"))
        await surface.finish(ended(wiped))
    out, err = capsys.readouterr()
    assert "Hi\\x1b[2JBen," in out
    assert "\x1b" not in out + err


async def test_a_terminal_says_that_a_call_waits_for_room_in_a_budget(capsys):
    """O4: once."""
    async with console_surface(as_json=False, stream=True)(ASKED, NOT_POSTED) as surface:
        await surface.show(RoomAwaited())
        await surface.show(RoomAwaited(ended=True))
    said = "… Waiting: other questions have reserved the rest of the budget\n"
    assert capsys.readouterr().err == said


async def test_data_alone_goes_to_stdout(capsys):
    """So that it can be piped into another program."""
    await printed(ended({"total": 3}, note="A part only."), response_schema=SCHEMA)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"total": 3}
    assert "A part only." in err


async def test_words_instead_of_data_go_to_stderr(capsys):
    """What reads stdout must not take them for data."""
    await printed(ended(DRAFT, status=RunStatus.PARTIAL), response_schema=SCHEMA)
    out, err = capsys.readouterr()
    assert out == ""
    assert "Hi Ben," in err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        ("{", "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ('{"type": "array"}', "the root must be an object"),
        (
            '{"type": "object", "properties": {"a": {"type": "array"}}}',
            "at /properties/a: strict mode needs `items`",
        ),
    ],
)
def test_a_schema_that_cannot_be_used_is_one_clear_line(tmp_path, content, says):
    """C8: before anything starts, exit code 3."""
    file = tmp_path / "schema.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ConfigurationError, match=r"^--schema .*schema\.json") as caught:
        ask("hi", schema=file)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
