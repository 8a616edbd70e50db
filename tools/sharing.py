"""A tool that shares results as files in the thread."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import BaseModel, Field

from bot.toolkit import (
    CHART_TYPE,
    TABLE_TYPE,
    Artifact,
    Artifacts,
    Changes,
    Chart,
    Conversation,
    Exports,
    Provided,
    Rows,
    Source,
    Tables,
    ToolError,
    ToolResult,
    clean,
    gaps_of,
    is_table,
    tool,
)
from bot.toolkit.provided.exports import REPORT_FORMATS, WorkbookSheet

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
    safety=Changes(),
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
    tables: Provided[Tables],
    exports: Provided[Exports],
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
    shared = [handle] if handle else [sheet.handle for sheet in sheets or ()]
    gaps = gaps_of(*[await artifacts.find(shared_handle) for shared_handle in shared])
    make = _Maker(name, artifacts, tables, exports)
    if handle is not None:
        file = await make.from_handle(handle)
    elif sheets is not None:
        file = await make.from_sheets(sheets)
    else:
        file = await make.from_text(content or "")
    url = await conversation.share(file.data, name=name, comment=clean(comment))
    text = f"shared: {name} · {len(file.data):,} bytes{f' · link: {url}' if url else ''}"
    incomplete = [f"not complete: {gap}" for gap in gaps]
    text += "".join(f"\nnote: {note}" for note in dict.fromkeys([*incomplete, *file.notes]))
    return ToolResult(text, (Source(title=name, url=url, supports="The file that was shared."),))


def _safe_name(name: str) -> str:
    """Return the last part of a path without characters that are special to shells or systems.

    Raises ToolError if nothing is left.
    """
    name = clean(name)
    safe = re.sub(r'[\x00-\x1f\x7f<>:"|?*\\]', "", name.replace("\\", "/").split("/")[-1]).strip(
        ". "
    )
    if not safe:
        raise ToolError(f"{name!r} is not a file name.")
    return safe


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the content of the file `name`, whose suffix decides the format."""

    name: str
    artifacts: Artifacts
    tables: Tables
    exports: Exports

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.name.lower()).suffix

    async def from_text(self, content: str) -> _File:
        if self.suffix not in {*_TEXTS, *REPORT_FORMATS}:
            known = ", ".join(sorted({*_TEXTS, *REPORT_FORMATS}))
            raise ToolError(
                f"Text can be shared as {known}; not as {self.name}. What is of another kind, HTML or "
                "a program for example, can be shared as .txt."
            )
        if not content.strip():
            raise ToolError("content is empty; there is nothing to share.")
        text = clean(content)
        if self.suffix in REPORT_FORMATS:
            title = PurePosixPath(self.name).stem
            made = await self.exports.report(text, self.suffix, title=title)
            return _File(made.data, made.notes)
        if self.suffix == ".csv":
            rows = list(csv.reader(io.StringIO(text)))
            return _File(await self.exports.csv(rows[0] if rows else [], rows[1:]))
        return _File(text.encode())

    async def from_handle(self, handle: str) -> _File:
        artifact, suffix = await self.artifacts.find(handle), self.suffix
        if is_table(artifact):
            return await self._from_table(artifact)
        if artifact.media_type == CHART_TYPE and suffix == ".png":
            chart = Chart.model_validate_json(await self.artifacts.read(handle))
            return _File(await self.artifacts.read(chart.image))
        if artifact.media_type == "image/png" and suffix != ".png":
            raise ToolError(f"{handle} is an image; give a name that ends in .png.")
        if artifact.media_type == CHART_TYPE and suffix != ".json":
            raise ToolError(f"{handle} is a chart; give a name that ends in .png.")
        data = await self.artifacts.read(handle)
        if suffix in _IMAGES and data.startswith(_IMAGES[suffix]):
            return _File(data)
        text = _decoded(data)
        if text is None:
            raise ToolError(
                f"{handle} cannot be shared as {self.name}: only text, tables, charts and images can "
                "be shared as they are, under the name of their own format."
            )
        if suffix in {".csv", *REPORT_FORMATS}:  # rewritten: programs would run formulas in it
            return await self.from_text(text)
        if suffix not in _TEXTS:
            raise ToolError(f"{handle} is text; give a name that ends in .txt, .md, .docx or .pdf.")
        return _File(data)

    async def _from_table(self, table: Artifact) -> _File:
        stem = PurePosixPath(self.name).stem
        match self.suffix:
            case ".parquet":
                whole = table.handle
                if table.media_type != TABLE_TYPE:
                    copied = await self.tables.query(f"FROM {whole}", [whole], compact=True)
                    [whole] = copied.handles
                return _File(await self.artifacts.read(whole))
            case ".xlsx":
                return await self.from_sheets([Sheet(name=stem[:100], handle=table.handle)])
            case ".csv":
                read = await self.tables.rows(table.handle, limit=_MAX_ROWS)
                data = await self.exports.csv(read.names, read.rows)
                return _File(data, tuple(_unshared(table, read)))
            case ".pdf" | ".docx":
                title = re.sub(r"[\[\]*_`#]+", " ", stem)
                return await self.from_text(f"# {title}\n\n![{table.rows:,} rows]({table.handle})")
            case _:
                raise ToolError(
                    f"A table is shared as .csv, .xlsx, .pdf, .docx or .parquet; not as {self.name}."
                )

    async def from_sheets(self, sheets: list[Sheet]) -> _File:
        if self.suffix != ".xlsx":
            raise ToolError(f"Several tables go into one .xlsx; not into {self.name}.")
        made, notes = [], list[str]()
        for sheet in sheets:
            table = await self.artifacts.find(sheet.handle)
            if not is_table(table):
                raise ToolError(f"{sheet.handle} is no table; a sheet is made of a tbl_….")
            read = await self.tables.rows(sheet.handle, limit=_MAX_ROWS)
            made.append(WorkbookSheet(sheet.name, read.names, read.rows))
            notes += _unshared(table, read)
        return _File(await self.exports.workbook(made), tuple(notes))


def _decoded(data: bytes) -> str | None:
    """Return `data` as text; None if it is not UTF-8 text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _unshared(table: Artifact, found: Rows) -> list[str]:
    """Return a sentence if the file lacks rows of the table."""
    if len(found.rows) == found.total:
        return []
    return [
        f"of {table.handle} only the first {len(found.rows):,} of {found.total:,} rows are in it"
    ]
