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
from bot.core.findings import Claim, Finding, Findings, Place, Verdict
from bot.core.ids import new_id
from bot.core.outcome import Outcome
from bot.core.refresh import FigureChange, Refreshed
from bot.core.request import Entry, Job, Request
from bot.dev.model import ModelRequest, Reply, call, calls, finish
from bot.evidence.check import check
from bot.evidence.entries import Entry as Output
from bot.evidence.fields import fields_of
from bot.evidence.indexing import index
from bot.runs.policy.channels import ChannelSettings
from bot.runs.refresh import jobs
from bot.runs.refresh.compare import Repeated
from bot.runs.refresh.jobs import REFRESH, RefreshJobs
from bot.runs.refresh.locate import Located, Missing, locate
from bot.runs.refresh.numbers import rewritten
from bot.runs.refresh.plan import (
    RecordedCall,
    Skipped,
    figures_of,
    is_refreshable,
    plan,
    recorded_calls,
    with_handles,
    with_numbers,
)
from bot.services.databases import DatabaseConfig
from bot.store import Stores
from bot.testing.tools import tool_of
from tests.support.redis import asked
from tests.support.runs import Bot, answer, bot_with
from tools.tables import query_table

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
    """Read a database and answer."""
    made = [each["name"] for each in request.items if each.get("type") == "function_call"]
    if "query_database" in made:
        return finish(answer("North: 220,919.50."))
    if "acquire_tools" in made:
        return call("query_database", {"database": "shop", "sql": QUERY})
    return call("acquire_tools", {"names": ["query_database"]})


def whole(request: ModelRequest) -> Reply:
    """Read a database and a file, join both, calculate, answer."""
    made = [each["name"] for each in request.items if each.get("type") == "function_call"]
    if request.forced or "calculate" in made:
        return finish(
            answer(
                "North sold 220,919.50, 10.5 % over its target of 200,000. Together they sold "
                "400,919.50; North is 55.1 % of it and 40,919.50 ahead of South, which is 22.7 %.",
                key_points=["South sold $180k."],
                table={
                    "caption": "Beyond the target",
                    "columns": ["Region", "Beyond"],
                    "rows": [["North", "20,919.50"], ["South", "−10,000"]],
                },
            )
        )
    if "query_table" in made:
        return call("calculate", {"expression": "220919.5 / 200000 * 100 - 100"})
    if "query_database" in made:
        sold, wanted = handles(request, "query_database"), handles(request, "read_file")
        sql = f"SELECT s.region, revenue - target AS beyond FROM {sold} s JOIN {wanted} t USING (region) ORDER BY 1"
        return call("query_table", {"sql": sql, "handles": [sold, wanted]})
    if "acquire_tools" in made:
        queried = ("query_database", {"database": "shop", "sql": QUERY})
        return calls(queried, ("read_file", {"file_id": "F1"}))
    return call("acquire_tools", {"names": ["query_database", "query_table", "calculate"]})


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


def read(text: str, place: Place) -> Finding:
    return Finding(
        field="summary", text=text, kind=Claim.FIGURE, verdict=Verdict.READ, places=(place,)
    )


@asynccontextmanager
async def scene(
    stores: Stores, folder: Path, brain: Callable[[ModelRequest], Reply] = whole, url: str = ""
) -> AsyncGenerator[Scene]:
    """A bot that has answered, from its own SQLite file or the database at `url`."""
    shop = folder / "shop.sqlite"
    write(shop, SALES)
    databases = {"shop": DatabaseConfig(url=SecretStr(url or f"sqlite:///{shop}"))}
    async with bot_with(stores, brain, databases=databases) as bot:
        ref = bot.conversation.attach("targets.csv", TARGETS)
        request = asked("How are we doing?").model_copy(update={"files": (ref,)})
        outcome = await bot.ask(request)
        assert outcome.refreshable
        yield Scene(bot, shop, request, outcome)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


