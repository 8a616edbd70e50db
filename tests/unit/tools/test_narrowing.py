"""Every tool with large outputs can be asked for less, in the same words everywhere (D7)."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sqlite3
import zoneinfo
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

import tools
from bot.core.context import bound_request, current_request
from bot.core.errors import ToolError
from bot.services.artifact_services import artifact_services
from bot.services.artifact_tables import ArtifactTables
from bot.services.sql_databases import DatabaseConfig, SqlDatabases
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation, asked
from bot.toolkit import (
    Artifacts,
    Canvas,
    Canvases,
    ChannelEntry,
    Conversation,
    Databases,
    Directory,
    Fetcher,
    FileReaders,
    FileRef,
    FoundMessage,
    Memories,
    Memory,
    MemoryScope,
    Page,
    PersonEntry,
    ScheduledMessages,
    Search,
    SearchResults,
    SharedFile,
    ThreadMessage,
    Tool,
    ToolResult,
    WaitingMessage,
    WebResult,
    WebSearch,
    narrowing,
)
from bot.toolkit.size import Room, limited
from bot.toolkit.tool import Services

ALLOWED = 3_000
SMALL = {
    "add_reaction", "calculate", "cancel_schedule", "cancel_scheduled_message", "check_quote", "convert_time", "convert_units",
    "count_days", "count_words", "create_canvas", "current_time", "describe_channel", "draw_lots", "edit_canvas", "edit_file",
    "find_meeting_times", "forget", "forget_for_others", "list_holidays", "list_schedules", "make_chart", "make_table",
    "list_rules", "post_message", "propose_rule", "remember", "remember_for_others", "remove_rule", "schedule_message",
    "schedule_prompt",
    "share_file", "shift_date", "statistical_test", "write_file",
}  # fmt: skip
"""Tools whose outputs are small whatever they are asked."""

TEXT = "\n\n".join(
    f"Paragraph {n} is about {'turtles' if n == 7 else 'other things'}." * 3 for n in range(300)
)
MODULES = [
    *(
        importlib.import_module(f"tools.{each.name}")
        for each in pkgutil.iter_modules(tools.__path__)
    ),
    *(
        importlib.import_module(f"bot.features.{name}.tools")
        for name in ("canvases", "memories", "schedules")
    ),
]
MADE = (getattr(each, "tool", None) for module in MODULES for each in vars(module).values())
TOOLS = {each.name: each for each in MADE if isinstance(each, Tool)}


class ManyPages:
    """Finds whatever is looked for on twenty pages."""

    async def search(self, search: Search) -> list[WebResult]:
        urls = (f"https://a.example/{n}" for n in range(search.limit))
        return [WebResult("A page", url, "many words " * 40) for url in urls]


class OnePage:
    """The web, as far as it goes here."""

    async def fetch(self, url: str) -> Page:
        return Page(url=url, media_type="text/plain", data=TEXT.encode())


Prepared = tuple[MemoryArtifacts, dict[str, str]]


class ManyMemories:
    """What is remembered, as far as it goes here."""

    async def recall(self) -> list[Memory]:
        facts = [f"{'budget' if n == 5 else 'talk'} " * 20 for n in range(60)]
        return [Memory(scope=MemoryScope.CHANNEL, text=each, by="U1") for each in facts]


class OneCanvas:
    """A long one, whatever is asked for."""

    async def read(self, canvas: str | None) -> Canvas:
        return Canvas(canvas or "F1", "Plan", "https://x/docs/T1/F1", TEXT)


class ManyMessages:
    """Those that are posted later, as far as it goes here."""

    async def all(self) -> tuple[list[WaitingMessage], int]:
        at = datetime(2027, 3, 1, tzinfo=UTC)
        return [WaitingMessage(f"Q{n}", "#sales", at, "talk " * 40) for n in range(30)], 0


class LargeWorkspace:
    """People and channels, as far as it goes here."""

    async def people(self) -> list[PersonEntry]:
        return [
            PersonEntry(f"U{n}", f"Ada {n}", "", "Engineer", "UTC", "member") for n in range(90)
        ]

    async def members(self, channel: str, *, limit: int) -> list[PersonEntry]:
        return (await self.people())[:limit]

    async def search(self, query: str, *, limit: int, **_: Any) -> SearchResults:
        at, text = datetime(2026, 3, 1, tzinfo=UTC), f"{query} " * 30
        every = [FoundMessage("general", at, "Ada", text, f"https://x/{n}") for n in range(20)]
        return SearchResults(every[:limit], "here")

    async def files(self, channel: str | None, **_: Any) -> list[SharedFile]:
        at = datetime(2026, 3, 1, tzinfo=UTC)
        refs = [FileRef(id=f"F{n}", name=f"report {n} {'x' * 60}.pdf", size=9) for n in range(100)]
        return [SharedFile(each, at, "Ada", None, is_canvas=False) for each in refs]

    async def pins(self, channel: str | None) -> list[ThreadMessage]:
        start = datetime(2026, 3, 1, tzinfo=UTC)
        return [
            ThreadMessage(f"{n}.0", start + timedelta(days=n), "Ada", "talk " * 40)
            for n in range(30)
        ]

    async def channels(self) -> list[ChannelEntry]:
        return [ChannelEntry(f"C{n}", f"n{n}", "talk " * 9, "", False, False) for n in range(90)]


@pytest.fixture
def services(
    tmp_path: Path, artifacts: MemoryArtifacts, conversation: MemoryConversation
) -> Services:
    """A long thread, a long document, a wide database."""
    start = datetime(2026, 3, 1, tzinfo=UTC)
    conversation.messages = conversation.channels["general"] = [
        ThreadMessage(
            f"{n}.0",
            start + timedelta(days=n),
            "Ada",
            f"{'budget' if n == 5 else 'talk'} " * 40,
            url=f"https://slack.example/p{n}",
        )
        for n in range(40)
    ]
    conversation.attach("long.txt", TEXT.encode(), "text/plain")
    for n in range(100):
        conversation.attach(f"report {n} {'x' * 60}.pdf", b"")
    path = tmp_path / "wide.sqlite"
    with closing(sqlite3.connect(path)) as connection, connection:
        for n in range(40):
            columns = ", ".join(f"column_{c} INTEGER" for c in range(20))
            connection.execute(f"CREATE TABLE {'orders' if n == 5 else f't{n}'} ({columns})")
        connection.execute("CREATE TABLE notes (id INTEGER, text TEXT)")
        connection.executemany(
            "INSERT INTO notes VALUES (?, ?)", [(n, "note " * 30) for n in range(50)]
        )
    databases = SqlDatabases({"shop": DatabaseConfig.model_validate({"url": f"sqlite:///{path}"})})
    return {
        **artifact_services(artifacts),
        Conversation: conversation,
        FileReaders: FileReaders(),
        Canvases: OneCanvas(),
        Databases: databases,
        Fetcher: OnePage(),
        WebSearch: ManyPages(),
        Directory: LargeWorkspace(),
        ScheduledMessages: ManyMessages(),
        Memories: ManyMemories(),
    }  # fmt: skip


async def called(tool: Tool, given: dict[str, Any], services: Services) -> ToolResult:
    """As the loop calls it, with what it allows."""
    artifacts = services[Artifacts]
    assert isinstance(artifacts, MemoryArtifacts)
    with bound_request(replace(current_request(), max_response_size=100_000)):
        result = await tool.run(tool.arguments.model_validate(given), services)
    room = Room(ALLOWED)
    text = await limited(result.content, room, artifacts, name=tool.name, narrowing=tool.narrowing)
    return replace(result, content=text)


SQL = {"sql": "SELECT * FROM {table}", "handles": ["{table}"]}
TWO = {"before": "{table}", "after": "{other}", "key": "c0"}
CASES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("read_thread", {}, {"query": "BUDGET"}, "1 message with “BUDGET” among the last 40"),
    ("read_thread", {}, {"compact": True, "limit": 20}, "talk talk"),
    ("read_channel", {}, {"time_range": "2026-03-10/2026-03-12"}, "3 messages"),
    ("read_channel", {}, {"query": "budget"}, "1 message"),
    ("read_channel", {}, {"limit": 5}, "5 messages"),
    ("read_channel", {}, {"compact": True, "limit": 15}, "15 messages"),
    ("read_file", {"file_id": "F1"}, {"query": "turtles"}, "1 of 300 passages"),
    ("read_file", {"file_id": "F1"}, {"compact": True}, "handle: doc_"),
    ("search_files", {"query": "report", "limit": 100}, {"query": "report 57 "}, "1 file · searched: the files"),
    ("read_canvas", {"canvas": "F1"}, {"query": "turtles"}, "1 of 300 passages"),
    ("read_canvas", {"canvas": "F1"}, {"compact": True}, "handle: doc_"),
    ("fetch_page", {"url": "https://a.example/x"}, {"query": "turtles"}, "1 of 300 passages"),
    ("fetch_page", {"url": "https://a.example/x"}, {"compact": True}, "handle: doc_"),
    ("search_web", {"query": "bees", "limit": 20}, {"limit": 2}, "2 results"),
    ("list_databases", {}, {"query": "orders"}, "orders(column_0"),
    ("list_databases", {}, {"compact": True}, "notes, orders, t0"),
    ("query_database", {"database": "shop", "sql": "SELECT * FROM notes"}, {"limit": 5}, "note"),
    ("query_database", {"database": "shop", "sql": "SELECT * FROM notes"}, {"compact": True}, "tbl_"),
    ("query_table", SQL, {"limit": 3}, "rows 1–3 of 100 shown"),
    ("query_table", SQL, {"compact": True}, "columns: "),
    ("describe_table", {"handle": "{table}"}, {"fields": ["c3", "C4"]}, "columns: c3 VARCHAR, c4"),
    ("describe_table", {"handle": "{table}"}, {"compact": True}, "columns: c0 VARCHAR, c1"),
    ("read_artifact", {"handle": "{table}"}, {"fields": ["c3"]}, "rows 1–100 of 100"),
    ("read_artifact", {"handle": "{text}"}, {"limit": 10}, "lines 1–10 of 599"),
    ("compare_tables", TWO, {"limit": 2}, "value 0 of column 0,changed,c1,value 0 of column 1,new 0"),
    ("search_document", {"handle": "{text}", "query": "about", "limit": 30}, {"query": "turtles"}, "1 of 300 passages"),
    ("search_document", {"handle": "{doc}", "query": "about", "limit": 30}, {"limit": 2}, "[page 2, lines 6–7 · Chapter 1, "),
    ("outline_document", {"handle": "{doc}"}, {"limit": 3}, "page 1, line 2: Chapter 0"),
    ("list_artifacts", {}, {"query": "double"}, "1 saved"),
    ("list_artifacts", {}, {"limit": 2}, " saved · the newest 2 shown"),
    ("compare_texts", {"before": "{text}", "after": "{doc}"}, {"limit": 3}, "more lines]"),
    ("extract_matches", {"handle": "{doc}", "pattern": ".{30,}", "limit": 200}, {"limit": 2}, "120 rows × 2 columns"),
    ("query_json", {"handle": "{json}", "expression": "@"}, {"expression": "[7].name"}, '"value 7'),
    ("find_people", {"query": "ada", "limit": 200}, {"query": "ada 77"}, "1 people"),
    ("find_channels", {"limit": 200}, {"query": "n57"}, "1 channels"),
    ("list_members", {"channel": "general", "limit": 200}, {"limit": 5}, "Ada 0"),
    ("read_linked_thread", {"url": "https://slack.example/p0"}, {"limit": 3}, "3 messages"),
    ("search_messages", {"query": "budget", "limit": 20}, {"limit": 3}, "3 messages · searched: here"),
    ("list_channel_items", {"what": "files", "limit": 100}, {"query": "report 57 "}, "1 files"),
    ("list_channel_items", {"what": "files", "limit": 100}, {"limit": 5}, "the newest 5 shown"),
    ("list_channel_items", {"what": "pins"}, {"time_range": "2026-03-10/2026-03-12"}, "3 pins"),
    ("list_scheduled_messages", {}, {"limit": 3}, "Q2 · Mon 2027-03-01"),
    ("recall", {}, {"query": "budget"}, "budget budget"),
    ("recall", {}, {"limit": 5}, "talk talk"),
    ("search_artifact", {"handle": "{text}", "pattern": "other", "limit": 100}, {"limit": 3}, "3 shown"),
    ("search_artifact", {"handle": "{text}", "pattern": "other", "limit": 100}, {"pattern": "turtles"}, "1 of"),
]  # fmt: skip


def _id(case: tuple[str, dict[str, Any], dict[str, Any], str]) -> str:
    return f"{case[0]} {', '.join(case[2])}"


@pytest.mark.parametrize(("name", "wide", "less", "found"), CASES, ids=map(_id, CASES))
async def test_what_is_too_large_says_how_to_ask_for_less_and_that_works(
    name: str,
    wide: dict[str, Any],
    less: dict[str, Any],
    found: str,
    services: Services,
    prepared: Prepared,
) -> None:
    """D7: the error names this tool's own arguments; called again with them, it gets through."""
    made, artifacts = TOOLS[name], services[Artifacts]
    assert isinstance(artifacts, MemoryArtifacts)
    artifacts.kept.update(prepared[0].kept)
    wide = _filled(wide, prepared[1])
    large = await called(made, wide, services)
    assert large.content.startswith("The output is too large")
    assert f"Ask for less with {', '.join(made.narrowing)}." in large.content
    assert set(less) <= set(made.narrowing)
    through = await called(made, wide | less, services)
    assert not through.content.startswith("The output is too large")
    assert found in through.content


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def prepared(one_run: None) -> Prepared:
    """A long text, a wide table, one that differs from it, and one with each row twice; and the
    handle of each."""
    artifacts = MemoryArtifacts()
    with asked():
        names = [*(f"c{c}" for c in range(30)), "odd"]
        rows = [[*(f"value {n} of column {c}" for c in range(30)), n % 2 == 1] for n in range(100)]
        changed = [
            [row[0], *(f"new {n}" for _ in range(29)), row[-1]] for n, row in enumerate(rows)
        ]
        table = await ArtifactTables(artifacts).save(names, rows, name="wide")
        other = await ArtifactTables(artifacts).save(names, changed, name="newer")
        double = await ArtifactTables(artifacts).save(names, rows * 2, name="double")
        text = await artifacts.save(TEXT.encode(), name="t", media_type="text/plain", prefix="doc")
        pages = [
            f"[page {n + 1} of 60]\n# Chapter {n}, {'which goes on ' * 5}\nIt is about {n}, {'again ' * 30}"
            for n in range(60)
        ]
        doc = await artifacts.save(
            "\n\n".join(pages).encode(), name="book", media_type="text/plain"
        )
        items = json.dumps([{"name": f"value {n} {'x' * 30}"} for n in range(100)])
        data = await artifacts.save(items.encode(), name="items", media_type="application/json")
        for n in range(58):
            await artifacts.save(b"", name=f"note {n}, {'of many ' * 6}", media_type="text/plain")
    return artifacts, {
        "{doc}": doc.handle,
        "{json}": data.handle,
        "{table}": table.handle,
        "{other}": other.handle,
        "{double}": double.handle,
        "{text}": text.handle,
    }


