"""Nothing is left out unsaid: what a table or text lacks of its source is in its own text and in the
text of everything that is made of it (V1, V4, V9, V12)."""

from __future__ import annotations

import io
import json
from collections.abc import Awaitable, Callable
from datetime import date

import docx
import openpyxl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.app.tool_loading import catalogue
from bot.core.errors import ToolError
from bot.features.programs.service import IsolatedPrograms
from bot.features.programs.settings import ProgramSettings
from bot.services import artifact_documents as documents
from bot.services.artifact_documents import ArtifactDocuments
from bot.services.artifact_tables import ArtifactTables
from bot.services.isolated_interpreters import IsolatedInterpreters
from bot.services.sql_databases import DatabaseConfig, SqlDatabases
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation
from bot.toolkit import (
    TABLE_TYPE,
    Artifact,
    Artifacts,
    Documents,
    Fetcher,
    Page,
    Tables,
    ToolResult,
)
from bot.toolkit.provided.documents import Kind, ReadTable
from tests.support.tools import draw, share
from tools import artifacts as reading
from tools import comparing, files, sharing, texts, web
from tools import documents as reviewing
from tools import tables as querying
from tools.calculation import calculate
from tools.databases import query_database

PROGRAMS = IsolatedPrograms(ProgramSettings())
GAP = "erp export: only the first 3 rows of a query that has more"
SAID = f"not complete: {GAP}"
PAGE = b'{"total": 7, "items": [{"id": 1}]}'
Step = Callable[[MemoryArtifacts, str], Awaitable[ToolResult]]


async def _share(artifacts: MemoryArtifacts, handle: str, suffix: str) -> ToolResult:
    return await share(
        f"out.{suffix}",
        MemoryConversation(),
        artifacts,
        handle=handle,
    )


async def _share_in_sheets(artifacts: MemoryArtifacts, handle: str) -> ToolResult:
    sheets = [sharing.Sheet(name="One", handle=handle)]
    return await share(
        "out.xlsx",
        MemoryConversation(),
        artifacts,
        sheets=sheets,
    )


async def _share_in_report(artifacts: MemoryArtifacts, handle: str) -> ToolResult:
    """The report itself says it as well, in the caption."""
    conversation, content = MemoryConversation(), f"# Report\n\n![Sales]({handle})"
    result = await share(
        "r.docx",
        conversation,
        artifacts,
        content=content,
    )
    report = docx.Document(io.BytesIO(conversation.shared[0][1]))
    assert any(GAP in paragraph.text for paragraph in report.paragraphs)
    return result


async def _chart(artifacts: MemoryArtifacts, handle: str) -> ToolResult:
    return await draw(
        handle,
        "bar",
        "N by id",
        "id",
        ["n"],
        artifacts,
    )


async def _refused(result: Awaitable[ToolResult]) -> ToolResult:
    with pytest.raises(ToolError) as refused:
        await result
    return ToolResult(str(refused.value))


class _Pages(Fetcher):
    async def fetch(self, url: str) -> Page:
        return Page(url=url, media_type="application/json", data=PAGE)


async def _read_attached(artifacts: MemoryArtifacts) -> ToolResult:
    conversation = MemoryConversation()
    return await files.read_file(
        conversation.attach("a.json", PAGE).id, conversation, ArtifactDocuments(artifacts)
    )


