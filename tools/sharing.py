"""A tool that shares results as files in the thread."""

from __future__ import annotations

import asyncio
import csv
import io
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, Field

from bot.services import reports
from bot.services.tables import spreadsheets, tables
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
    gaps_of,
    tool,
)

_MAX_ROWS = 200_000
_MAX_SHEETS = 20
_TEXTS = frozenset({".txt", ".md", ".json", ".csv", ".yaml", ".yml", ".sql", ".toml", ".log"})
"""Text formats in which nothing runs, loads or links when somebody opens the file. HTML, XML, SVG,
scripts, shortcuts and documents with macros are therefore not included."""
_IMAGES = {
    ".png": b"\x89PNG\r\n\x1a\n",
    ".jpg": b"\xff\xd8\xff",
    ".jpeg": b"\xff\xd8\xff",
    ".gif": b"GIF8",
    ".webp": b"RIFF",
}
"""The first bytes of an image in each format."""


class Sheet(BaseModel):
    """A table in a workbook."""

    name: str = Field(min_length=1, max_length=100, description="What stands on its tab.")
    handle: str = Field(description="Handle tbl_….")


@dataclass(frozen=True, slots=True)
class _File:
    """The content of a file to share. `notes` has a sentence for each part that is missing."""

    data: bytes
    notes: tuple[str, ...] = ()


@tool(
    group="files",
    summary="Share a result as a file in this thread (csv, xlsx, docx, pdf, png, md, txt, json)",
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
            description='Says what is in it; its end decides the format: "revenue by region.xlsx".',
        ),
    ],
    conversation: Provided[Conversation],
    artifacts: Provided[Artifacts],
    handle: Annotated[
        str | None,
        Field(
            description="What to share: tbl_… with all its rows as .csv, .xlsx, .pdf or .docx, "
            "chart_… as .png, doc_… as .txt or .md, file_… as it is, or one of Markdown as .docx or "
            ".pdf."
        ),
    ] = None,
    sheets: Annotated[
        list[Sheet] | None,
        Field(min_length=1, max_length=_MAX_SHEETS, description="Or several tables, in one .xlsx."),
    ] = None,
    content: Annotated[
        str | None,
        Field(
            description="Or the text of the file: .md, .txt, .json, .csv; Markdown for .docx and "
            ".pdf, where ![caption](chart_… or tbl_…) alone in a paragraph shows that chart or table."
        ),
    ] = None,
    comment: Annotated[str, Field(description="A sentence to go with it; may be empty.")] = "",
) -> ToolResult:
    """Post a file to this thread, for results too long for an answer, or as a report to print and
    send on. Give one of handle, sheets and content."""
    name = _safe_name(name)
    if [handle, sheets, content].count(None) != 2:
        raise ToolError("Give either handle or content, or sheets: one of them.")
    shared = [handle] if handle else [each.handle for each in sheets or ()]
    gaps = gaps_of(*[await artifacts.find(each) for each in shared])
    if handle is not None:
        file = await _of_handle(handle, name, artifacts)
    elif sheets is not None:
        file = await _of_sheets(sheets, name, artifacts)
    else:
        file = await _of_text(content or "", name, artifacts)
    url = await conversation.share(file.data, name=name, comment=tables.clean(comment))
    text = f"shared: {name} · {len(file.data):,} bytes{f' · link: {url}' if url else ''}"
    incomplete = [f"not complete: {gap}" for gap in gaps]
    text += "".join(f"\nnote: {each}" for each in dict.fromkeys([*incomplete, *file.notes]))
    return ToolResult(text, (Source(title=name, url=url, supports="The file that was shared."),))


def _safe_name(name: str) -> str:
    """Return the last part of a path without characters that are special to shells or systems.

    Raises ToolError if nothing is left.
    """
    name = tables.clean(name)
    safe = re.sub(r'[\x00-\x1f\x7f<>:"|?*\\]', "", name.replace("\\", "/").split("/")[-1]).strip(
        ". "
    )
    if not safe:
        raise ToolError(f"{name!r} is not a file name.")
    return safe


def _suffix(name: str) -> str:
    return PurePosixPath(name.lower()).suffix