async def test_what_changed_is_told_figure_by_figure(stores: Stores, folder: Path) -> None:
    """A database, a file, a query over both and a calculation are made again in order, with new
    handles in place of the old ones, and no model is asked. Each figure keeps its notation. What
    cannot be read again keeps its value: a row that is gone, a file that was replaced or deleted, and
    what builds on it."""
    async with scene(stores, folder) as at:
        requests = len(at.bot.api.requests)
        write(at.shop, {"North": 231_004.0, "South": 190_000.0, "West": 5.0})
        result = await at.refresh()
        assert [(each.name, each.before, each.now) for each in result.figures] == [
            ("North", "220,919.50", "231,004.00"),
            ("North sold 220,919.50,", "10.5 %", "15.5 %"),
            ("North", "200,000", "200,000"),
            ("Together they sold", "400,919.50", "421,009.00"),  # a total counts new rows
            ("North is", "55.1 %", "54.9 %"),
            ("% of it and", "40,919.50", "41,004.00"),
            ("of South, which is", "22.7 %", "21.6 %"),
            ("South", "$180k", "$190k"),
            ("North", "20,919.50", "31,004.00"),
            ("South", "-10,000", "0"),
        ]
        assert (result.is_good, len(result.changed)) == (True, 9)
        assert len(at.bot.api.requests) == requests  # the model had no part in it
        log = [each.entry async for each in stores.audit.read(at.request.team)]
        called = [each.what for each in log if each and each.request_id == result.request_id]
        assert called == ["refresh", "query_database", "read_file", "query_table", "calculate"]

        write(at.shop, {"North": 1.0})
        ref, _ = at.bot.conversation.files["F1"]
        at.bot.conversation.files["F1"] = (ref, TARGETS.replace(b"200000", b"900000"))
        replaced = {(each.before, each.now, each.why) for each in (await at.refresh()).figures}
        gone, builds_on = (
            "its row is no longer there",
            "what it builds on could not be read again",
        )
        assert replaced >= {
            ("220,919.50", "1.00", ""),
            ("$180k", "", gone),
            ("400,919.50", "1.00", ""),
            ("10.5 %", "", builds_on),
            ("20,919.50", "", builds_on),
            ("200,000", "", "its file was replaced by another one"),
        }
        assert (at.shown[-1].is_good, at.shown[-1].last_good) == (False, result.at)
        del at.bot.conversation.files["F1"]
        deleted = {(each.before, each.why) for each in (await at.refresh()).figures}
        assert ("200,000", "its file was deleted, or you cannot see it") in deleted


async def test_a_refresh_has_the_rights_of_the_moment(stores: Stores, folder: Path) -> None:
    """S4 S7: today's channel policy, the pause, and whoever presses; a private answer never. What is
    read again is kept for that person alone."""
    async with scene(stores, folder, only_database) as at:
        deps, key = at.bot.runner.deps, at.request.thread_key
        before = await stores.artifacts.handles(key)

        async def may_not(_request: Request, _channel: ChannelSettings) -> bool:
            return False

        refused = await at.refresh(deps=replace(deps, may_ask=may_not))
        assert refused.problem == jobs.NOT_ALLOWED()
        only_files = ChannelSettings(tools=("files",))
        await deps.channels.change(at.request.team, at.request.channel, only_files)
        limited = await at.refresh()
        assert limited.figures[0].why == "query database is not available here any more"
        await deps.channels.reset(at.request.team, at.request.channel)
        await stores.pause.set(Pause(by="U1", name="Ada", at=datetime.now(UTC)))
        assert "paused" in (await at.refresh()).problem
        await stores.pause.clear()

        result = await at.refresh("U2")
        assert result.is_good
        assert await stores.artifacts.handles(key) == before
        assert len(await stores.artifacts.handles(f"{key}:U2")) == 1
        assert await stores.refreshes.get(key, at.outcome.run_id, "U2") == result
        assert await stores.refreshes.get(key, at.outcome.run_id, "U3") is None

        kept = at.request.model_copy(update={"private": True}).model_dump_json()
        run = stores.redis.key("run", at.outcome.run_id)
        await stores.redis.call("HSET", run, "request", kept)
        assert (await at.refresh("U1")).problem == jobs.PRIVATE()

        tool_of = deps.toolbox.catalogue.get
        queried = read("180", Place(call_id="c", tool="query_database"))
        person = read("5", Place(call_id="1.2"))
        for figures, is_so in (
            ((queried, person), True),
            ((read("5", Place(call_id="c", tool="calculate")),), False),
            ((read("5", Place(call_id="c", tool="search_web")),), False),
            ((read("5", Place(call_id="c", tool="fetch_page")),), False),
            ((person,), False),
            ((), False),
        ):
            assert is_refreshable(Findings(items=figures), tool_of) is is_so
        assert not is_refreshable(None, tool_of)


