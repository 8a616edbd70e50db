"""Results leave as files that open well and do no harm."""

from __future__ import annotations

import io

import openpyxl
import pytest

from bot.core.errors import ToolError
from bot.toolkit import CHART_TYPE, Artifact, Chart, tables
from tests.support.artifacts import MemoryArtifacts
from tests.support.conversation import MemoryConversation
from tools.sharing import share_file

HOSTILE = '=HYPERLINK("http://evil.example","x")'


@pytest.fixture
async def table(artifacts: MemoryArtifacts) -> Artifact:
    rows = [["Zoë", 12.5, "2026-01-03"], [HOSTILE, -3, None], ["-5", 1, None], ["@x", 2, None]]
    return await tables.save_rows(artifacts, ["name", "n", "day"], rows, name="t.csv")


async def test_a_table_is_shared_as_csv(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, table: Artifact
) -> None:
    """What a spreadsheet would run is made text; negative numbers stay numbers."""
    result = await share_file(
        "../by name.csv", conversation, artifacts, handle=table.handle, comment="Here"
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
    await share_file("t.xlsx", conversation, artifacts, handle=table.handle)
    sheet = openpyxl.load_workbook(io.BytesIO(conversation.shared[0][1])).worksheets[0]
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("name", "n", "day")
    assert rows[1][:2] == ("Zoë", 12.5)
    assert rows[2][0] == f"'{HOSTILE}"
    assert sheet["A3"].data_type == "s"


async def test_a_chart_is_shared_as_its_picture(
    artifacts: MemoryArtifacts, conversation: MemoryConversation
) -> None:
    image = await artifacts.save(b"\x89PNG", name="c.png", media_type="image/png")
    chart = Chart(title="C", kind="bar", labels=[], series=[], image=image.handle)
    saved = await artifacts.save(
        chart.model_dump_json().encode(), name="C", media_type=CHART_TYPE, prefix="chart"
    )
    await share_file("c.png", conversation, artifacts, handle=saved.handle)
    assert conversation.shared == [("c.png", b"\x89PNG", "")]
    with pytest.raises(ToolError, match=r"ends in \.png"):
        await share_file("c.csv", conversation, artifacts, handle=saved.handle)


async def test_text_is_shared_as_written(
    artifacts: MemoryArtifacts, conversation: MemoryConversation
) -> None:
    """Lone surrogates and null bytes, which no file can hold, are left out."""
    await share_file("n.md", conversation, artifacts, content="# Über\ud800\x00")
    assert conversation.shared[0][1].decode() == "# Über\ufffd"
    await share_file("n.csv", conversation, artifacts, content="a,b\n=1+1,2\n")
    assert "'=1+1,2" in conversation.shared[1][1].decode()


@pytest.mark.parametrize(
    ("name", "arguments", "why"),
    [
        ("a.md", {}, "either handle or content"),
        ("a.md", {"handle": "x", "content": "y"}, "either handle or content"),
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
    arguments: dict[str, str],
    why: str,
) -> None:
    with pytest.raises(ToolError, match=why):
        await share_file(name, conversation, artifacts, **arguments)
    assert conversation.shared == []


async def test_a_table_has_its_formats(
    artifacts: MemoryArtifacts, conversation: MemoryConversation, table: Artifact
) -> None:
    with pytest.raises(ToolError, match=r"as \.csv, \.xlsx or \.parquet"):
        await share_file("t.pdf", conversation, artifacts, handle=table.handle)


def test_sharing_changes_something() -> None:
    """So it runs alone, at most once, and not in a dry run (D5)."""
    assert share_file.tool.mutates
    assert not share_file.tool.sensitive
