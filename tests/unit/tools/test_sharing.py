"""Results leave as files that open well and do no harm."""

from __future__ import annotations

import io
from typing import Any

import docx
import openpyxl
import pytest
import pytest_asyncio

from bot.core.errors import ToolError
from bot.services.artifact_tables import ArtifactTables
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation
from bot.toolkit import CHART_TYPE, Artifact, Chart
from tests.support.tools import share
from tools.sharing import Sheet, share_file

HOSTILE = '=HYPERLINK("http://evil.example","x")'


@pytest_asyncio.fixture(loop_scope="module")
async def table(artifacts: MemoryArtifacts) -> Artifact:
    rows = [["Zoë", 12.5, "2026-01-03"], [HOSTILE, -3, None], ["-5", 1, None], ["@x", 2, None]]
    return await ArtifactTables(artifacts).save(["name", "n", "day"], rows, name="t.csv")


async def test_a_table_is_shared_as_csv(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, table: Artifact
) -> None:
    """What a spreadsheet would run is made text; negative numbers stay numbers."""
    result = await share(
        "../by name.csv",
        conversation,
        artifacts,
        handle=table.handle,
        comment="Here",
    )
    [(name, data, comment)] = conversation.shared
    assert (name, comment) == ("by name.csv", "Here")
    assert data.decode("utf-8-sig").split("\r\n") == [
        "name,n,day",
        "Zoë,12.5,2026-01-03",
        '"\'=HYPERLINK(""http://evil.example"",""x"")",-3.0,',
        "-5,1.0,",
        "'@x,2.0,",
        "",
    ]
    assert result.content.startswith("shared: by name.csv · ")
    assert result.sources[0].url == "https://files.example/shared/1"


async def test_a_table_is_shared_as_a_workbook(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, table: Artifact
) -> None:
    """Numbers are numbers and dates dates; what looks like a formula is the text that it was."""
    await share(
        "t.xlsx",
        conversation,
        artifacts,
        handle=table.handle,
    )
    [sheet] = openpyxl.load_workbook(io.BytesIO(conversation.shared[0][1])).worksheets
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("name", "n", "day")
    assert rows[1][:2] == ("Zoë", 12.5)
    assert (sheet["C2"].is_date, sheet["C2"].number_format) == (True, "yyyy-mm-dd")
    assert [sheet[cell].value for cell in ("A3", "A4", "A5")] == [HOSTILE, "-5", "@x"]
    assert {sheet[cell].data_type for cell in ("A3", "A4", "A5")} == {"s"}
    assert all(sheet[cell].quotePrefix for cell in ("A3", "A4", "A5"))
    assert {sheet[cell].number_format for cell in ("B2", "B3")} == {"#,##0.00"}
    assert (sheet.title, sheet.freeze_panes, sheet["A1"].font.bold) == ("t", "A2", True)


async def test_several_tables_are_sheets_of_one_workbook(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, table: Artifact
) -> None:
    """Names are told apart and fit; ids with more digits than a spreadsheet keeps are text."""
    ids = await ArtifactTables(artifacts).save(["id"], [[1234567890123456789]], name="ids")
    names = ["By region/2026", "by region 2026", "x" * 40]
    handles = [table.handle, ids.handle, ids.handle]
    sheets = [Sheet(name=n, handle=h) for n, h in zip(names, handles, strict=True)]
    await share(
        "all.xlsx",
        conversation,
        artifacts,
        sheets=sheets,
    )
    book = openpyxl.load_workbook(io.BytesIO(conversation.shared[0][1]))
    assert book.sheetnames == ["By region 2026", "by region 2026 (2)", "x" * 31]
    assert book.worksheets[1]["A2"].value == "1234567890123456789"
    with pytest.raises(ToolError, match=r"into one \.xlsx"):
        await share(
            "all.csv",
            conversation,
            artifacts,
            sheets=sheets,
        )