@pytest.mark.parametrize(
    ("shown", "old", "new", "now"),
    [
        ("220,919.50", 220_919.5, 231_004.0, "231,004.00"),
        ("220.919,50 €", 220_919.5, 231_004.0, "231.004,00 €"),
        ("220 919,5", 220_919.5, 231_004.0, "231 004,0"),
        ("$220.9k", 220_919.5, 231_004.0, "$231.0k"),
        ("1.2 million", 1_234_567.0, 2_345_678.0, "2.3 million"),
        ("33 %", 0.3312, 0.41, "41 %"),
        ("33,2 %", 33.214, 35.7, "35,7 %"),
        ("−3,048", -3_048.0, 12.0, "12"),
        ("fell by 12", -12.0, -15.0, "fell by 15"),
        ("3", 3.0, 4.0, "4"),
        ("12", 999.0, 4.0, None),
    ],
)
def test_a_new_value_is_written_as_the_answer_writes_it(
    shown: str, old: float, new: float, now: str | None
) -> None:
    assert rewritten(shown, old, new) == now


TABLE = "tbl_abcd1234 · 2 rows × 2 columns\nregion,revenue\nNorth,10\nSouth,20"


@pytest.mark.parametrize(
    ("line", "text", "column", "now", "found"),
    [
        (3, "10", "revenue", "x\nregion,revenue\nSouth,21\nNorth,11", Located(10, 11)),
        (3, "10", "", "region,revenue\nNorth,11\nEast,10", Located(10, 11)),
        (3, "10", "revenue", "region,revenue\nSouth,21", Missing.GONE),
        (3, "10", "revenue", "region,income\nNorth,11", Missing.UNCLEAR),
        (3, "10", "revenue", "region,revenue\nNorth,\nSouth,20", Missing.GONE),
        (3, "10", "revenue", "region,revenue\nNorth,11\nNorth,12", Missing.UNCLEAR),
        (1, "2", "", "tbl_zzzz9999 · 5 rows × 2 columns\nregion,revenue\nNorth,1", Missing.UNCLEAR),
        (3, "10", "revenue", "region,revenue\nEast,1\n[rows 1–1 of 3 shown]", Missing.UNCLEAR),
        (9, "10", "", "region,revenue\nNorth,11", Missing.UNCLEAR),
    ],
)
def test_a_figure_is_found_by_its_row_and_column(
    line: int, text: str, column: str, now: str, found: Located | Missing
) -> None:
    """Wherever the row stands now; never another row's figure where it is not clear which is meant."""
    place = Place(call_id="c", tool="t", line=line, text=text, column=column)
    before, after = (index(Output("c", "t", text)) for text in (TABLE, now))
    assert locate(place, before, after) == found


def test_handles_and_numbers_are_replaced_inside_of_arguments() -> None:
    """In SQL and in lists; a number not as part of another, and a handle not as part of a word."""
    sql = (
        '{"sql": "SELECT a FROM tbl_abcd1234 x, \\"tbl_abcd12345\\"", "handles": ["tbl_abcd1234"]}'
    )
    replaced = with_handles(sql, {"tbl_abcd1234": "tbl_new00000"})
    assert replaced == sql.replace("tbl_abcd1234 ", "tbl_new00000 ").replace(
        '"tbl_abcd1234"]', '"tbl_new00000"]'
    )
    assert with_numbers('{"expression": "120 - 20 * 12"}', {"12": 5.0, "120": -7.5}) == (
        '{"expression": "-7.5 - 20 * 5"}'
    )
    assert (
        with_numbers('{"value": 12.5, "times": 3}', {"12.5": 2.0}) == '{"value": 2.0, "times": 3}'
    )