OF_TABLES: dict[str, Step] = {
    "query_table": lambda a, h: querying.query_table(f"SELECT * FROM {h}", [h], ArtifactTables(a)),
    "describe_table": lambda a, h: querying.describe_table(h, ArtifactTables(a)),
    "compare_tables": lambda a, h: comparing.compare_tables(h, h, "id", ArtifactTables(a)),
    "statistical_test": lambda a, h: querying.statistical_test(
        h, "pearson", ["id", "n"], ArtifactTables(a)
    ),
    "run_python": lambda a, h: PROGRAMS.run(f"{h}.describe()", a),
    "make_chart": _chart,
    "read_artifact": lambda a, h: reading.read_artifact(h, a, ArtifactTables(a)),
    "search_artifact": lambda a, h: reading.search_artifact(
        h, a, ArtifactTables(a), IsolatedInterpreters(), pattern="x"
    ),
    "share_file": lambda a, h: _share(a, h, "csv"),
    "share_file as a sheet": _share_in_sheets,
    "share_file as Parquet": lambda a, h: _share(a, h, "parquet"),
    "share_file as PDF": lambda a, h: _share(a, h, "pdf"),
    "share_file in a report": _share_in_report,
}
OF_TEXTS: dict[str, Step] = {
    "read_artifact": lambda a, h: reading.read_artifact(h, a, ArtifactTables(a)),
    "search_artifact": lambda a, h: reading.search_artifact(
        h, a, ArtifactTables(a), IsolatedInterpreters(), pattern="x"
    ),
    "extract_matches": lambda a, h: texts.extract_matches(
        h, "[0-9]+", a, ArtifactTables(a), IsolatedInterpreters()
    ),
    "extract_matches without one": lambda a, h: texts.extract_matches(
        h, "nowhere", a, ArtifactTables(a), IsolatedInterpreters()
    ),
    "query_json": lambda a, h: texts.query_json(
        h, "@", a, ArtifactTables(a), IsolatedInterpreters()
    ),
    "compare_texts": lambda a, h: texts.compare_texts(h, h, a),
    "edit_file": lambda a, h: texts.edit_file(h, "1", "7", a),
    "share_file": lambda a, h: _share(a, h, "json"),
    "list_artifacts": lambda a, _: texts.list_artifacts(a),
    "search_document": lambda a, h: reviewing.search_document(h, "id", a),
    "search_document without one": lambda a, h: reviewing.search_document(h, "nowhere", a),
    "check_quote": lambda a, h: reviewing.check_quote(h, '"id": 1},', a),
    "check_quote almost": lambda a, h: reviewing.check_quote(h, '"id": 1}, {"ix": 2', a),
    "check_quote without one": lambda a, h: reviewing.check_quote(h, "the moon is cheese", a),
    "outline_document": lambda a, h: _refused(reviewing.outline_document(h, a)),
}
MAKERS: dict[str, Callable[[MemoryArtifacts], Awaitable[ToolResult]]] = {
    "read_file": _read_attached,
    "fetch_page": lambda a: web.fetch_page(
        "https://example.com/a.json", _Pages(), ArtifactDocuments(a)
    ),
}
"""Tools that make artifacts of what they get: a page of more rows than it has."""
WHOLE = {
    *("make_table", "read_canvas", "write_file"),
    *("read_channel", "read_linked_thread", "read_thread", "search_messages"),
    *("read_skill_file", "run_skill_script"),  # they do as read_file and run_python
}
"""They keep all of what they are given; of messages, how many were read is said above them."""


async def incomplete_table(artifacts: MemoryArtifacts) -> Artifact:
    rows = [[1, date(2026, 1, 3), 5], [2, date(2026, 2, 3), 6], [3, date(2026, 2, 9), 7]]
    columns = ["id", "day", "n"]
    return await ArtifactTables(artifacts).save(columns, rows, name="erp export", left_out=[GAP])


async def incomplete_text(artifacts: MemoryArtifacts) -> Artifact:
    return await artifacts.save(
        b'[{"id": 1},\n {"id": 2}]',
        name="erp.json",
        media_type="text/plain; charset=utf-8",
        prefix="doc",
        left_out=[GAP],
    )


def test_every_tool_with_artifacts_is_among_these() -> None:
    """A new one must say what is missing, too."""
    found = {
        tool.name
        for tool in catalogue().tools
        if {Artifacts, Documents, Tables} & {*tool.services.values()}
    }
    tested = {name.split()[0] for name in (*OF_TABLES, *OF_TEXTS, *MAKERS)}
    assert found == tested | WHOLE | {"query_database"}  # which has a test of its own


@pytest.mark.parametrize("tool", MAKERS)
async def test_what_is_made_of_a_part_says_so(artifacts: MemoryArtifacts, tool: str) -> None:
    result = await MAKERS[tool](artifacts)
    assert "not complete: " in result.content
    assert "it is a page of 1 rows; total: 7" in result.content
    for handle in result.handles:
        assert (await artifacts.find(handle)).left_out


@pytest.mark.parametrize("tool", OF_TABLES)
async def test_what_is_made_of_an_incomplete_table_says_so(
    artifacts: MemoryArtifacts, tool: str
) -> None:
    table = await incomplete_table(artifacts)
    result = await OF_TABLES[tool](artifacts, table.handle)
    assert SAID in result.content
    for handle in result.handles:
        assert GAP in (await artifacts.find(handle)).left_out


@pytest.mark.parametrize("tool", OF_TEXTS)
async def test_what_is_made_of_an_incomplete_text_says_so(
    artifacts: MemoryArtifacts, tool: str
) -> None:
    text = await incomplete_text(artifacts)
    result = await OF_TEXTS[tool](artifacts, text.handle)
    assert SAID in result.content
    for handle in result.handles:
        assert GAP in (await artifacts.find(handle)).left_out


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.sampled_from(sorted(OF_TABLES)), min_size=2, max_size=4))
async def test_a_gap_is_said_however_often_a_table_is_made_of_another(
    one_run: None, chain: list[str]
) -> None:
    """Through any chain of tools; one that takes the last result's columns no more is left out."""
    artifacts = MemoryArtifacts()
    handle = (await incomplete_table(artifacts)).handle
    for tool in chain:
        try:
            result = await OF_TABLES[tool](artifacts, handle)
        except ToolError:
            continue
        assert SAID in result.content, tool
        handle = next((each for each in result.handles if each.startswith("tbl_")), handle)


