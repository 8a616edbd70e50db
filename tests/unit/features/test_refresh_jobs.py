"""Refresh: the recorded calls of an answer made again, without the model, and what changed since."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.core.budgets import Pause
from bot.core.chain import CallRecord, LedgerEntry
from bot.core.ids import new_id
from bot.core.outcome import Outcome
from bot.core.request import Entry, Job, Request
from bot.dev.model import ModelRequest, Reply, call, calls, finish
from bot.features.refresh import jobs
from bot.features.refresh.cells import Missing, renewed
from bot.features.refresh.jobs import REFRESH, RefreshJobs
from bot.features.refresh.refreshable import is_refreshable
from bot.features.refresh.refreshed import FigureChange, Refreshed
from bot.features.refresh.repeat import recorded
from bot.features.refresh.store import RefreshStore
from bot.library.tracing.findings import Claim, Finding, Findings, Place, Verdict
from bot.library.tracing.outputs import Cell, Output, ShownTable
from bot.runs.policy.channels import ChannelSettings
from bot.services.sql_databases import DatabaseConfig
from bot.settings import ChannelTable
from bot.store import Stores
from tests.support.redis import asked
from tests.support.runs import Bot, answer, bot_with

SALES = {"North": 220_919.5, "South": 180_000.0}
TARGETS = b"region,target\nNorth,200000\nSouth,190000\n"
QUERY = "SELECT region, sum(revenue) AS revenue FROM sales GROUP BY 1 ORDER BY 1"
_HANDLE = re.compile(r"tbl_[0-9a-z]+")


def write(shop: Path, sales: dict[str, float]) -> None:
    with closing(sqlite3.connect(shop)) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS sales (region TEXT, revenue REAL)")
        database.execute("DELETE FROM sales")
        database.executemany("INSERT INTO sales VALUES (?, ?)", sales.items())


def handles(request: ModelRequest, tool: str) -> str:
    """The handle that a tool's output names first."""
    names = {i["call_id"]: i["name"] for i in request.items if i.get("type") == "function_call"}
    [output] = [
        each["output"]
        for each in request.items
        if each.get("type") == "function_call_output" and names[each["call_id"]] == tool
    ]
    return str(_HANDLE.findall(output)[0])


def only_database(request: ModelRequest) -> Reply:
    """Read a database, and answer with its one figure in a sentence and in a table."""
    made = [each["name"] for each in request.items if each.get("type") == "function_call"]
    if "query_database" in made:
        sold = handles(request, "query_database")
        table = {"caption": "Sold", "columns": [], "rows": [], "handle": sold}
        return finish(answer(f"They sold {{{{{sold}.revenue[1]|0.00}}}} in all.", table=table))
    if "acquire_tools" in made:
        return call("query_database", {"database": "shop", "sql": QUERY})
    return call("acquire_tools", {"names": ["query_database"]})


def whole(request: ModelRequest) -> Reply:
    """Read a database and a file, join both, calculate, answer."""
    made = [each["name"] for each in request.items if each.get("type") == "function_call"]
    if "acquire_tools" not in made:
        return call("acquire_tools", {"names": ["query_database", "query_table", "calculate"]})
    if "query_database" not in made:
        queried = ("query_database", {"database": "shop", "sql": QUERY})
        return calls(queried, ("read_file", {"file_id": "F1"}))
    sold, wanted = handles(request, "query_database"), handles(request, "read_file")
    if "query_table" not in made:
        sql = f"SELECT s.region, revenue - target AS beyond FROM {sold} s JOIN {wanted} t USING (region) ORDER BY 1"
        return call("query_table", {"sql": sql, "handles": [sold, wanted]})
    if "calculate" not in made:
        ratio = f"{{{{{sold}.revenue[1]}}}} / {{{{{wanted}.target[region=North]}}}}"
        return call("calculate", {"expression": f"{ratio} * 100 - 100"})
    return finish(
        answer(
            f"**North** sold {{{{{sold}.revenue[1]}}}}, over its target of 200,000. The South made "
            f"{{{{{sold}.revenue[region=South]|compact}}}}. Together that is 400,919.50.",
            key_points=["South sold $180k."],
            table={
                "caption": "Beyond the target",
                "columns": ["region", "beyond"],
                "rows": [],
                "handle": handles(request, "query_table"),
            },
        )
    )


