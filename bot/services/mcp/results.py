"""Conversion of what an MCP server returns to what the model reads: text, sources and handles."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence

from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
)

from bot.core.answers import Source
from bot.core.errors import StoreError, ToolError
from bot.services.given_schema import fitted
from bot.services.isolated.schemas import DoesNotFit
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.tool import ToolResult

_MAX_MEDIA_TYPE = 100
_MAX_ERROR = 4_000
_MAX_URL = 4_000
_MAX_SAVED, _MAX_SOURCES = 20, 100
"""Limits of one result: files go into the store, sources into each save point."""


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


async def converted_result(
    result: CallToolResult, misfit: str, artifacts: Artifacts, owner: str
) -> ToolResult:
    """Return the result for the model: text as it is, binary data as artifact handles."""
    parts = [await _convert_block(block, artifacts) for block in _within_limit(result.content)]
    saved = sum(map(_is_binary, result.content))
    if saved > _MAX_SAVED:
        left_out = f"[{saved - _MAX_SAVED} more pictures or files are left out]"
        parts.append(ToolResult(left_out))
    text = "\n".join(part.content for part in parts if part.content)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if result.is_error:
        raise ToolError(text[:_MAX_ERROR] or f"{owner} failed and did not say why.")
    return ToolResult(
        content="\n".join(filter(None, (text or "Done; it returned nothing.", misfit))),
        sources=tuple(source for part in parts for source in part.sources)[:_MAX_SOURCES],
        handles=tuple(handle for part in parts for handle in part.handles),
    )


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


async def _convert_block(block: ContentBlock, artifacts: Artifacts) -> ToolResult:
    match block:
        case TextContent():
            return ToolResult(block.text)
        case ImageContent() | AudioContent():
            return await _save_binary(block.data, block.mime_type, artifacts)
        case ResourceLink():
            title, url = block.title or block.name, str(block.uri)
            # Nobody could open an address with a scheme of the server's own.
            is_address = url.startswith(("http://", "https://")) and len(url) <= _MAX_URL
            sources = (Source(title=title, url=url, supports=""),) if is_address else ()
            return ToolResult(f"{title}: {url}", sources=sources)
        case EmbeddedResource():
            resource = block.resource
            if isinstance(resource, BlobResourceContents):
                return await _save_binary(resource.blob, resource.mime_type, artifacts)
            return ToolResult(resource.text)


async def _save_binary(data: str, media_type: str | None, artifacts: Artifacts) -> ToolResult:
    """Save binary data, or say in its place why not: the call itself was made."""
    kind = (media_type or "application/octet-stream")[:_MAX_MEDIA_TYPE]
    try:
        content = base64.b64decode(data, validate=True)
        kept = await artifacts.save(
            content, name=kind.replace("/", "."), media_type=kind, prefix="mcp"
        )
    except ValueError:
        return ToolResult(f"[{kind}: binary data that cannot be read]")
    except (ToolError, StoreError) as error:
        return ToolResult(f"[{kind}: binary data that could not be kept: {error}]")
    return ToolResult(
        f"[{kind}, {kept.size:,} bytes, saved as {kept.handle}]", handles=(kept.handle,)
    )