async def _of_text(content: str, name: str, artifacts: Artifacts) -> _File:
    suffix = _suffix(name)
    if suffix not in {*_TEXTS, *reports.FORMATS}:
        known = ", ".join(sorted({*_TEXTS, *reports.FORMATS}))
        raise ToolError(
            f"Text can be shared as {known}; not as {name}. What is of another kind, HTML or a "
            "program for example, can be shared as .txt."
        )
    if not content.strip():
        raise ToolError("content is empty; there is nothing to share.")
    text = tables.clean(content)
    if suffix in reports.FORMATS:
        title = PurePosixPath(name).stem
        made = await reports.report(text, suffix, title=title, artifacts=artifacts)
        return _File(made.data, made.notes)
    if suffix == ".csv":
        rows = list(csv.reader(io.StringIO(text)))
        return _File(spreadsheets.csv_file(rows[0] if rows else [], rows[1:]))
    return _File(text.encode())


async def _of_handle(handle: str, name: str, artifacts: Artifacts) -> _File:
    artifact, suffix = await artifacts.find(handle), _suffix(name)
    if artifact.media_type == tables.PARQUET:
        return await _of_table(artifact, name, artifacts)
    if artifact.media_type == CHART_TYPE and suffix == ".png":
        chart = Chart.model_validate_json(await artifacts.read(handle))
        return _File(await artifacts.read(chart.image))
    if artifact.media_type == "image/png" and suffix != ".png":
        raise ToolError(f"{handle} is an image; give a name that ends in .png.")
    if artifact.media_type == CHART_TYPE and suffix != ".json":
        raise ToolError(f"{handle} is a chart; give a name that ends in .png.")
    data = await artifacts.read(handle)
    if suffix in _IMAGES and data.startswith(_IMAGES[suffix]):
        return _File(data)
    text = _decoded(data)
    if text is None:
        raise ToolError(
            f"{handle} cannot be shared as {name}: only text, tables, charts and images can be "
            "shared as they are, under the name of their own format."
        )
    if suffix in {".csv", *reports.FORMATS}:  # rewritten: programs would run formulas in it
        return await _of_text(text, name, artifacts)
    if suffix not in _TEXTS:
        raise ToolError(f"{handle} is text; give a name that ends in .txt, .md, .docx or .pdf.")
    return _File(data)


def _decoded(data: bytes) -> str | None:
    """Return `data` as text; None if it is not UTF-8 text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


async def _of_table(artifact: Artifact, name: str, artifacts: Artifacts) -> _File:
    stem = PurePosixPath(name).stem
    match _suffix(name):
        case ".parquet":
            return _File(await artifacts.read(artifact.handle))
        case ".xlsx":
            return await _of_sheets(
                [Sheet(name=stem[:100], handle=artifact.handle)], name, artifacts
            )
        case ".csv":
            found = await tables.rows_of(artifacts, artifact.handle, limit=_MAX_ROWS)
            data = await asyncio.to_thread(spreadsheets.csv_file, found.names, found.rows)
            return _File(data, tuple(_unshared(artifact, found)))
        case ".pdf" | ".docx":
            title = re.sub(r"[\[\]*_`#]+", " ", stem)
            shown = f"# {title}\n\n![{artifact.rows:,} rows]({artifact.handle})"
            return await _of_text(shown, name, artifacts)
        case _:
            raise ToolError(
                f"A table is shared as .csv, .xlsx, .pdf, .docx or .parquet; not as {name}."
            )


async def _of_sheets(sheets: list[Sheet], name: str, artifacts: Artifacts) -> _File:
    if _suffix(name) != ".xlsx":
        raise ToolError(f"Several tables go into one .xlsx; not into {name}.")
    made, notes = [], list[str]()
    for sheet in sheets:
        artifact = await artifacts.find(sheet.handle)
        if artifact.media_type != tables.PARQUET:
            raise ToolError(f"{sheet.handle} is no table; a sheet is made of a tbl_….")
        found = await tables.rows_of(artifacts, sheet.handle, limit=_MAX_ROWS)
        made.append(spreadsheets.Sheet(sheet.name, found.names, found.rows))
        notes += _unshared(artifact, found)
    return _File(await asyncio.to_thread(spreadsheets.workbook, made), tuple(notes))


def _unshared(table: Artifact, found: tables.Rows) -> list[str]:
    """Return a sentence if the file lacks rows of the table."""
    if len(found.rows) == found.total:
        return []
    return [
        f"of {table.handle} only the first {len(found.rows):,} of {found.total:,} rows are in it"
    ]