@dataclass
class Scene:
    """A bot that has answered, and what refreshes of its answer showed."""

    bot: Bot
    shop: Path
    request: Request
    outcome: Outcome
    shown: list[Refreshed] = field(default_factory=list)

    async def refresh(self, user: str = "U2", deps: Any = None) -> Refreshed:
        """Refresh the answer as somebody, and return what they were shown."""

        async def show(_request: Request, result: Refreshed) -> None:
            self.shown.append(result)

        request = self.request.model_copy(
            update={
                "id": new_id("req"),
                "entry": Entry.JOB,
                "user": user,
                "private": True,
                "thread": self.outcome.run_id,
                "job": Job(kind=REFRESH, subject=self.outcome.run_id),
            }
        )
        await RefreshJobs(deps or self.bot.runner.deps, show).run(request, 0)
        return self.shown[-1]

    async def trace(self, *findings: Finding) -> None:
        """Store findings of the answer, as another release would have."""
        traced = Findings(items=findings)
        outcome = self.outcome.model_copy(update={"traced": traced}).model_dump_json()
        redis = self.bot.stores.redis
        await redis.call("HSET", redis.key("run", self.outcome.run_id), "outcome", outcome)


def read(text: str, place: Place, reference: str = "") -> Finding:
    return Finding(
        field="summary",
        text=text,
        kind=Claim.FIGURE,
        verdict=Verdict.READ,
        places=(place,),
        reference=reference,
    )


@asynccontextmanager
async def scene(
    stores: Stores,
    folder: Path,
    brain: Callable[[ModelRequest], Reply] = whole,
    *,
    url: str = "",
    question: str = "How are we doing?",
) -> AsyncGenerator[Scene]:
    """A bot that has answered, from its own SQLite file or the database at `url`."""
    shop = folder / "shop.sqlite"
    write(shop, SALES)
    databases = {"shop": DatabaseConfig(url=SecretStr(url or f"sqlite:///{shop}"))}
    async with bot_with(stores, brain, databases=databases) as bot:
        ref = bot.conversation.attach("targets.csv", TARGETS)
        request = asked(question).model_copy(update={"files": (ref,)})
        outcome = await bot.ask(request)
        assert outcome.refreshable
        yield Scene(bot, shop, request, outcome)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


async def test_what_changed_is_told_in_its_sentences(stores: Stores, folder: Path) -> None:
    """evidence 1, refresh: the calls are made again in order, with new handles in place of the old ones,
    and no model is asked. Each figure that was filled in or found in a table has its value now, written
    as before. What cannot be read again keeps its value: a row that is gone, a file that was replaced
    or deleted, and what builds on it."""
    async with scene(stores, folder) as at:
        requests = len(at.bot.api.requests)
        write(at.shop, {"Near": 7.0, "North": 231_004.0, "South": 190_000.0})
        result = await at.refresh()
        first, second = (
            "**North** sold 220,919.5, over its target of 200,000.",
            "The South made 180K.",
        )
        assert [(c.name, c.before, c.now, c.sentence) for c in result.figures] == [
            ("North", "220,919.5", "231,004", first),  # row 1 before, row 2 now
            ("North", "200,000", "200,000", first),
            ("South", "180K", "190K", second),
            ("South", "$180k", "190,000", "South sold $180k."),  # as it is written, once it changed
            ("North, beyond", "20,919.5", "31,004", ""),
            ("South, beyond", "-10,000", "0", ""),
        ]
        assert [first[c.start :][:3] for c in result.figures[:2]] == ["220", "200"]
        assert (result.is_good, len(result.changed), result.others) == (True, 5, 1)
        assert len(at.bot.api.requests) == requests  # the model had no part in it
        log = [each.entry async for each in stores.audit.read(at.request.team)]
        called = [each.what for each in log if each and each.request_id == result.request_id]
        assert called == ["refresh", "query_database", "read_file", "query_table"]

        write(at.shop, {"North": 1.0})
        ref, _ = at.bot.conversation.files["F1"]
        at.bot.conversation.files["F1"] = (ref, TARGETS.replace(b"200000", b"900000"))
        replaced = {(each.before, each.now, each.why) for each in (await at.refresh()).figures}
        builds_on = "its source data could not be read again"
        assert replaced >= {
            ("220,919.5", "1", ""),
            ("180K", "", "its row is no longer there"),
            ("20,919.5", "", builds_on),
            ("200,000", "", "its file was replaced by another one"),
        }
        assert (at.shown[-1].is_good, at.shown[-1].last_good) == (False, result.at)
        del at.bot.conversation.files["F1"]
        deleted = {(each.before, each.why) for each in (await at.refresh()).figures}
        assert ("200,000", "its file was deleted, or you cannot see it") in deleted


