"""Tools for saved results: read a part, search with a pattern, write a text file.

The model reads a part of a large result by its handle instead of the whole.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from pydantic import Field

from bot.toolkit import (
    Artifact,
    Artifacts,
    Fields,
    Interpreters,
    Provided,
    Query,
    Reads,
    Tables,
    Text,
    ToolError,
    ToolResult,
    clean,
    csv_text,
    current_room,
    is_table,
    tool,
)
from bot.toolkit.passages import find_lines, find_passages

_CONTEXT = 1
_MAX_LINE = 500
_TABLE_ROWS = 100_000


@tool(
    group="artifacts",
    summary="Read on in a saved result by its handle",
    safety=Reads(foreign=True),
    offered_with=("document", "output"),
    title="Continue reading {handle}",
    narrowing=("fields", "limit"),
)
async def read_artifact(
    handle: Annotated[str, Field(description="As a tool gave it: doc_…, tbl_…, out_….")],
    artifacts: Provided[Artifacts],
    tables: Provided[Tables],
    offset: Annotated[int, Field(ge=0, description="Lines or rows to skip.")] = 0,
    limit: Annotated[int, Field(ge=1, le=2000, description="Lines or rows to read.")] = 200,
    fields: Annotated[Fields, Field(description="Of a table, only these columns.")] = None,
) -> ToolResult:
    """Read a part of a saved result: lines of a text, or rows of a table as CSV. It says of how many,
    and the next offset."""
    artifact = await artifacts.find(handle)
    if is_table(artifact):
        page = await tables.rows(handle, offset=offset, limit=limit, fields=fields)
        header = csv_text(page.names, ())
        return _part(artifact, "rows", page.csv_rows, offset, page.total, [header])
    if fields:
        raise ToolError(f"{handle} is no table; it has no columns. Leave fields out.")
    lines, _ = await _lines(artifact, artifacts, tables)
    return _part(artifact, "lines", lines[offset : offset + limit], offset, len(lines), [])


def _part(
    artifact: Artifact, unit: str, lines: list[str], offset: int, total: int, header: list[str]
) -> ToolResult:
    if offset and not lines:
        raise ToolError(
            f"{artifact.handle} has {total:,} {unit}; offset {offset:,} is past its end."
        )
    lines = _fitting(lines)
    end = offset + len(lines)
    more = f"next offset {end}" if end < total else "end"
    head = f"handle: {artifact.handle} · {unit} {offset + 1:,}–{end:,} of {total:,} · {more}"
    parts = [head, *artifact.gap_notes, *header, *lines]
    return ToolResult("\n".join(parts), handles=(artifact.handle,))


def _fitting(lines: list[str]) -> list[str]:
    """Return as many first lines as an output may hold. A first line that is too long is cut."""
    allowed = current_room().characters_of("\n".join(lines))
    room = allowed * 3 // 4
    fitting: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        fitting.append(line)
    if lines and not fitting:
        return [_cut(lines[0], allowed // 2)]
    return fitting


def _cut(line: str, size: int) -> str:
    if len(line) <= size:
        return line
    return f"{line[:size]}… [{len(line) - size:,} more characters in this line]"


_SEARCH = Text("Search {handle} for {pattern}")


def _search_title(arguments: Any) -> str:
    return _SEARCH(handle=arguments.handle, pattern=arguments.query or arguments.pattern)


@tool(
    group="artifacts",
    summary="Find words or a pattern in a saved result by its handle",
    safety=Reads(foreign=True),
    offered_with=("document", "output"),
    title=_search_title,
    narrowing=("query", "pattern", "limit"),
)
async def search_artifact(
    handle: Annotated[str, Field(description="As a tool gave it: doc_…, tbl_…, out_….")],
    artifacts: Provided[Artifacts],
    tables: Provided[Tables],
    interpreters: Provided[Interpreters],
    query: Annotated[
        Query, Field(description="Words: whole clauses, passages or rows that fit, best first.")
    ] = None,
    pattern: Annotated[
        str | None,
        Field(min_length=1, max_length=500, description="Or a regular expression for lines."),
    ] = None,
    limit: Annotated[int, Field(ge=1, le=200, description="Matches to show.")] = 20,
) -> ToolResult:
    """Find passages of a saved result (or rows of a table, as CSV) by words, or lines by a regular
    expression in any case, with their numbers. For line n, read_artifact takes offset n - 1."""
    if bool(query) == bool(pattern):
        raise ToolError("Give either query or pattern.")
    artifact = await artifacts.find(handle)
    lines, unsearched = await _lines(artifact, artifacts, tables)
    if query and not is_table(artifact):
        found = await asyncio.to_thread(find_passages, "\n".join(lines), query)
        blocks = found.shown(current_room(), limit=limit)
        counts = f"{found.fitting:,} of {found.total:,} passages fit"
        excerpts, is_cut = [f"\n{block}" for block in blocks], len(blocks) < len(found.hits)
    else:
        joined = "\n".join(line.replace("\n", " ") for line in lines)
        hits = await (
            asyncio.to_thread(find_lines, lines, query)
            if query
            else interpreters.matching_lines(joined, pattern or "")
        )
        counts = f"{len(hits):,} of {len(lines):,} lines match"
        excerpts, is_cut = _with_context(lines, sorted(hits[:limit])), len(hits) > limit
    more = f" · the {'best' if query else 'first'} {limit} shown" if is_cut else ""
    head = f"handle: {handle} · {counts}{more}"
    return ToolResult(
        "\n".join([head, *artifact.gap_notes, *unsearched, *excerpts]), handles=(handle,)
    )


def _with_context(lines: list[str], hits: list[int]) -> list[str]:
    """Format matches as grep does: `12: match`, `11- line around it`, `--` between groups."""
    excerpts: list[str] = []
    last = -1
    matched = set(hits)
    for hit in hits:
        first = max(hit - _CONTEXT, last + 1)
        if excerpts and first > last + 1:
            excerpts.append("--")
        for index in range(first, min(hit + _CONTEXT + 1, len(lines))):
            mark = ":" if index in matched else "-"
            excerpts.append(f"{index + 1}{mark} {_cut(lines[index], _MAX_LINE)}")
            last = index
    return excerpts


@tool(
    group="artifacts",
    summary="Write a text file, to be shared or worked on",
    safety=Reads(evidence=False),
    title="Write {name}",
)
async def write_file(
    name: Annotated[
        str, Field(min_length=1, max_length=200, description='File name with its end: "plan.md".')
    ],
    content: Annotated[str, Field(min_length=1, description="The whole text of the file.")],
    artifacts: Provided[Artifacts],
) -> ToolResult:
    """Keep a text as a file of this thread, under a new handle file_…; nobody sees it until it is
    shared with share_file. To change it, write it again."""
    text = clean(content)
    saved = await artifacts.save(
        text.encode(),
        name=name.strip(),
        media_type="text/plain; charset=utf-8",
        prefix="file",
        rows=len(text.splitlines()),
    )
    summary = f"handle: {saved.handle} · {saved.name} · {saved.rows:,} lines · {saved.size:,} bytes"
    return ToolResult(summary, handles=(saved.handle,))


async def _lines(
    artifact: Artifact, artifacts: Artifacts, tables: Tables
) -> tuple[list[str], list[str]]:
    """Return the lines of a text or the rows of a table as CSV, and a note when these are not all."""
    if is_table(artifact):
        table_rows = await tables.rows(artifact.handle, limit=_TABLE_ROWS)
        more = table_rows.total - len(table_rows.rows)
        note = (
            f"note: not searched: {more:,} rows after row {len(table_rows.rows):,}; query_table can"
        )
        return table_rows.csv_rows, [note] if more else []
    if not artifact.media_type.startswith(("text/", "application/")):
        raise ToolError(f"{artifact.handle} ({artifact.name}) is {artifact.media_type}, not text.")
    return (await artifacts.read(artifact.handle)).decode("utf-8", "replace").splitlines(), []
