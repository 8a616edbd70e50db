"""Documents that people attach or that the web serves: read in a process with limits, and saved as
artifacts."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from bot.core.answers import Source
from bot.core.errors import ToolError
from bot.library.documents.file_kinds import kind_of
from bot.library.documents.results import Unreadable
from bot.library.isolated import ComputingTimeout, ProcessLost, Refused, without_paths
from bot.library.isolated.process import IsolatedLimits, IsolatedProcess
from bot.services.artifact_tables import ArtifactTables
from bot.services.children import asker_process
from bot.toolkit.passages import find_passages
from bot.toolkit.provided.artifacts import Artifact, Artifacts
from bot.toolkit.provided.documents import DocumentText, Kind, ReadTable
from bot.toolkit.size import current_room
from bot.toolkit.tool import ToolResult

log = logging.getLogger(__name__)

LIMITS = IsolatedLimits(memory=2_000_000_000, output=100_000_000, cpu=40.0, seconds=120.0)
"""Limits for reading one file: computing time, so that a busy computer refuses no file that it can read."""

_MAX_TABLE_BYTES = 100_000_000
"""Limit for all tables of one file together."""
_MAX_NAME, _MAX_NOTE = 200, 1_000  # characters
_MAX_NOTES = 30
_ASK_FOR_LESS = "Ask for a smaller part of it, or for the data as CSV."


async def read(
    data: bytes,
    kind: Kind,
    *,
    name: str,
    sheet: str | None = None,
    pages: str | None = None,
    limits: IsolatedLimits = LIMITS,
) -> DocumentText | list[ReadTable]:
    """Read `data` in a process of its own, which is killed on timeout and cancellation. Raises
    ToolError that says what is wrong with the file."""
    try:
        # A process that has read another file is not reused: a hostile file may have taken it over.
        async with asker_process(
            "bot.library.documents.reading.files", limits, once=True
        ) as process:
            await asyncio.to_thread(process.write, "input", data)
            found = await process.call("read", kind=kind, name=name, sheet=sheet, pages=pages)
            raw = await asyncio.to_thread(_sha256, data)
            if "document" in found:
                text = await asyncio.to_thread(_read_text, process)
                return _with_single_line_fields(
                    DocumentText.model_validate(
                        found["document"] | {"text": text, "raw_sha256": raw}
                    )
                )
            return await _read_tables(process, found["tables"], name, raw)
    except ComputingTimeout:
        what = f"needs more computing than is allowed ({limits.cpu:g} s)"
        raise ToolError(f"{name} could not be read: it {what}. {_ASK_FOR_LESS}") from None
    except TimeoutError:
        raise ToolError(
            f"{name} could not be read: it took longer than is allowed ({limits.seconds:g} s), perhaps "
            "because the computer is busy. Try again later."
        ) from None
    except ProcessLost:
        what = "needs more memory or space than is allowed, or is damaged"
        raise ToolError(f"{name} could not be read: it {what}. {_ASK_FOR_LESS}") from None
    except Refused as error:
        raise ToolError(without_paths(str(error), name)) from None
    except RuntimeError as error:
        log.warning("a reader broke: %s", error)
        raise ToolError(f"{name} is damaged, or of a kind that is not known here.") from None


def _read_text(process: IsolatedProcess) -> str:
    return process.read("text", LIMITS.output).decode("utf-8", "surrogatepass")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def _read_tables(
    process: IsolatedProcess, described: list[dict[str, Any]], name: str, raw_sha256: str
) -> list[ReadTable]:
    tables, left = list[ReadTable](), _MAX_TABLE_BYTES
    for index, each in enumerate(described):
        data = await asyncio.to_thread(process.read, f"{index}.parquet")
        left -= len(data)
        if left < 0:
            raise Refused(f"The sheets of {name} are too large together: name one as `sheet`.")
        table = ReadTable(
            name=_single_line(each["name"]),
            notes=_single_lines(each["notes"]),
            left_out=_single_lines(each["left_out"]),
            data=data,
            raw_sha256=raw_sha256,
        )
        tables.append(table)
    return tables


def _with_single_line_fields(text: DocumentText) -> DocumentText:
    fields = {
        "title": _single_line(text.title),
        "date": _single_line(text.date),
        "notes": _single_lines(text.notes),
        "left_out": _single_lines(text.left_out),
    }
    return text.model_copy(update=fields)


def _single_lines(notes: list[str]) -> list[str]:
    more = [f"and {len(notes) - _MAX_NOTES:,} more"] * (len(notes) > _MAX_NOTES)
    return [_single_line(note, _MAX_NOTE) for note in notes[:_MAX_NOTES]] + more


def _single_line(words: str, longest: int = _MAX_NAME) -> str:
    """Return text from a file on one line, cut to `longest`: a second line could look like ours."""
    words = " ".join(words.split())
    return words if len(words) <= longest else f"{words[:longest]}…"


_COMPUTE = "compute with query_table (or run_python, if offered) on the handle, not from first rows"


@dataclass(frozen=True, slots=True)
class ArtifactDocuments:
    """Documents that are saved to `artifacts`; see `bot.toolkit.provided.documents.Documents`."""

    artifacts: Artifacts

    def kind_of(self, name: str, media_type: str, data: bytes) -> Kind:
        """See `Documents.kind_of`."""
        try:
            return kind_of(name, media_type, data)
        except Unreadable as error:
            raise ToolError(str(error)) from None

    async def read(
        self,
        data: bytes,
        kind: Kind,
        *,
        name: str,
        sheet: str | None = None,
        pages: str | None = None,
    ) -> DocumentText | list[ReadTable]:
        """See `Documents.read`."""
        return await read(data, kind, name=name, sheet=sheet, pages=pages)

    async def save(
        self,
        found: DocumentText | list[ReadTable],
        *,
        name: str,
        title: str = "",
        url: str | None = None,
        query: str | None = None,
        compact: bool = False,
        own: bool = False,
    ) -> ToolResult:
        """See `Documents.save`. A head line has the handle of each table or document.

        An `own` file gets the handle of a written file.
        """
        name, title = _single_line(name), _single_line(title)
        if isinstance(found, DocumentText):
            prefix, title = "file" if own else "doc", title or name
            head, saved = await self._save_text(
                found, prefix=prefix, name=name, title=title, url=url
            )
            text = "" if compact else f"\n\n{await _excerpt(found.text, saved, query)}"
            sources = _sources(found.title or title, url)
            return ToolResult(head + text, sources, (saved.handle,), own)
        tables, parts = ArtifactTables(self.artifacts), list[str]()
        handles: list[str] = []
        for table in found:
            label = name if table.name in {"", name} else f"{name} · {table.name}"
            saved = await tables.save_parquet(
                table.data,
                name=label,
                title=title or label,
                url=url,
                left_out=[f"{label}: {gap}" for gap in table.left_out],
                raw_sha256=table.raw_sha256,
            )
            notes = (*table.notes, *(() if handles else (_COMPUTE,)))
            parts.append(await tables.describe(saved, notes=notes, compact=compact))
            handles.append(saved.handle)
        return ToolResult("\n\n".join(parts), _sources(title or name, url), tuple(handles), own)

    async def _save_text(
        self, found: DocumentText, *, prefix: str, name: str, title: str, url: str | None
    ) -> tuple[str, Artifact]:
        """Save a text. Return the lines that describe it, and its artifact."""
        count = len(found.text.splitlines())
        saved = await self.artifacts.save(
            found.text.encode("utf-8", "replace"),
            name=f"{name}.txt" if PurePosixPath(name).suffix not in {".txt", ".md"} else name,
            media_type="text/plain; charset=utf-8",
            prefix=prefix,
            rows=count,
            source_title=title,
            source_url=url,
            left_out=[f"{name}: {gap}" for gap in found.left_out],
            raw_sha256=found.raw_sha256,
        )
        size = f"{found.pages:,} pages · {count:,} lines" if found.pages else f"{count:,} lines"
        head = [f"handle: {saved.handle} · {size} · source: {title}{f' <{url}>' if url else ''}"]
        head += [f"title: {found.title}"] * bool(found.title)
        head += [f"date: {found.date}"] * bool(found.date)
        head += [*saved.gap_notes, *(f"note: {note}" for note in found.notes)]
        return "\n".join(head), saved


async def _excerpt(text: str, saved: Artifact, query: str | None) -> str:
    if not query:
        return first_lines(text.splitlines(), saved)
    found = await asyncio.to_thread(find_passages, text, query)
    if not found.hits:
        return f"[None of the {found.total:,} passages has a word of: {query}]"
    shown = found.shown(current_room())
    note = (
        f"[{len(shown)} of {found.total:,} passages shown, the best first; search_artifact with "
        f"{saved.handle} and a query finds others]"
    )
    return "\n\n".join([note, *shown])


def first_lines(lines: list[str], saved: Artifact) -> str:
    """Return the first lines, up to half of the room that this output has, and how to read on."""
    left = current_room().characters_of("\n".join(lines)) // 2
    shown = 0
    for line in lines:
        left -= len(line) + 1
        if left < 0:
            break
        shown += 1
    if shown == len(lines):
        return "\n".join(lines)
    if not shown:
        return f"[The first line is long; search_artifact finds passages in {saved.handle}]"
    rest = (
        f"[lines 1–{shown:,} of {len(lines):,} shown; read_artifact with handle {saved.handle} and "
        f"offset {shown} reads on, search_artifact finds passages]"
    )
    return "\n".join([*lines[:shown], rest])


def _sources(title: str, url: str | None) -> tuple[Source, ...]:
    return (Source(title=title, url=url, supports="What was read from it."),)