async def test_new_values_are_written_in_the_language_of_the_answer(
    stores: Stores, folder: Path
) -> None:
    """evidence 1: not in that of the person who presses."""

    def in_german(request: ModelRequest) -> Reply:
        made = [each["name"] for each in request.items if each.get("type") == "function_call"]
        if "query_database" not in made:
            return only_database(request)
        sold = handles(request, "query_database")
        return finish(answer(f"Der Norden hat {{{{{sold}.revenue[1]|0.00}}}} verkauft."))

    question = "Wie viel hat der Norden verkauft, und was ist mit dem Süden?"
    async with scene(stores, folder, in_german, question=question) as at:
        write(at.shop, {"North": 1_231_004.5, "South": 1.0})
        first = (await at.refresh()).figures[0]
        assert (first.before, first.now) == ("220.919,50", "1.231.004,50")


def calculated(request: ModelRequest) -> Reply:
    """As `whole`, but with a second calculation, of a number that the model copied."""
    made = [each["name"] for each in request.items if each.get("type") == "function_call"]
    if made.count("calculate") == 1:
        return call("calculate", {"expression": "220919.5 / 4"})
    return whole(request)


async def test_a_calculation_is_repeated_from_what_it_refers_to(
    stores: Stores, folder: Path
) -> None:
    """evidence 1: a number that the model copied is not guessed."""
    async with scene(stores, folder, calculated) as at:
        outputs = [
            item["output"]
            for entry in await stores.ledger.entries(at.request.thread_key)
            for item in entry.items
            if "handle: fig_" in str(item.get("output"))
        ]
        ids = [
            item["call_id"]
            for entry in await stores.ledger.entries(at.request.thread_key)
            for item in entry.items
            if item.get("name") == "calculate"
        ]
        names = [re.findall(r"fig_[0-9a-z]+", output)[0] for output in outputs]
        await at.trace(
            *(
                read(text, Place(call_id=call_id, tool="calculate", handle=name, line=1), ref)
                for call_id, name, text, ref in zip(
                    ids, names, ("10.5", "55,229.88"), (f"{names[0]}|0.0", ""), strict=True
                )
            )
        )
        write(at.shop, {"North": 231_004.0, "South": 1.0})
        result = await at.refresh()
        assert [(each.before, each.now, each.why) for each in result.figures] == [
            ("10.5", "15.5", ""),
            ("55,229.88", "", "it was calculated with a number that I cannot trace"),
        ]
        write(at.shop, {"South": 1.0})
        gone = (await at.refresh()).figures[0]
        assert gone.why == "its source data could not be read again"


async def test_answers_of_earlier_releases_keep_what_they_have(
    stores: Stores, folder: Path
) -> None:
    """evidence 1: what was read in a table is refreshed, what was worked out is counted; an answer
    without the former says that it never will be."""
    async with scene(stores, folder, only_database) as at:
        [first, *_] = at.outcome.traced.items if at.outcome.traced else []
        place = first.places[0].model_copy(update={"handle": ""})
        number = first.model_copy(update={"reference": "", "places": (place,)})
        worked_out = Finding.model_validate(
            {
                **number.model_dump(),
                "text": "55.1 %",
                "verdict": "worked_out",
                "operands": [{"value": 220_919.5, "place": 0}],
                "pattern": "a / b",
            }
        )
        await at.trace(number, worked_out)
        write(at.shop, {"North": 231_004.0})
        result = await at.refresh()
        assert [each.now for each in result.figures] == ["231,004"]
        assert (result.others, result.is_over) == (1, False)
        await at.trace(worked_out)
        over = await at.refresh()
        assert (over.problem, over.is_over) == (jobs.NOTHING(), True)


