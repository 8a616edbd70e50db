"""Conversion of what an MCP server returns to what the model reads: text, sources and handles."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from bot.core.answers import Source
from bot.core.errors import StoreError, ToolError
from bot.services.given_schema import DoesNotFit, fitted
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.provided.documents import Documents
from bot.toolkit.provided.tables import Tables
from bot.toolkit.tool import ToolResult

_MAX_MEDIA_TYPE = 100
_MAX_ERROR = 4_000
_MAX_URL, _MAX_TITLE = 4_000, 200
_MAX_SAVED, _MAX_SOURCES = 20, 100
"""Limits of one result: files go into the store, sources into each save point."""
_ADDRESS = re.compile(r"https?://[^\s\x00-\x1f\x7f]+", re.IGNORECASE)

READ_SECONDS = 20.0
"""Time for reading all files of one result; the files that are left then are saved as they are."""


async def misfit_of(result: CallToolResult, schema: dict[str, object] | None) -> str:
    """Return why the structured part of a result violates the server's own schema; "" when it fits.
    It is no error, because the call was made and the text tells its result."""
    if schema is None or result.is_error:
        return ""
    if result.structured_content is None:
        return "[The server promised a structured result and sent none.]"
    try:
        await fitted(schema, result.structured_content)
    except DoesNotFit as error:
        path, why = error.misfits[0]
        place = f" at {'.'.join(map(str, path))}" if path else ""
        return f"[The result does not fit the schema that the server gives for it{place}: {why}]"
    return ""


@dataclass(frozen=True, slots=True)
class ResultConverter:
    """Converts one result of a server: text as it is, tables and files as handles, web addresses as
    sources.

    `reader` is the name of the tool that reads other addresses of the server, "" if there is none.
    """

    artifacts: Artifacts
    documents: Documents
    tables: Tables
    reader: str = ""
    _ends: float = field(
        default_factory=lambda: asyncio.get_running_loop().time() + READ_SECONDS, init=False
    )

    async def tool_result(self, result: CallToolResult, misfit: str, owner: str) -> ToolResult:
        """Return the result of a call, with `misfit` as a remark. Raises ToolError for an error."""
        blocks, structured = [*_within_limit(result.content)], result.structured_content
        parts = [await self._block(block) for block in blocks]
        if result.is_error:
            text = _text_of(parts)[:_MAX_ERROR]
            raise ToolError(text or f"{owner} failed and did not say why.")
        texts = [block.text for block in blocks if isinstance(block, TextContent)]
        is_repeated = structured is not None and repeats(texts, structured)
        if table := await self._table(structured, owner, is_shown=is_repeated or not texts):
            others = zip(parts, blocks, strict=True)
            parts = [p for p, b in others if not (is_repeated and isinstance(b, TextContent))]
            parts.append(table)
        text = _text_of(parts)
        if not text and structured is not None:
            text = json.dumps(structured, ensure_ascii=False)
        left_out = sum(map(_is_binary, result.content)) - _MAX_SAVED
        lines = (
            text or "Done; it returned nothing.",
            f"[{left_out} more pictures or files are left out]" if left_out > 0 else "",
            self._how_to_read(result.content),
            misfit,
        )
        return _joined(parts, lines)

    async def _table(
        self, structured: Mapping[str, Any] | None, owner: str, *, is_shown: bool
    ) -> ToolResult | None:
        """Save the table of a structured result, and show it with what is beside it.

        Only name it where the text tells what it holds. Return None without a table that can be
        saved.
        """
        found = await asyncio.to_thread(table_in, structured)
        if found is None:
            return None
        try:
            async with asyncio.timeout_at(self._ends):
                saved = await self.tables.save(found.columns, found.rows, name=owner)
                text = await self.tables.shown(saved, compact=not is_shown)
        except (ToolError, StoreError, TimeoutError):
            return None
        rest = json.dumps(found.rest, ensure_ascii=False) if found.rest and is_shown else ""
        return ToolResult("\n".join(filter(None, (rest, text))), handles=(saved.handle,))

    async def contents(
        self, contents: Sequence[TextResourceContents | BlobResourceContents]
    ) -> ToolResult:
        """Return what a resource holds.

        It may have several parts, such as the files of a folder.
        """
        parts = [
            await self._resource(content, is_asked_for=True) for content in contents[:_MAX_SAVED]
        ]
        left_out = len(contents) - _MAX_SAVED
        lines = (
            _text_of(parts) or "It is empty.",
            f"[{left_out} more parts are left out]" if left_out > 0 else "",
        )
        return _joined(parts, lines)

    async def _block(self, block: ContentBlock) -> ToolResult:
        match block:
            case TextContent():
                return ToolResult(block.text)
            case ImageContent() | AudioContent():
                return await self._save(block.data, block.mime_type, "")
            case ResourceLink():
                title = block.title or block.name
                return ToolResult(f"{title}: {block.uri}", sources=_sources(title, block.uri))
            case EmbeddedResource():
                return await self._resource(block.resource)

    async def _resource(
        self, resource: TextResourceContents | BlobResourceContents, *, is_asked_for: bool = False
    ) -> ToolResult:
        """Return a resource: a file that can be read as document or table, others as they are.

        Text is taken for a file if it was asked for and its type says that it holds a table.
        """
        name, uri = _file_name(resource.uri), resource.uri
        if isinstance(resource, TextResourceContents):
            is_table = "csv" in (resource.mime_type or "") or name.endswith((".csv", ".tsv"))
            if is_asked_for and is_table:
                data = resource.text.encode("utf-8", "replace")
                if read := await self._read(data, name, resource.mime_type, uri):
                    return read
            return ToolResult(resource.text, sources=_sources(name, uri))
        try:
            data = base64.b64decode(resource.blob, validate=True)
        except ValueError:
            data = b""
        if data and (read := await self._read(data, name, resource.mime_type, uri)):
            return read
        return await self._save(resource.blob, resource.mime_type, uri)

    async def _read(
        self, data: bytes, name: str, media_type: str | None, uri: str
    ) -> ToolResult | None:
        """Read a file and save what it holds. None if that fails, or there is no time left."""
        url = next((source.url for source in _sources(name, uri)), None)
        try:
            async with asyncio.timeout_at(self._ends):
                kind = self.documents.kind_of(name, media_type or "", data)
                found = await self.documents.read(data, kind, name=name)
                return await self.documents.save(found, name=name, url=url)
        except (ToolError, StoreError, TimeoutError):
            return None

    async def _save(self, data: str, media_type: str | None, uri: str) -> ToolResult:
        """Save binary data, or say in its place why not: the call itself was made."""
        kind = (media_type or "application/octet-stream")[:_MAX_MEDIA_TYPE]
        sources = _sources(_file_name(uri), uri)
        try:
            content = base64.b64decode(data, validate=True)
            kept = await self.artifacts.save(
                content, name=kind.replace("/", "."), media_type=kind, prefix="mcp"
            )
        except ValueError:
            return ToolResult(f"[{kind}: binary data that cannot be read]", sources)
        except (ToolError, StoreError) as error:
            return ToolResult(f"[{kind}: binary data that could not be kept: {error}]", sources)
        saved = f"[{kind}, {kept.size:,} bytes, saved as {kept.handle}]"
        return ToolResult(saved, sources, (kept.handle,))

    def _how_to_read(self, content: Sequence[ContentBlock]) -> str:
        """Return how to read addresses that no browser opens, if the server has resources."""
        links = (block.uri for block in content if isinstance(block, ResourceLink))
        if self.reader and not all(map(_ADDRESS.match, links)):
            return f"[{self.reader} reads the addresses that are not of the web.]"
        return ""


def _text_of(parts: Sequence[ToolResult]) -> str:
    return "\n".join(part.content for part in parts if part.content)


def _joined(parts: Sequence[ToolResult], lines: Sequence[str]) -> ToolResult:
    return ToolResult(
        content="\n".join(filter(None, lines)),
        sources=tuple(source for part in parts for source in part.sources)[:_MAX_SOURCES],
        handles=tuple(handle for part in parts for handle in part.handles),
    )


def _sources(title: str, uri: str) -> tuple[Source, ...]:
    """Return a web address as a source; None for a server's own scheme: nobody can open it."""
    if len(uri) > _MAX_URL or not _ADDRESS.fullmatch(uri):
        return ()
    return (Source(title=" ".join(title.split())[:_MAX_TITLE] or uri, url=uri, supports=""),)