async def test_a_result_of_many_rows_is_kept_whole(artifacts: MemoryArtifacts) -> None:
    """A count of a join over 200,000 rows counted 200,000."""
    table = await ArtifactTables(artifacts).save(["k"], [[n] for n in range(600)], name="t")
    sql = f"SELECT a.k, b.k AS k2 FROM {table.handle} a, {table.handle} b"
    joined = await querying.query_table(sql, [table.handle], ArtifactTables(artifacts))
    assert "360,000 rows" in joined.content
    [handle] = joined.handles
    counted = await querying.query_table(
        f"SELECT count(*) AS n FROM {handle}", [handle], ArtifactTables(artifacts)
    )
    assert counted.content.endswith("n\n360000")


async def _read(data: bytes, kind: Kind, name: str) -> ReadTable:
    """Return the first table of a file."""
    found = await documents.read(data, kind, name=name)
    assert isinstance(found, list)
    return found[0]


async def test_a_page_of_json_says_what_stands_beside_its_rows() -> None:
    """That there are more rows than these is said of everything made of them."""
    page = {"total": 1200, "next": "https://x/?page=2", "items": [{"id": 1}, {"id": 2}]}
    table = await _read(json.dumps(page).encode(), "json", "p.json")
    assert table.notes == ['Beside the rows the file says: total: 1200, next: "https://x/?page=2"']
    assert table.left_out == ['it is a page of 2 rows; total: 1200, next: "https://x/?page=2"']
    whole = {"meta": {"count": 2, "next": None}, "total_price": 99, "items": page["items"]}
    table = await _read(json.dumps(whole).encode(), "json", "p.json")
    assert "total_price: 99" in table.notes[0]
    assert table.left_out == []


async def test_sheets_that_are_not_read_are_named() -> None:
    book = openpyxl.Workbook()
    for n in range(12):
        book.create_sheet(f"S{n}").append(["a"])
        book.worksheets[-1].append([n])
    out = io.BytesIO()
    book.save(out)
    table = await _read(out.getvalue(), "xlsx", "b.xlsx")
    assert table.left_out[-1] == "sheet S11 was not read: name it as `sheet` to read it"


async def test_a_database_query_that_has_more_rows_says_so_ever_after(
    artifacts: MemoryArtifacts, tmp_path
) -> None:
    import sqlite3

    connection = sqlite3.connect(tmp_path / "s.sqlite")
    connection.executescript("CREATE TABLE t (n); INSERT INTO t VALUES (1), (2), (3)")
    connection.close()
    shop = DatabaseConfig.model_validate({"url": f"sqlite:///{tmp_path}/s.sqlite", "row_limit": 2})
    found = await query_database(
        "shop", "SELECT n FROM t", SqlDatabases({"shop": shop}), ArtifactTables(artifacts)
    )
    said = "not complete: database shop: only the first 2 rows of a query that has more"
    assert said in found.content
    [handle] = found.handles
    summed = await querying.query_table(
        f"SELECT sum(n) FROM {handle}", [handle], ArtifactTables(artifacts)
    )
    assert said in summed.content


async def test_rows_of_several_lines_are_read_on_where_they_ended(
    artifacts: MemoryArtifacts,
) -> None:
    """Offsets count rows, not lines: none is skipped."""
    rows = [[f"{n}\nand more"] for n in range(4)]
    table = await ArtifactTables(artifacts).save(["t"], rows, name="t")
    first = await reading.read_artifact(table.handle, artifacts, ArtifactTables(artifacts), limit=2)
    assert "rows 1–2 of 4 · next offset 2" in first.content
    second = await reading.read_artifact(
        table.handle, artifacts, ArtifactTables(artifacts), offset=2, limit=2
    )
    assert '"2\nand more"' in second.content
    assert "rows 3–4 of 4 · end" in second.content


async def test_a_division_by_zero_is_said(artifacts: MemoryArtifacts) -> None:
    """V12: also of sums of its result."""
    table = await ArtifactTables(artifacts).save(["a", "b"], [[1, 0], [6, 2]], name="t")
    found = await querying.query_table(
        f"SELECT a / b AS x FROM {table.handle}", [table.handle], ArtifactTables(artifacts)
    )
    said = "1 values of x are infinite or no number"
    assert said in found.content
    [handle] = found.handles
    summed = await querying.query_table(
        f"SELECT sum(x) AS s FROM {handle}", [handle], ArtifactTables(artifacts)
    )
    assert said in summed.content


def test_artifacts_of_earlier_releases_are_incomplete_as_they_were() -> None:
    kept = {"handle": "tbl_1", "name": "db", "media_type": TABLE_TYPE, "size": 1, "sha256": ""}
    assert Artifact.model_validate({**kept, "is_cut": True}).left_out == (
        "db: a limit left rows out",
    )
    assert Artifact.model_validate({**kept, "is_cut": False}).left_out == ()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("-7//2", "-4"),
        ("7//-2", "-4"),
        ("-7 % 3", "2"),
        ("7 % (-3)", "-2"),
        ("7//2", "3"),
        ("-8//2", "-4"),
    ],
)
def test_division_rounds_down(expression: str, value: str) -> None:
    """As in Python and in spreadsheets (INT, MOD)."""
    assert calculate(expression).startswith(f"result: {value}\n")