async def test_what_is_cut_is_said(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with the first rows of a table never passes for all of it."""
    monkeypatch.setattr("tools.sharing._MAX_ROWS", 2)
    table = await ArtifactTables(artifacts).save(["n"], [[1], [2], [3]], name="t")
    for name in ("t.csv", "t.xlsx"):
        result = await share(
            name,
            conversation,
            artifacts,
            handle=table.handle,
        )
        assert "only the first 2 of 3 rows" in result.content
    cut = await ArtifactTables(artifacts).save(["n"], [[1]], name="db", left_out=["db: cut"])
    of_cut = await ArtifactTables(artifacts).query(f"SELECT sum(n) FROM {cut.handle}", [cut.handle])
    result = await share(
        "t.csv",
        conversation,
        artifacts,
        handle=of_cut.handles[0],
    )
    assert "note: not complete: db: cut" in result.content


async def test_a_chart_is_shared_as_its_picture(
    artifacts: MemoryArtifacts, conversation: MemoryConversation
) -> None:
    image = await artifacts.save(b"\x89PNG", name="c.png", media_type="image/png")
    chart = Chart(title="C", kind="bar", labels=[], series=[], image=image.handle)
    saved = await artifacts.save(
        chart.model_dump_json().encode(), name="C", media_type=CHART_TYPE, prefix="chart"
    )
    await share(
        "c.png",
        conversation,
        artifacts,
        handle=saved.handle,
    )
    assert conversation.shared == [("c.png", b"\x89PNG", "")]
    with pytest.raises(ToolError, match=r"ends in \.png"):
        await share(
            "c.csv",
            conversation,
            artifacts,
            handle=saved.handle,
        )


async def test_text_is_shared_as_written(
    artifacts: MemoryArtifacts, conversation: MemoryConversation
) -> None:
    """Lone surrogates and null bytes, which no file can hold, are left out."""
    await share(
        "n.md",
        conversation,
        artifacts,
        content="# Über\ud800\x00",
    )
    assert conversation.shared[0][1].decode() == "# Über\ufffd"
    await share(
        "n.csv",
        conversation,
        artifacts,
        content="a,b\n=1+1,2\n",
    )
    assert "'=1+1,2" in conversation.shared[1][1].decode()


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("a.md", {}, "either handle or content"),
        ("a.md", {"handle": "x", "content": "y"}, "either handle or content"),
        ("a.xlsx", {"sheets": [Sheet(name="a", handle="doc_none")]}, "no handle doc_none"),
        ("a.exe", {"content": "x"}, "not as a.exe"),
        ("a.md", {"content": " "}, "empty"),
        ("../..", {"content": "x"}, "is not a file name"),
        ("a.md", {"handle": "doc_none"}, "no handle doc_none"),
    ],
)
async def test_what_cannot_be_shared_says_why(
    artifacts: MemoryArtifacts,
    conversation: MemoryConversation,
    name: str,
    arguments: dict[str, Any],
    why: str,
) -> None:
    with pytest.raises(ToolError, match=why):
        await share(
            name,
            conversation,
            artifacts,
            **arguments,
        )
    assert conversation.shared == []


async def test_a_table_is_shared_as_a_report(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, table: Artifact
) -> None:
    """All its rows under its name; in each column fractions have the same digits, two at least."""
    await share(
        "By name.docx",
        conversation,
        artifacts,
        handle=table.handle,
    )
    report = docx.Document(io.BytesIO(conversation.shared[0][1]))
    [made] = report.tables
    cells = [[cell.text for cell in row.cells[:2]] for row in made.rows]
    assert report.paragraphs[0].text == "By name"
    assert cells[1:] == [["Zoë", "12.50"], [HOSTILE, "-3.00"], ["-5", "1.00"], ["@x", "2.00"]]
    with pytest.raises(ToolError, match=r"as \.csv, \.xlsx, \.pdf, \.docx or \.parquet"):
        await share(
            "t.png",
            conversation,
            artifacts,
            handle=table.handle,
        )


def test_sharing_changes_something() -> None:
    """So it runs alone, at most once, and not in a dry run (D5)."""
    assert share_file.tool.mutates
    assert not share_file.tool.sensitive
