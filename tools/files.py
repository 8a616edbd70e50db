"""A tool that reads files which people attached."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from bot.toolkit import (
    Compact,
    Conversation,
    Documents,
    FileRef,
    Provided,
    Query,
    Reads,
    Text,
    ToolError,
    ToolResult,
    current_request,
    tool,
)

_MAX_FILE_BYTES = 50_000_000
_THREAD = 200


_READ, _READ_A_FILE = Text("Read {name}"), Text("Read a file")


def _title(arguments: Any) -> str:
    request = current_request().request
    names = {key: file.name for file in request.files for key in (file.id, file.name)}
    name = names.get(arguments.file_id)
    return _READ(name=name) if name else _READ_A_FILE()


@tool(
    group="files",
    summary="Read a file of this thread, or of a channel that the asker sees",
    safety=Reads(foreign=True, quotes=True),
    core=True,
    timeout=150.0,
    title=_title,
    narrowing=("compact", "query", "sheet", "pages"),
)
async def read_file(
    file_id: Annotated[str, Field(description="Its id, as F0123ABC, or its name.")],
    conversation: Provided[Conversation],
    documents: Provided[Documents],
    sheet: Annotated[
        str | None, Field(description="One sheet of a workbook; all if left out.")
    ] = None,
    pages: Annotated[
        str | None,
        Field(description='Pages of a PDF, as "1-5,8"; the first 1,000 if left out.'),
    ] = None,
    query: Annotated[
        Query, Field(description="Words; only a document's passages with the most of them.")
    ] = None,
    compact: Annotated[Compact, Field(description="Only handles, sizes and columns.")] = False,
) -> ToolResult:
    """Read a file of this thread or a channel: txt, md, csv, tsv, json, xlsx, docx, pdf, html, eml,
    parquet. A table comes back as a handle tbl_… with columns, ranges and first rows: compute from
    it with query_table, never from these. A document comes as text and a handle doc_…, a long one
    in part.
    """
    known = await _known(file_id, conversation)
    if known and known.size > _MAX_FILE_BYTES:
        raise ToolError(
            f"{known.name} is larger than {_MAX_FILE_BYTES / 1e6:.0f} MB, the most that can be read, so it "
            "was not downloaded. Ask for an extract: the rows or columns needed as CSV, "
            "the same table as Parquet, or the pages that matter."
        )
    content = await conversation.download(known.id if known else file_id, max_bytes=_MAX_FILE_BYTES)
    name = content.file.name
    kind = documents.kind_of(name, content.file.media_type, content.data)
    read = await documents.read(content.data, kind, name=name, sheet=sheet, pages=pages)
    return await documents.save(
        read, name=name, url=content.url, query=query, compact=compact, own=content.own
    )


async def _known(file_id: str, conversation: Conversation) -> FileRef | None:
    """Return the entry of a file in the request or the thread, by its id or else its name."""
    request = current_request().request
    files = list(request.files)
    if not any(file_id in (file.id, file.name) for file in files):
        for message in await conversation.thread(limit=_THREAD):
            files.extend(message.files)
    by_id = [file for file in files if file.id == file_id]
    by_name = [file for file in reversed(files) if file.name.casefold() == file_id.casefold()]
    return next(iter(by_id + by_name), None)