def test_no_stored_copy_passes_for_what_was_read_again() -> None:
    """A call of an earlier release, of which it is not known what it saved, is not made again."""
    call_item = {"type": "function_call", "call_id": "c1", "name": "query_table", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "region,n\nNorth,1"}
    entry = LedgerEntry(run_id="run_1", items=(call_item, output))
    assert recorded_calls([entry]) == {}
    figure = read("1", Place(call_id="c1", tool="query_table", line=2, text="1"))
    tool = tool_of(query_table)
    assert plan([figure], {}, lambda _: tool).skipped == {"c1": Skipped.NOT_STORED}
    assert with_numbers('{"value": 120}', {"120": 0.5}) == '{"value": 0.5}'  # no decimals lost


def test_calls_under_the_same_id_are_not_mixed_up() -> None:
    """V1: some model servers number the calls of each response anew: which call a figure is from is
    then unknown, and a refresh would compare it with another table's."""

    def entry(region: str) -> LedgerEntry:
        named = {"call_id": "call_0", "name": "query_table"}
        made = {"type": "function_call", "arguments": json.dumps({"region": region}), **named}
        output = {"type": "function_call_output", "call_id": "call_0", "output": f"{region},1"}
        record = CallRecord(call_id="call_0", counts_as="read")
        return LedgerEntry(run_id="run_1", items=(made, output), calls=(record,))

    assert [*recorded_calls([entry("North")])] == ["call_0"]
    assert recorded_calls([entry("North"), entry("South")]) == {}


def compared(said: str, before: dict[str, str], now: dict[str, str], **more: Any) -> dict[str, str]:
    """What changed of an answer's figures, by their texts: the value now, or why there is none."""
    record = CallRecord(call_id="c")
    recorded = {name: RecordedCall(name, "t", "{}", text, record) for name, text in before.items()}
    outputs = [each.indexed for each in recorded.values()]
    traced = check(fields_of({"summary": said}), outputs)
    items = tuple(each.model_copy(update=more) for each in traced.items)
    traced = Findings.model_validate_json(Findings(items=items).model_dump_json())
    after = {name: recorded[name].index(text) for name, text in now.items()}
    repeated = Repeated(recorded, after, {})
    changes = repeated.compare(figures_of(traced), traced, {"summary": said})
    return {each.before: each.now or each.why for each in changes}


def test_arithmetic_is_repeated_from_its_operands() -> None:
    """23.5: of what was worked out itself, of whole columns, in other units, and with a constant."""
    before = {
        "sales": "region,units,revenue\nNorth,4239,220919.5\nEast,3659,191390.5\nSouth,2951,156952.0",
        "log": "p95 was 655.1 ms and p50 was 310 ms",
    }
    now = {
        "sales": "region,units,revenue\nEast,3659,200000\nNorth,4239,300000\nSouth,2951,100000",
        "log": "p95 was 1310.2 ms and p50 was 310 ms",
    }
    said = (
        "Revenue was 569,262.00 in all. North, with 220,919.50, had 38.8 % of it; that is "
        "29,529.00 more than East, 191,390.50, or 15.4 %. North sold 4,239 units at 52.12 each. p95 was 0.66 s."
    )
    assert compared(said, before, now) == {
        "569,262.00": "600,000.00",
        "220,919.50": "300,000.00",
        "38.8 %": "50.0 %",
        "29,529.00": "100,000.00",
        "191,390.50": "200,000.00",
        "15.4 %": "50.0 %",
        "4,239": "4,239",
        "52.12": "70.77",
        "0.66 s": "1.31 s",
    }
    gone = compared(said, before, {**now, "sales": now["sales"].replace("East,3659,200000\n", "")})
    assert gone["29,529.00"] == gone["191,390.50"] == "its row is no longer there"
    assert gone["569,262.00"] == "400,000.00"


def test_arithmetic_of_an_earlier_release_is_not_guessed() -> None:
    """What its operands were is not stored: what was read is compared, the rest says that it cannot be."""
    before = {"sales": "region,revenue\nNorth,220919.5\nEast,191390.5"}
    now = {"sales": "region,revenue\nNorth,300000\nEast,200000"}
    said = "North made 220,919.50 and East 191,390.50, which is 15.4 % less."
    found = compared(said, before, now, operands=(), pattern="")
    assert found["220,919.50"] == "300,000.00"
    assert found["15.4 %"] == "its arithmetic cannot be repeated"


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
