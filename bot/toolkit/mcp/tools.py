"""A server's tool as one of ours: its schema, its line in the catalogue, its results."""

from __future__ import annotations

import base64
import json
import re

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
from bot.core.errors import ToolDefinitionError, ToolError
from bot.toolkit.artifacts import Artifacts
from bot.toolkit.given_schema import given_model, loose_model
from bot.toolkit.mcp.pins import ToolFacts
from bot.toolkit.mcp.server import CONNECT_SECONDS, Connection
from bot.toolkit.schema import strict_schema
from bot.toolkit.tool import Tool, ToolResult

_MAX_NAME = 64  # characters that the Responses API takes
_MAX_SUMMARY = 100
_MAX_DESCRIPTION = 4_000


def mcp_tool(facts: ToolFacts, connection: Connection, timeout: float) -> Tool:
    """The tool as the catalogue takes it, under the server's name."""
    owner = f"MCP server {connection.name}, tool {facts.name}"
    arguments, strict = _arguments(facts, owner)

    async def call(root: dict[str, object], artifacts: Artifacts) -> ToolResult:
        return await _result(await connection.call(facts, root), artifacts, owner)

    words = " ".join(facts.description.split()) or facts.name
    return Tool(
        name=tool_name(connection.name, facts.name),
        group=connection.name,
        summary=words if len(words) <= _MAX_SUMMARY else f"{words[: _MAX_SUMMARY - 1]}…",
        description=facts.description[:_MAX_DESCRIPTION] or facts.name,
        arguments=arguments,
        parameters=strict_schema(arguments, owner=owner) if strict else facts.input_schema,
        strict=strict,
        function=call,
        services={"artifacts": Artifacts},
        returns=TypeAdapter(ToolResult),
        mutates=not facts.read_only,
        sensitive=not facts.read_only,
        foreign=True,
        timeout=CONNECT_SECONDS + timeout,
        title=lambda given: _title(connection.name, facts.name, given),
    )


def tool_name(server: str, tool: str) -> str:
    """`server__tool`, in the characters that a function's name may have."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}__{tool}")[:_MAX_NAME]


def _arguments(facts: ToolFacts, owner: str) -> tuple[type[BaseModel], bool]:
    """The model of the arguments, and whether strict mode can express it."""
    try:
        return given_model(facts.input_schema, owner=owner), True
    except ToolDefinitionError:
        return loose_model(facts.input_schema, owner=owner), False


def _title(server: str, tool: str, given: BaseModel) -> str:
    values = given.model_dump()
    shown = ", ".join(f"{key} {json.dumps(value)}" for key, value in values.items())
    return f"{server}: {tool.replace('_', ' ')} {shown}"


async def _result(result: CallToolResult, artifacts: Artifacts, owner: str) -> ToolResult:
    """What the model reads: text as it is, what is not text under a handle."""
    parts = [await _part(block, artifacts) for block in result.content]
    text = "\n".join(part.content for part in parts if part.content)
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    if result.is_error:
        raise ToolError(text or f"{owner} failed and did not say why.")
    return ToolResult(
        content=text or "Done; it returned nothing.",
        sources=tuple(source for part in parts for source in part.sources),
        handles=tuple(handle for part in parts for handle in part.handles),
    )


async def _part(block: ContentBlock, artifacts: Artifacts) -> ToolResult:
    match block:
        case TextContent():
            return ToolResult(block.text)
        case ImageContent() | AudioContent():
            return await _saved(block.data, block.mime_type, artifacts)
        case ResourceLink():
            source = Source(title=block.title or block.name, url=str(block.uri), supports="")
            return ToolResult(f"{source.title}: {source.url}", sources=(source,))
        case EmbeddedResource():
            resource = block.resource
            if isinstance(resource, BlobResourceContents):
                return await _saved(resource.blob, resource.mime_type, artifacts)
            return ToolResult(resource.text)


async def _saved(data: str, media_type: str | None, artifacts: Artifacts) -> ToolResult:
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        raise ToolError("The server returned binary data that cannot be read.") from None
    kind = media_type or "application/octet-stream"
    kept = await artifacts.save(content, name=kind.replace("/", "."), media_type=kind, prefix="mcp")
    return ToolResult(
        f"[{kind}, {kept.size:,} bytes, saved as {kept.handle}]", handles=(kept.handle,)
    )