async def test_a_refresh_has_the_rights_of_the_moment(stores: Stores, folder: Path) -> None:
    """S4 S7: today's channel policy, the pause, and whoever presses; a private answer never. What is
    read again is kept for that person alone. With a tool that
    is gone nothing is."""
    async with scene(stores, folder, only_database) as at:
        deps, key = at.bot.runner.deps, at.request.thread_key
        before = await stores.artifacts.handles(key)

        async def may_not(_request: Request, _channel: ChannelSettings) -> bool:
            return False

        refused = await at.refresh(
            deps=replace(deps, frontend=replace(deps.frontend, may_ask=may_not))
        )
        assert refused.problem == jobs.NOT_ALLOWED()
        only_files = ChannelTable(tools=("files",))
        await deps.channels.change(at.request.team, at.request.channel, only_files)
        limited = await at.refresh()
        assert limited.figures[0].why == "query database is not available here any more"
        await deps.channels.reset(at.request.team, at.request.channel)
        catalogue = deps.toolbox.catalogue
        query = catalogue.get("query_database")
        assert query
        renamed = replace(query, name="ask_database", replaces={"query_database": "it."})
        without = catalogue.without(["query_database"]).joined_by([renamed])
        toolbox = replace(deps.toolbox, catalogue=without)
        gone = await at.refresh(deps=replace(deps, toolbox=toolbox))
        assert (gone.problem, gone.is_over) == (jobs.NOTHING(), True)
        await stores.pause.set(Pause(by="U1", name="Ada", at=datetime.now(UTC)))
        assert "paused" in (await at.refresh()).problem
        await stores.pause.clear()

        result = await at.refresh("U2")
        assert result.is_good
        assert await stores.artifacts.handles(key) == before
        assert len(await stores.artifacts.handles(f"{key}:U2")) == 1
        assert await RefreshStore.of(stores).get(key, at.outcome.run_id, "U2") == result
        assert await RefreshStore.of(stores).get(key, at.outcome.run_id, "U3") is None

        kept = at.request.model_copy(update={"private": True}).model_dump_json()
        run = stores.redis.key("run", at.outcome.run_id)
        await stores.redis.call("HSET", run, "request", kept)
        assert (await at.refresh("U1")).problem == jobs.PRIVATE()

        tool_of = deps.toolbox.catalogue.get
        queried = read("180", Place(call_id="c", tool="query_database", column="n"))
        in_text = read("180", Place(call_id="c", tool="query_database"))
        person = read("5", Place(call_id="1.2"))
        for figures, is_so in (
            ((queried, person), True),
            ((in_text,), False),
            ((read("5", Place(call_id="c", tool="calculate", handle="fig_abcd1234")),), False),
            ((read("5", Place(call_id="c", tool="search_web", column="n")),), False),
            ((read("5", Place(call_id="c", tool="fetch_page", column="n")),), False),
            ((person,), False),
            ((), False),
        ):
            assert is_refreshable(Findings(items=figures), tool_of) is is_so
        assert not is_refreshable(None, tool_of)


TABLE = "region,year,units,revenue\nNorth,2025,3,10\nSouth,2025,4,20\nNorth,2026,5,30"
TOTALS = "orders,revenue\n4,100"


def shown(text: str, total: int = 0) -> Output:
    """An output with a table, of which it shows the rows in `text`."""
    columns, *rows = text.split("\n")
    head = f"handle: tbl_abcd1234 · {total or len(rows)} rows × {columns.count(',') + 1} columns"
    return Output("c", f"{head}\n{text}", made=("tbl_abcd1234",))


def now_in(cell: Cell, old: ShownTable, new: ShownTable) -> str:
    """What is in a cell now, or why that is not known."""
    try:
        return renewed(cell, [old], [new]).text
    except Missing as missing:
        return missing.why()


