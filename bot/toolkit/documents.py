"""Files that people attach or that the web serves: told apart, read in a process with limits,
and kept as artifacts."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import BaseModel

import bot
from bot.core.answers import Source
from bot.core.errors import ToolError
from bot.isolated.messages import without_paths
from bot.toolkit.artifacts import Artifact, Artifacts
from bot.toolkit.file_kinds import Kind
from bot.toolkit.file_kinds import kind_of as kind_of
from bot.toolkit.narrowing import passages
from bot.toolkit.places import Places
from bot.toolkit.processes import process_group
from bot.toolkit.size import current_room
from bot.toolkit.tables import describe, save_table
from bot.toolkit.tool import ToolResult

log = logging.getLogger(__name__)

_READERS = Places(every=6, own=2)
"""Each is a process that may take gigabytes."""
_TRACE = "trace"


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take: address space and output in bytes, time in seconds."""

    memory: int = 2_000_000_000
    cpu: int = 25
    seconds: float = 30.0
    output: int = 100_000_000


class Text(BaseModel):
    """The text of a document, with what it says about itself."""

    text: str
    title: str = ""
    date: str = ""
    pages: int | None = None
    notes: list[str] = []
    left_out: list[str] = []


class ReadTable(BaseModel):
    """A table as Parquet; `name` is that of its sheet, if the file has several; `left_out` what the
    file has and the table has not."""

    name: str
    notes: list[str]
    left_out: list[str] = []
    data: bytes = b""


async def read(
    data: bytes,
    kind: Kind,
    *,
    name: str,
    sheet: str | None = None,
    pages: str | None = None,
    limits: Limits = Limits(),
) -> Text | list[ReadTable]:
    """Read `data` in a process without network, killed with all it started when the time is up or
    this call is cancelled. Raises ToolError with a sentence that says what is wrong with the file.
    """
    options = {
        "kind": kind,
        "name": name,
        "sheet": sheet,
        "pages": pages,
        "memory": limits.memory,
        "cpu": limits.cpu,
        "output": limits.output,
        "seconds": limits.seconds + 1,  # the bot's own timeout comes first
        "parent": os.getpid(),
    }
    with tempfile.TemporaryDirectory(prefix="bot-read-", ignore_cleanup_errors=True) as folder:
        path = Path(folder)
        await asyncio.to_thread((path / "input").write_bytes, data)
        try:
            async with _READERS.taken(), asyncio.timeout(limits.seconds):
                await _run(json.dumps(options), path)
        except TimeoutError:
            raise ToolError(_too_much(name, f"more than {limits.seconds:g} s")) from None
        return await asyncio.to_thread(_result, path, name)


async def _run(options: str, folder: Path) -> None:
    """Run the reader to its end."""
    with (folder / _TRACE).open("wb") as trace:
        reader = (sys.executable, "-P", "-s", "-m", "bot.parsing", options)
        env = _environment(folder)
        async with process_group(reader, cwd=folder, env=env, stderr=trace) as process:
            await process.wait()


def _environment(folder: Path) -> dict[str, str]:
    """What the reader may know of this process: where its code is, and none of its secrets."""
    code = str(Path(bot.__file__).parents[1])
    return {"PYTHONPATH": code, "LANG": "C.UTF-8", "HOME": str(folder)}


def _result(folder: Path, name: str) -> Text | list[ReadTable]:
    try:
        result = json.loads((folder / "result.json").read_bytes())
    except (FileNotFoundError, ValueError):
        # Killed by a limit, or crashed. Where it crashed is ours to know; messages may quote the file.
        trace = (folder / _TRACE).read_text(errors="replace").splitlines()
        places = [line.strip() for line in trace if line.startswith("  File ")]
        log.warning("reader gave no result", extra={"places": places[-3:]})
        raise ToolError(_too_much(name, "more memory, time or space")) from None
    if "error" in result:
        raise ToolError(without_paths(result["error"], name))
    if "document" in result:
        return Text.model_validate(result["document"])
    return [
        ReadTable(**table, data=(folder / f"{index}.parquet").read_bytes())
        for index, table in enumerate(result["tables"])
    ]


def _too_much(name: str, what: str) -> str:
    return (
        f"{name} could not be read: it takes {what} than is allowed, or is damaged. Ask for a "
        "smaller part of it, or for the data as CSV."
    )


async def keep(
    found: Text | list[ReadTable],
    artifacts: Artifacts,
    *,
    name: str,
    title: str = "",
    url: str | None = None,
    query: str | None = None,
    compact: bool = False,
    own: bool = False,
) -> ToolResult:
    """Save what was read and tell the model about it: a head line with the handle for each table
    or document, its notes, and, unless `compact`, its profile or as much of its text as fits; with
    a `query`, the passages of the text that have most of its words. What is `own` (see `ToolResult`)
    has the handle of a written file."""
    if isinstance(found, Text):
        prefix, title = "file" if own else "doc", title or name
        head, saved = await _keep_text(
            found, artifacts, prefix=prefix, name=name, title=title, url=url
        )
        text = "" if compact else f"\n\n{_part(found.text, saved, query)}"
        sources = _sources(found.title or title, url)
        return ToolResult(head + text, sources, (saved.handle,), own)
    parts: list[str] = []
    handles: list[str] = []
    for table in found:
        label = name if table.name in {"", name} else f"{name} · {table.name}"
        saved = await save_table(
            artifacts,
            table.data,
            name=label,
            title=title or label,
            url=url,
            left_out=[f"{label}: {gap}" for gap in table.left_out],
        )
        parts.append(await describe(artifacts, saved, notes=table.notes, compact=compact))
        handles.append(saved.handle)
    return ToolResult("\n\n".join(parts), _sources(title or name, url), tuple(handles), own)


async def _keep_text(
    found: Text, artifacts: Artifacts, *, prefix: str, name: str, title: str, url: str | None
) -> tuple[str, Artifact]:
    """Keep a text; what is to be said of it before the text itself."""
    lines = found.text.splitlines()
    saved = await artifacts.save(
        found.text.encode("utf-8", "replace"),
        name=f"{name}.txt" if PurePosixPath(name).suffix not in {".txt", ".md"} else name,
        media_type="text/plain; charset=utf-8",
        prefix=prefix,
        rows=len(lines),
        source_title=title,
        source_url=url,
        left_out=[f"{name}: {gap}" for gap in found.left_out],
    )
    size = (
        f"{found.pages:,} pages · {len(lines):,} lines" if found.pages else f"{len(lines):,} lines"
    )
    head = [f"handle: {saved.handle} · {size} · source: {title}{f' <{url}>' if url else ''}"]
    head += [f"title: {found.title}"] * bool(found.title)
    head += [f"date: {found.date}"] * bool(found.date)
    head += [*saved.gap_notes, *(f"note: {note}" for note in found.notes)]
    return "\n".join(head), saved


def _part(text: str, saved: Artifact, query: str | None) -> str:
    return passages(text, query) if query else beginning(text.splitlines(), saved)


def beginning(lines: list[str], saved: Artifact) -> str:
    """As many of the first lines as take up to half of what this output may hold, and how to read
    on."""
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
