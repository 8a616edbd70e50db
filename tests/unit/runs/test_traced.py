"""Answers are traced to what their thread has read, over the real runner, loop, Redis and model service;
the model follows a script that invents figures."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.cli.console import as_text
from bot.cli.terminal_run import ask_once
from bot.core import failpoints
from bot.core.audit_kinds import AuditKind
from bot.core.outcome import Outcome
from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, ScriptBook, call, finish
from bot.library.tracing.findings import Findings, Verdict
from bot.settings import Settings
from bot.store import Stores
from bot.toolkit import Reads, Source, ThreadMessage, ToolResult, tool
from tests.support.redis import asked
from tests.support.runs import MODEL, answer, bot_on, bot_with

ROWS = "region,units\nNorth,4722\nSouth,3048"


@tool(group="files", summary="Read the units sold", core=True, safety=Reads(foreign=True))
async def read_units() -> ToolResult:
    """Read them."""
    return ToolResult(ROWS, (Source(title="units.csv", supports=""),))


READ = call("read_units", {})
RIGHT = finish(answer("North sold 4,722 units and South 3,048: 7,770 in all."))
INVENTED = finish(answer("North sold 4,722 units and West 9,413."))


def traced(outcome: Outcome) -> Findings:
    assert outcome.traced
    return outcome.traced


def untraced(outcome: Outcome) -> list[str]:
    return [item.text for item in traced(outcome).of(Verdict.UNTRACED)]


def warned(outcome: Outcome) -> list[str]:
    return [item.text for item in traced(outcome).items if item.warned]


async def test_an_invented_figure_is_named_and_a_right_answer_counted(stores: Stores) -> None:
    """23.2 23.3: read, worked out by code, and not traced; the answer itself is as the model gave it."""
    async with bot_with(stores, Script([READ, RIGHT, INVENTED]), read_units.tool) as bot:
        right = await bot.ask("Units?")
        invented = await bot.ask("And West?")  # the outputs of earlier runs of the thread count
    assert (traced(right).read, traced(right).worked_out) == (2, 1)
    assert untraced(invented) == ["9,413"]
    assert not warned(invented)
    assert invented.result == answer("North sold 4,722 units and West 9,413.")
    place = traced(right).items[0].places[0]
    assert (place.source, place.excerpt) == ("units.csv", "North,4722")


async def test_a_table_of_invented_figures_is_not_read_by_querying_it(stores: Stores) -> None:
    """23.1: by the handles that the ledger keeps: of a table, a written file and what was made of them."""

    def launders(request: ModelRequest) -> Reply:
        made = [each["name"] for each in request.items if each.get("type") == "function_call"]
        handles = re.findall(r"(?:tbl|file)_[0-9a-z]+", str(request.items))
        rows = "region,units\nNorth,5201\nEast,4211"
        match made[-1:]:
            case []:
                names = ["make_table", "query_table", "write_file", "extract_matches"]
                return call("acquire_tools", {"names": names})
            case ["acquire_tools"]:
                return call("read_file", {"file_id": "F1"})
            case ["read_file"]:
                return call("make_table", {"name": "Plan", "content": rows})
            case ["make_table"]:
                sql = f"SELECT sum(units) + 1 AS units FROM {handles[-1]}"
                return call("query_table", {"sql": sql, "handles": [handles[-1]]})
            case ["query_table"]:
                return call("write_file", {"name": "plan.txt", "content": "North: 9,999 in all"})
            case ["write_file"]:
                pattern = {"handle": handles[-1], "pattern": r"(?P<units>[\d,]+) in"}
                return call("extract_matches", pattern)
            case _:
                said = "North sold 4,722, East 4,211; 9,413 with one more; 9,999 in all."
                return finish(answer(said))

    async with bot_with(stores, launders) as bot:
        ref = bot.conversation.attach("units.csv", ROWS.encode())
        outcome = await bot.ask(asked("Units?").model_copy(update={"files": (ref,)}))
    assert any("9413" in each for each in bot.outputs(-3))
    assert any("9,999" in each for each in bot.outputs())
    assert untraced(outcome) == ["4,211", "9,413", "9,999"]


async def test_the_audit_counts_what_was_not_traced(stores: Stores) -> None:
    """23.3: without a word of it."""
    async with bot_with(stores, Script([READ, INVENTED]), read_units.tool) as bot:
        await bot.ask("Units?")
    entries = [each.entry async for each in stores.audit.read("T1")]
    [ended] = [each for each in entries if each and each.kind is AuditKind.ENDED]
    assert (ended.claims, ended.untraced) == (2, 1)
    assert "9,413" not in ended.model_dump_json()


@pytest.mark.parametrize(
    ("mode", "counted", "shown"),
    [
        ("off", False, False),
        ("measure", True, False),
        ("mark", True, True),
        ("send_back", True, True),
    ],
)
async def test_what_is_done_depends_on_the_mode(
    stores: Stores, mode: str, counted: bool, shown: bool
) -> None:
    """23.2: off does nothing, measure counts and shows nothing, mark says it; so does send_back of
    earlier releases."""
    script, channels = Script([READ, INVENTED]), {"C1": {"evidence": mode}}
    async with bot_with(stores, script, read_units.tool, channels=channels) as bot:
        outcome = await bot.ask("Units?")
    assert (outcome.traced is not None) is counted
    assert outcome.traced_shown is shown


SENDS_BACK = {"mode": "send_back"}
UNREAD = {"title": "A report", "supports": "All of it.", "quote": "West is the best by far."}
INVENTED_TOO = finish(answer("North sold 4,722 units and West 9,413.", sources=[UNREAD]))


async def test_a_result_is_sent_back_once_for_what_is_surely_wrong(stores: Stores) -> None:
    """evidence 1, K1: the model is told which quote stands nowhere; a figure is no reason. What is wrong
    again loses its place."""
    script = Script([READ, INVENTED_TOO, INVENTED_TOO])
    async with bot_with(stores, script, read_units.tool) as bot:
        outcome = await bot.ask("Units?")
    objection = bot.outputs()[-1]
    assert objection.startswith("Not taken yet:")
    assert "- sources.0.quote: nothing that was read says “West is the best by far.”" in objection
    assert "9,413" not in objection
    assert outcome.result is not None
    assert [each["quote"] for each in outcome.result["sources"]] == [None]
    assert untraced(outcome) == ["9,413"]
    script.assert_done()


async def test_a_result_that_the_model_corrects_is_taken(stores: Stores) -> None:
    """23.2: in words that it did read."""
    script = Script([READ, INVENTED_TOO, RIGHT])
    async with bot_with(stores, script, read_units.tool) as bot:
        outcome = await bot.ask("Units?")
    assert outcome.result == answer("North sold 4,722 units and South 3,048: 7,770 in all.")
    script.assert_done()


async def test_nothing_is_sent_back_when_the_run_must_end(stores: Stores) -> None:
    """23.2 C6: the last call takes what there is, and marks it."""
    script = Script([READ, INVENTED_TOO])
    settings: dict[str, Any] = {"evidence": SENDS_BACK, "limits": {"tokens": 100}}
    async with bot_with(stores, script, read_units.tool, **settings) as bot:
        outcome = await bot.ask("Units?")
    assert untraced(outcome) == ["9,413"]
    script.assert_done()


async def test_a_run_that_dies_is_traced_by_the_next_worker(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """23.2 A4: a worker dies after something was read and sent back, the next one when the result was
    taken. What was read is derived from the ledger again, and nothing is sent back twice."""
    question, thinking = asked("Units?"), asyncio.Event()

    async def brain(request: ModelRequest) -> Reply:
        if len(api.requests) < 3:
            return (READ, INVENTED_TOO)[len(api.requests) - 1]
        if len(api.requests) == 3:
            thinking.set()
            await asyncio.Event().wait()
        return INVENTED_TOO

    async with (
        ResponsesServer.open(brain=brain) as api,
        bot_on(stores, api, read_units.tool, evidence=SENDS_BACK) as bot,
    ):
        first = asyncio.create_task(bot.ask(question))
        await thinking.wait()
        first.cancel()
        await asyncio.wait({first})
        monkeypatch.setattr(failpoints, "_orders", tmp_path)
        (tmp_path / "run-finishing").write_text("raise")
        with pytest.raises(failpoints.FailpointRaised):
            await bot.ask(question, deaths=1)
        outcome = await bot.ask(question, deaths=2)
        assert len(api.requests) == 4
    assert untraced(outcome) == ["9,413"]


async def test_an_answer_that_read_nothing_although_a_file_was_there_is_warned_of(
    stores: Stores,
) -> None:
    """evidence 3: figures of three digits or more; not without a file, and not what the person wrote."""
    said = "It was 4,722 in 1066, and 12 more."
    async with bot_with(stores, Script([finish(answer(said))] * 3)) as bot:
        file = bot.conversation.attach("units.csv", ROWS.encode())
        ignored = await bot.ask("How many?", files=(file,))
        known = await bot.ask("Is it 4,722?", files=(file,), ts="2.0", thread="2.0")
        general = await bot.ask("How many?", ts="3.0", thread="3.0")
    assert (warned(ignored), warned(known), warned(general)) == (["4,722"], [], [])
    assert traced(ignored).nothing_read


async def test_the_messages_of_the_thread_are_searched(stores: Stores) -> None:
    """23.3: an answer from what others wrote in the thread is traced to the message."""
    async with bot_with(stores, Script([finish(answer("We agreed on 90 days."))])) as bot:
        said = ThreadMessage(ts="0.5", at=datetime.now(UTC), author="Ada", text="90 days, agreed?")
        bot.conversation.messages.append(said)
        outcome = await bot.ask("What did we agree on?")
    assert [item.verdict for item in traced(outcome).items] == [Verdict.READ]


async def test_only_the_traced_figures_of_a_report_count(stores: Stores) -> None:
    """23.2: a helper's report is traced to what the helper read; what it invents is told to its parent,
    and is not evidence for the answer."""
    report = {
        "summary": "North sold 4,722 units and West 9,413.",
        "findings": [],
        "gaps": [],
    }
    goal = "Look up the units sold"
    script = ScriptBook(
        {
            "Units?": [
                call("acquire_tools", {"names": ["dispatch_subagent"]}),
                call("dispatch_subagent", {"goal": goal, "tools": ["read_channel"]}),
                INVENTED,
            ],
            goal: [call("read_channel", {"channel": "#sales"}), finish(report)],
        }
    )
    async with bot_with(stores, script) as bot:
        said = ThreadMessage(
            ts="0.5", at=datetime.now(UTC), author="Ada", text="North: 4,722 units"
        )
        bot.conversation.channels["sales"] = [said]
        outcome = await bot.ask("Units?")
    assert "look them up yourself: 9,413" in bot.outputs()[-1]
    assert untraced(outcome) == ["9,413"]


async def test_what_another_person_read_alone_is_no_evidence_here(stores: Stores) -> None:
    """23.2: private chains of others do not count, those of the same person do."""
    script = Script([READ, RIGHT, READ, INVENTED])
    async with bot_with(stores, script, read_units.tool) as bot:
        await bot.ask("Units?", private=True, user="U2")
        outcome = await bot.ask("Units?", user="U1")
    ledger = await stores.ledger.entries("T1:C1:1.0")
    assert {each.bound_to for each in ledger} == {"U2", None}
    assert untraced(outcome) == ["9,413"]


async def test_the_terminal_and_json_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """23.3: `bot ask --json` has all findings, and without it the line is printed."""
    file = tmp_path / "units.csv"
    file.write_text(ROWS)
    read = call("read_file", {"file_id": "F1"})
    async with ResponsesServer.open(brain=Script([read, INVENTED])) as api:
        settings = Settings(
            openai_api_key=SecretStr(api.api_key),
            openai_base_url=api.url,
            openai_model=MODEL,
            redis_url=None,
        )
        await ask_once(settings, "Units?", [file], None, as_json=True, stream=False, dry_run=False)
    outcome = Outcome.model_validate_json(capsys.readouterr().out)
    assert "1 figure" in as_text(outcome)
    assert outcome.traced is not None
    verdicts = {each.text: each.verdict for each in outcome.traced.items}
    assert verdicts == {"4,722": Verdict.READ, "9,413": Verdict.UNTRACED}