@pytest.mark.parametrize(
    ("before", "row", "now", "total", "found"),
    [
        (TABLE, 2, "year,units,revenue,region\n2025,9,11,North\n2025,8,21,South", 0, "21"),
        (TABLE, 1, "region,year,units,revenue\nNorth,2026,1,31\nNorth,2025,1,11", 0, "11"),
        (TABLE, 2, "region,year,units,revenue\nNorth,2025,1,11", 0, "its row is no longer there"),
        (
            TABLE,
            2,
            "region,year,units,revenue\nSouth,2025,1,11\nSouth,2026,1,2",
            0,
            "several rows have that name now",
        ),
        (
            TABLE,
            2,
            "region,year,units,income\nSouth,2025,4,1",
            0,
            "the result has another shape now",
        ),
        (
            TABLE,
            2,
            "region,year,units,revenue\nNorth,2025,1,11",
            9,
            "its row is not among the rows that are shown now",
        ),
        ("n,revenue\n1,10\n1,20", 1, "n,revenue\n1,11", 0, "several rows have that name now"),
        (TOTALS, 1, "orders,revenue\n5,120", 0, "120"),
        (TOTALS, 1, "orders,revenue\n5,120\n6,130", 0, "the result has another shape now"),
        ("year,revenue\n2025,100", 1, "year,revenue\n2026,120", 0, "its row is no longer there"),
    ],
)
def test_a_row_is_found_by_its_name(
    before: str, row: int, now: str, total: int, found: str
) -> None:
    """evidence 1: wherever it is now; never another row's figure where it is not clear which is meant.
    The one row of totals has no name."""
    [old], [new] = shown(before).tables, shown(now, total).tables
    cell = old.cell(old.rows[row - 1], old.columns.index("revenue"))
    assert now_in(cell, old, new) == found


def test_a_row_of_a_part_is_found_by_all_that_names_it() -> None:
    """The rows that were not shown may begin in the same way."""
    [old] = shown("region,year,revenue\nNorth,2025,10", 9).tables
    [new] = shown("region,year,revenue\nNorth,2026,11", 9).tables
    assert "not among the rows" in now_in(old.cell(old.rows[0], 2), old, new)


def test_calls_under_the_same_id_are_not_mixed_up() -> None:
    """V1: some model servers number the calls of each response anew: which call a figure is from is
    then unknown, and a refresh would compare it with another table's. Nor is a call made again of
    which an earlier release did not store what it saved."""

    def entry(call_id: str, region: str, *records: CallRecord) -> LedgerEntry:
        named = {"call_id": call_id, "name": "query_table"}
        made = {"type": "function_call", "arguments": json.dumps({"region": region}), **named}
        output = {"type": "function_call_output", "call_id": call_id, "output": f"{region},1"}
        return LedgerEntry(run_id="run_1", items=(made, output), calls=records)

    record = CallRecord(call_id="call_0", counts_as="read")
    north, south = entry("call_0", "North", record), entry("call_0", "South", record)
    assert [*recorded([north], lambda _: None)[0]] == ["call_0"]
    assert recorded([north, south], lambda _: None) == ({}, {})
    assert recorded([entry("call_1", "West")], lambda _: None) == ({}, {})


def test_a_result_counts_what_changed() -> None:
    figures = (
        FigureChange(name="a", before="1", now="2"),
        FigureChange(name="b", before="1", now="1"),
        FigureChange(name="c", before="1", why="gone"),
    )
    result = Refreshed(
        run_id="r", request_id="q", user="U1", figures=figures, answered_at=datetime.now(UTC)
    )
    assert (len(result.changed), len(result.unknown), result.is_good) == (1, 1, False)


PROGRAM = """from scipy import stats
split = {handle}.revenue > 200000
{{"share": round(float(split.mean()) * 1234.5, 2), "rows": len(split)}}"""


def computing(request: ModelRequest) -> Reply:
    """Read a database, run a program over it, and answer with a figure of its result."""
    made = [item["name"] for item in request.items if item.get("type") == "function_call"]
    if "query_database" not in made:
        return call("query_database", {"database": "shop", "sql": QUERY})
    if "run_python" not in made:
        program = PROGRAM.format(handle=handles(request, "query_database"))
        return call("run_python", {"program": program})
    return finish(answer(f"It is {{{{{handles(request, 'run_python')}.share}}}}."))


async def test_a_figure_of_a_program_is_referred_to_traced_and_refreshed(
    stores: Stores, folder: Path
) -> None:
    """code: like any other figure; Refresh runs the same program over the data of today, and no model
    is asked."""
    async with scene(stores, folder, computing) as at:
        [finding] = at.outcome.traced.items if at.outcome.traced else ()
        assert (finding.text, finding.verdict) == ("617.25", Verdict.READ)
        assert finding.places[0].tool == "run_python"
        asked_before = len(at.bot.api.requests)
        write(at.shop, {"North": 220_919.5, "South": 280_000.0})
        result = await at.refresh()
        assert [(figure.before, figure.now) for figure in result.figures] == [("617.25", "1,234.5")]
        assert len(at.bot.api.requests) == asked_before
