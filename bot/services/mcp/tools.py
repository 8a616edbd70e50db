"""Conversion of an MCP tool and its results to a `Tool` of the catalogue and `ToolResult`s."""

from __future__ import annotations

import base64
import hashlib
import json
import re
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
from pydantic import BaseModel, TypeAdapter

from bot.core.answers import Source
from bot.core.errors import StoreError, ToolError
from bot.services.given_schema import GivenModel, fitted
from bot.services.isolated.schemas import DoesNotFit
from bot.services.mcp.pins import ToolFacts
from bot.services.mcp.server import CONNECT_SECONDS, Connection
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.schema import strict_schema
from bot.toolkit.tool import Tool, ToolResult

_MAX_NAME = 64  # characters that the Responses API takes
_MAX_SUMMARY = 100
_MAX_DESCRIPTION = 4_000
_MAX_ERROR = 4_000
_MAX_URL = 4_000
_MAX_SAVED, _MAX_SOURCES = 20, 100
"""Limits of one result: files go into the store, sources into each save point."""
_DIGEST = 8
_UNAMBIGUOUS = r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*"
"""A name without double underscores and without an underscore at its ends."""
_CHECK_SECONDS = 10.0  # for the structured part of a result


def mcp_tool(
    facts: ToolFacts, model: type[GivenModel], connection: Connection, timeout: float
) -> Tool:
    """Return the `Tool` for an MCP tool, in a group with the server's name. `model` is the class of
    its arguments; `timeout` is in seconds."""
    owner = f"MCP server {connection.name}, tool {facts.name}"

    async def call(root: dict[str, object], artifacts: Artifacts) -> ToolResult:
        result = await connection.call(facts, root)
        misfit = await _misfit(result, connection.output_schema(facts.name))
        return await _convert_result(result, misfit, artifacts, owner)

    words = " ".join(facts.description.split()) or facts.name
    return Tool(
        name=tool_name(connection.name, facts.name),
        group=connection.name,
        summary=words if len(words) <= _MAX_SUMMARY else f"{words[: _MAX_SUMMARY - 1]}…",
        description=facts.description[:_MAX_DESCRIPTION] or facts.name,
        arguments=model,
        parameters=strict_schema(model, owner=owner) if model.strict else facts.input_schema,
        strict=model.strict,
        function=call,
        services={"artifacts": Artifacts},
        returns=TypeAdapter(ToolResult),
        mutates=not facts.read_only,
        sensitive=not facts.read_only,
        foreign=True,
        timeout=CONNECT_SECONDS + timeout + _CHECK_SECONDS,
        title=lambda given: _title(connection.name, facts.name, given),
    )


def tool_name(server: str, tool: str) -> str:
    """Return `server__tool`, within the 64 characters allowed for the name of a function.

    Where characters are replaced or cut, or where the boundary of the two names would be ambiguous, a
    digest keeps the name unique. The same names always give the same result.
    """
    name = f"{server}__{tool}"
    is_unambiguous = re.fullmatch(_UNAMBIGUOUS, server) and re.fullmatch(_UNAMBIGUOUS, tool)
    if is_unambiguous and len(name) <= _MAX_NAME:
        return name
    digest = hashlib.sha256(json.dumps([server, tool]).encode()).hexdigest()[:_DIGEST]
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    return f"{plain[: _MAX_NAME - _DIGEST - 3]}___{digest}"


def _title(server: str, tool: str, given: BaseModel) -> str:
    values = given.model_dump()
    shown = ", ".join(f"{key} {json.dumps(value)}" for key, value in values.items())
    return f"{server}: {tool.replace('_', ' ')} {shown}"


async def _misfit(result: CallToolResult, schema: dict[str, object] | None) -> str:
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


async def _convert_result(
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
    kind = (media_type or "application/octet-stream")[:_MAX_SUMMARY]
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