def _file_name(uri: str) -> str:
    """Return the last part of an address as the name of a file."""
    try:
        path = urlsplit(uri).path or uri
    except ValueError:
        path = uri
    name = unquote(path).rstrip("/").rsplit("/", 1)[-1]
    return " ".join(name.split())[-_MAX_TITLE:] or "resource"


def _within_limit(blocks: Sequence[ContentBlock]) -> Iterator[ContentBlock]:
    """Yield the parts of a result, without the binary ones beyond the limit."""
    left = _MAX_SAVED
    for block in blocks:
        left -= _is_binary(block)
        if left >= 0 or not _is_binary(block):
            yield block


def _is_binary(block: ContentBlock) -> bool:
    if isinstance(block, EmbeddedResource):
        return isinstance(block.resource, BlobResourceContents)
    return isinstance(block, ImageContent | AudioContent)


_LEAST_ROWS, _MAX_COLUMNS, _MAX_ROWS = 3, 100, 100_000
_MAX_REPEATED = 4_000_000  # characters of text that are compared with the structure


@dataclass(frozen=True, slots=True)
class StructuredTable:
    """The one table of a structured result: a list of flat objects.

    `rest` is all that is beside it.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    rest: Mapping[str, Any]


def table_in(structured: Mapping[str, Any] | None) -> StructuredTable | None:
    """Return the table in a structured result; None if there is none, or more than one."""
    lists = [key for key, value in (structured or {}).items() if _is_table(value)]
    if structured is None or len(lists) != 1:
        return None
    objects: list[dict[str, Any]] = structured[lists[0]]
    columns = list(dict.fromkeys(name for each in objects for name in each))
    if not 0 < len(columns) <= _MAX_COLUMNS:
        return None
    rows = [[each.get(name) for name in columns] for each in objects]
    rest = {key: value for key, value in structured.items() if key != lists[0]}
    return StructuredTable(columns, rows, rest)


def repeats(texts: Sequence[str], structured: Mapping[str, Any]) -> bool:
    """Return whether the texts repeat the structure as JSON: whole, or item by item."""
    if not texts or sum(map(len, texts)) > _MAX_REPEATED:
        return False
    try:
        said = [json.loads(text) for text in texts]
    except (ValueError, RecursionError):
        return False
    inner = list(structured.values())
    wholes = (structured, inner[0] if len(inner) == 1 else None)
    return said in wholes or (len(said) == 1 and said[0] in wholes)


def _is_table(value: object) -> bool:
    return (
        isinstance(value, list)
        and _LEAST_ROWS <= len(value) <= _MAX_ROWS
        and all(isinstance(each, dict) and all(map(_is_cell, each.values())) for each in value)
    )


def _is_cell(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)