def _filled(given: Any, handles: dict[str, str]) -> Any:
    if isinstance(given, dict):
        return {key: _filled(value, handles) for key, value in given.items()}
    if isinstance(given, list):
        return [_filled(value, handles) for value in given]
    for name, handle in handles.items():
        given = given.replace(name, handle) if isinstance(given, str) else given
    return given


@pytest.mark.parametrize("name", sorted(TOOLS))
def test_the_same_words_mean_the_same_everywhere(name: str) -> None:
    """D7: a tool with a large output names how to ask for less, and its cases stand above."""
    made = TOOLS[name]
    words = ("compact", "query", "fields", "time_range", "limit")
    ours = [each for each in made.arguments.model_fields if each in words]
    assert (name in SMALL) == (not made.narrowing)
    if name not in SMALL:
        assert set(ours) <= set(made.narrowing)
        assert name in {case[0] for case in CASES}
    kinds = {"compact": "boolean", "query": "string", "fields": "array", "time_range": "string"}
    for each in {*ours} & kinds.keys():
        assert kinds[each] in str(made.parameters["properties"][each])


@pytest.mark.parametrize(
    ("given", "start", "end"),
    [
        (None, None, None),
        ("2026-03-01/2026-03-02", "2026-03-01T00:00:00+01:00", "2026-03-02T23:59:59.999999+01:00"),
        ("2026-03-01", "2026-03-01T00:00:00+01:00", "2026-03-01T23:59:59.999999+01:00"),
        ("2026-03-01T09:30/", "2026-03-01T09:30:00+01:00", None),
        ("2026-03-01T09:30", "2026-03-01T09:30:00+01:00", None),
        ("/2026-03-01T09:30Z", None, "2026-03-01T09:30:00+00:00"),
        (" 2026-03-01 / .. ", "2026-03-01T00:00:00+01:00", None),
        ("../2026-07-01", None, "2026-07-01T23:59:59.999999+02:00"),
    ],
)
def test_a_time_range_is_in_the_askers_zone(
    given: str | None, start: str | None, end: str | None
) -> None:
    """D7: a day as an end is meant whole; an end may be open."""
    zone = zoneinfo.ZoneInfo("Europe/Berlin")
    bounds = narrowing.time_range(given, zone)
    assert [each and each.isoformat() for each in bounds] == [start, end]


@pytest.mark.parametrize("given", ["yesterday", "2026-13-01/", "2026-03-02/2026-03-01", "a/b/c"])
def test_a_time_range_that_is_none_is_explained(given: str) -> None:
    """D3: what is wrong, and how to write it."""
    with pytest.raises(ToolError, match=r"Write|Exchange"):
        narrowing.time_range(given, UTC)


async def test_a_column_that_is_not_there_is_named(services: Services) -> None:
    """D3: with those that there are; and a text has none."""
    artifacts = services[Artifacts]
    assert isinstance(artifacts, MemoryArtifacts)
    table = await ArtifactTables(artifacts).save(["a", "b"], [["x", "y"]], name="t")
    with pytest.raises(ToolError, match=r"no column z\. Columns: a VARCHAR, b VARCHAR"):
        await called(TOOLS["describe_table"], {"handle": table.handle, "fields": ["z"]}, services)
    text = await artifacts.save(b"x", name="t", media_type="text/plain")
    with pytest.raises(ToolError, match="no table"):
        await called(TOOLS["read_artifact"], {"handle": text.handle, "fields": ["a"]}, services)
