"""Tools that find and read files which people shared."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import tzinfo
from typing import Annotated, Any

from pydantic import Field

from bot.toolkit import (
    Compact,
    Conversation,
    Documents,
    FileReaders,
    FileRef,
    Provided,
    Query,
    Reads,
    SharedFile,
    Source,
    Text,
    TimeRange,
    ToolError,
    ToolResult,
    counted,
    current_request,
    narrowing,
    tool,
    zone_of,
)

_MAX_FILE_BYTES = 50_000_000
_THREAD, _MOST_FOUND, _MOST_SIMILAR = 200, 100, 10
_ID = re.compile(r"F[A-Z0-9]+")
_NO_READERS = FileReaders()


_READ, _READ_A_FILE = Text("Read {name}"), Text("Read a file")
_LISTEN = Text("Listen to {name}")


def _title(arguments: Any) -> str:
    with suppress(LookupError):  # of no call in particular
        for file in current_request().request.files:
            if arguments.file_id in (file.id, file.name):
                is_heard = file.media_type.startswith(("audio/", "video/"))
                return _LISTEN(name=file.name) if is_heard else _READ(name=file.name)
    return _READ_A_FILE()


@tool(
    group="files",
    summary="Read a file of this thread, or of a channel that the asker sees",
    safety=Reads(foreign=True, quotes=True),
    offered_with=("file",),
    timeout=240.0,
    title=_title,
    narrowing=("compact", "query", "sheet", "pages"),
)
async def read_file(
    file_id: Annotated[str, Field(max_length=200, description="Its id, as F0123ABC, or its name.")],
    conversation: Provided[Conversation],
    documents: Provided[Documents],
    sheet: Annotated[
        str | None, Field(description="One sheet of a workbook; null for all.")
    ] = None,
    pages: Annotated[
        str | None,
        Field(description='Pages of a PDF, as "1-5,8"; null for the first 1,000.'),
    ] = None,
    query: Annotated[
        Query, Field(description="Words: only the passages with the most of them.")
    ] = None,
    compact: Annotated[Compact, Field(description="Only handles and columns.")] = False,
    readers: Provided[FileReaders] = _NO_READERS,
) -> ToolResult:
    """Read a file of this thread or a channel: text, csv, json, xlsx, docx, pdf, html, eml, parquet,
    and what is said in a voice or video clip.
    A table gives a handle tbl_…, columns and first rows: compute with query_table on the handle, not
    from these rows. A document gives text, a long one in part, and a handle doc_….
    """
    known = await _known(file_id.strip(), conversation)
    reader = readers.of(known) if known else None
    if known and not reader and known.size > _MAX_FILE_BYTES:
        raise ToolError(
            f"{known.name} is larger than {_MAX_FILE_BYTES / 1e6:.0f} MB, the most that can be read, so it "
            "was not downloaded. Ask for an extract: the rows or columns needed as CSV, "
            "the same table as Parquet, or the pages that matter."
        )
    key = known.id if known else file_id
    if reader is None:
        content = await conversation.download(key, max_bytes=_MAX_FILE_BYTES)
        reader = readers.of(content.file)
    if reader:
        read = await reader.read(key)
        saved = await documents.save(
            read.text, name=read.name, url=read.url, query=query, compact=compact
        )
        return replace(saved, note=read.note)
    name = content.file.name
    kind = documents.kind_of(name, content.file.media_type, content.data)
    document = await documents.read(content.data, kind, name=name, sheet=sheet, pages=pages)
    return await documents.save(
        document, name=name, url=content.url, query=query, compact=compact, own=content.own
    )


async def _known(file_id: str, conversation: Conversation) -> FileRef | None:
    """Return a file by its id or its name, of the request, the thread, the channel, or else of all
    channels; None for an id that is of no file here. Raises ToolError for a name that none has, or
    several of other channels."""
    request = current_request().request
    files = list(request.files)
    if not any(file_id in (file.id, file.name) for file in files):
        for message in await conversation.thread(limit=_THREAD):
            files.extend(message.files)
    by_id = [file for file in files if file.id == file_id]
    by_name = [file for file in reversed(files) if file.name.casefold() == file_id.casefold()]
    if by_id or by_name or _ID.fullmatch(file_id):
        return next(iter(by_id + by_name), None)
    found = await conversation.find_files(file_id, limit=_MOST_FOUND)
    exact = [each for each in found.files if each.file.name.casefold() == file_id.casefold()]
    if nearest := [each for each in exact if each.is_here] or (exact if len(exact) == 1 else []):
        return nearest[0].file
    zone = zone_of(request.time_zone)
    similar = (exact or found.files or found.near)[:_MOST_SIMILAR]
    lines = "; ".join(_line(each, zone) for each in similar) or "none"
    here = ", ".join(f"{file.name} {file.id}" for file in files) or "none"
    if exact:
        raise ToolError(f"{len(exact)} files are called {file_id}: name one by its id: {lines}.")
    raise ToolError(
        f"No file that all readers of the answer may see is called {file_id}. Searched: "
        f"{found.searched}. Similar: {lines}. Files of this thread: {here}."
    )


@tool(
    group="slack",
    summary="Find files by name, in all channels that the asker and the bot see",
    safety=Reads(foreign=True, quotes=True, repeatable=False),
    timeout=120.0,
    title="Look for files: {query}",
    narrowing=("query", "time_range", "limit"),
)
async def search_files(
    query: Annotated[
        str, Field(min_length=1, max_length=200, description="Words of the name or title.")
    ],
    conversation: Provided[Conversation],
    time_range: TimeRange = None,
    limit: Annotated[int, Field(ge=1, le=100, description="At most so many.")] = 20,
) -> ToolResult:
    """Find files and canvases by name, the newest first, with ids for read_file and read_canvas.
    What is in them is not searched."""
    zone = zone_of(current_request().request.time_zone)
    start, end = narrowing.time_range(time_range, zone)
    found = await conversation.find_files(query, limit=limit, after=start, before=end)
    head = f"{counted(len(found.files), 'file')} · searched: {found.searched} · times in {zone}"
    lines = [_line(each, zone) for each in found.files]
    near = [f"similar: {_line(each, zone)}" for each in found.near]
    sources = tuple(
        Source(title=each.file.name, url=each.url, supports="That it is there.")
        for each in found.files
    )
    return ToolResult("\n".join([head, *lines, *near]), sources)


def _line(shared: SharedFile, zone: tzinfo) -> str:
    file = shared.file
    facts = (
        file.id,
        file.name,
        "canvas" if shared.is_canvas else f"{file.size:,} bytes",
        f"{shared.at.astimezone(zone):%Y-%m-%d %H:%M}, {shared.author}",
        f"#{shared.place}" if shared.place else "",
    )
    return " · ".join(filter(None, facts))
