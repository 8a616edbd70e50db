"""Results as files in the thread."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any

from pydantic import Field

from bot.toolkit import (
    CHART_TYPE,
    Artifact,
    Artifacts,
    Chart,
    Conversation,
    Provided,
    Source,
    ToolError,
    ToolResult,
    tables,
    tool,
)

_MAX_ROWS = 200_000
_TEXTS = frozenset(
    {
        ".txt",
        ".md",
        ".json",
        ".csv",
        ".html",
        ".yaml",
        ".yml",
        ".xml",
        ".sql",
        ".toml",
        ".py",
        ".js",
    }
)
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?[\d.,]+([eE][-+]?\d+)?%?")


@tool(
    group="files",
    summary="Share a result as a file in this thread (csv, xlsx, png, md, txt, json)",
    mutates=True,
    timeout=120.0,
    title="Share {name}",
)
async def share_file(
    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=200,
            description='File name; its end decides the format: "by region.xlsx".',
        ),
    ],
    conversation: Provided[Conversation],
    artifacts: Provided[Artifacts],
    handle: Annotated[
        str | None,
        Field(
            description="What to share: tbl_… as .csv or .xlsx, chart_… as .png, doc_… as .txt or .md, file_… as it is."
        ),
    ] = None,
    content: Annotated[
        str | None, Field(description="Or the text of the file itself: .md, .txt, .json, .csv.")
    ] = None,
    comment: Annotated[str, Field(description="A sentence to go with it; may be empty.")] = "",
) -> ToolResult:
    """Post a file to this thread, for results too long for an answer. Give either handle or
    content."""
    name = _safe_name(name)
    if (handle is None) == (content is None):
        raise ToolError("Give either handle or content.")
    if handle is not None:
        data = await _of_handle(handle, name, artifacts)
    else:
        data = _of_text(content or "", name)
    url = await conversation.share(data, name=name, comment=tables.clean(comment))
    text = f"shared: {name} · {len(data):,} bytes{f' · link: {url}' if url else ''}"
    return ToolResult(text, (Source(title=name, url=url, supports="The file that was shared."),))


def _safe_name(name: str) -> str:
    """The last part of a path, without characters that mean something to a shell or a system."""
    name = tables.clean(name)
    safe = re.sub(r'[\x00-\x1f\x7f<>:"|?*\\]', "", name.replace("\\", "/").split("/")[-1]).strip(
        ". "
    )
    if not safe:
        raise ToolError(f"{name!r} is not a file name.")
    return safe


def _suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix


def _of_text(content: str, name: str) -> bytes:
    if _suffix(name) not in _TEXTS:
        raise ToolError(f"Text can be shared as {', '.join(sorted(_TEXTS))}; not as {name}.")
    if not content.strip():
        raise ToolError("content is empty; there is nothing to share.")
    text = tables.clean(content)
    if _suffix(name) == ".csv":
        rows = list(csv.reader(io.StringIO(text)))
        return _csv(rows[0] if rows else [], rows[1:])
    return text.encode()


async def _of_handle(handle: str, name: str, artifacts: Artifacts) -> bytes:
    artifact = await artifacts.find(handle)
    if artifact.media_type == tables.PARQUET:
        return await _table(artifact, name, artifacts)
    if artifact.media_type == CHART_TYPE and _suffix(name) == ".png":
        chart = Chart.model_validate_json(await artifacts.read(handle))
        return await artifacts.read(chart.image)
    if artifact.media_type == "image/png" and _suffix(name) != ".png":
        raise ToolError(f"{handle} is an image; give a name that ends in .png.")
    if artifact.media_type == CHART_TYPE and _suffix(name) != ".json":
        raise ToolError(f"{handle} is a chart; give a name that ends in .png.")
    if artifact.media_type.startswith("text/") and _suffix(name) not in _TEXTS:
        raise ToolError(f"{handle} is text; give a name that ends in .txt, .md or as it is named.")
    return await artifacts.read(handle)


async def _table(artifact: Artifact, name: str, artifacts: Artifacts) -> bytes:
    if _suffix(name) == ".parquet":
        return await artifacts.read(artifact.handle)
    writers: dict[str, Callable[[Sequence[str], Sequence[Sequence[object]]], bytes]] = {
        ".csv": _csv,
        ".xlsx": _workbook,
    }
    if _suffix(name) not in writers:
        raise ToolError(f"A table is shared as .csv, .xlsx or .parquet; not as {name}.")
    found = await tables.rows_of(artifacts, artifact.handle, limit=_MAX_ROWS)
    return await asyncio.to_thread(writers[_suffix(name)], found.names, found.rows)


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    """With a byte order mark, without which Excel misreads accents."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([_harmless(column) for column in columns])
    writer.writerows([tables.cell_text(_harmless(cell)) for cell in row] for row in rows)
    return out.getvalue().encode("utf-8-sig")


def _workbook(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> bytes:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font
    from openpyxl.utils import get_column_letter

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    sheet.freeze_panes = "A2"
    for number, column in enumerate(columns, start=1):
        letter = get_column_letter(number)
        sheet.column_dimensions[letter].width = min(50, max(10, len(column) + 4))
    header = [WriteOnlyCell(sheet, _harmless(column)) for column in columns]
    for cell in header:
        cell.font = Font(bold=True)
    sheet.append(header)
    for row in rows:
        sheet.append([_cell(value) for value in row])
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _cell(value: object) -> object:
    """What Excel can hold: 32,767 characters of text, times without a zone."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return _harmless(value)[:32_767]
    return (
        value if hasattr(value, "year") or hasattr(value, "as_tuple") else tables.cell_text(value)
    )


def _harmless(cell: Any) -> Any:
    """Text that a spreadsheet would run as a formula gets an apostrophe before it; numbers do not."""
    if not isinstance(cell, str):
        return cell
    text = tables.clean(cell)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
