"""Conversion of an MCP tool to a `Tool` of the catalogue."""

from __future__ import annotations

import hashlib
import json
import re

from pydantic import BaseModel, TypeAdapter

from bot.mcp.config import McpServer
from bot.mcp.connection import CONNECT_SECONDS, LONGEST_CALL
from bot.mcp.doors import Connections
from bot.mcp.pins import LIST_RESOURCES, READ_RESOURCE, ToolFacts
from bot.mcp.resources import list_resources, read_resource
from bot.mcp.results import READ_SECONDS, ResultConverter, misfit_of
from bot.services.given_schema import GivenModel
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.provided.documents import Documents
from bot.toolkit.provided.tables import Tables
from bot.toolkit.safety import Changes, Reads, Safety
from bot.toolkit.schema import strict_schema
from bot.toolkit.tool import Tool, ToolResult

_MAX_NAME = 64  # characters that the Responses API takes
_MAX_SUMMARY = 100
_MAX_DESCRIPTION = 4_000
_DIGEST = 8
_UNAMBIGUOUS = r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*"
"""A name without double underscores and without an underscore at its ends."""
_CHECK_SECONDS = 10.0  # for the structured part of a result


def mcp_tool(
    facts: ToolFacts, model: type[GivenModel], connections: Connections, server: McpServer
) -> Tool:
    """Return the `Tool` for an MCP tool, in a group with the server's name. `model` is the class of
    its arguments, `server` its entry in bot.toml."""
    name = tool_name(connections.name, facts.name)
    owner = f"MCP server {connections.name}, tool {facts.name}"

    async def call(
        root: dict[str, object], artifacts: Artifacts, documents: Documents, tables: Tables
    ) -> ToolResult:
        async with connections.for_asker(name) as connection:
            if facts.ours and (own := connections.own_tools.get(facts.name)):
                return ToolResult(await own.call(connection))
            if facts.ours and facts.name == LIST_RESOURCES.name:
                return await list_resources(connection, root)
            if facts.ours:
                contents = await read_resource(connection, root)
                return await ResultConverter(artifacts, documents, tables).contents(contents)
            result = await connection.answered_call(facts, root)
        misfit = await misfit_of(result, connection.listing.output_schemas.get(facts.name))
        reads = connection.listing.reads_resources
        reader = tool_name(connection.name, READ_RESOURCE.name) if reads else ""
        converter = ResultConverter(artifacts, documents, tables, reader)
        return await converter.tool_result(result, misfit, owner)

    longest = LONGEST_CALL if server.questions else server.timeout
    words = " ".join(facts.description.split()) or facts.name
    return Tool(
        name=name,
        group=connections.name,
        summary=words if len(words) <= _MAX_SUMMARY else f"{words[: _MAX_SUMMARY - 1]}…",
        description=facts.description[:_MAX_DESCRIPTION] or facts.name,
        arguments=model,
        parameters=strict_schema(model, owner=owner) if model.strict else facts.input_schema,
        strict=model.strict,
        function=call,
        services={"artifacts": Artifacts, "documents": Documents, "tables": Tables},
        returns=TypeAdapter(ToolResult),
        safety=_safety(facts, own=facts.name in connections.own_tools),
        timeout=CONNECT_SECONDS + longest + _CHECK_SECONDS + READ_SECONDS,
        title=lambda given: _title(connections.name, facts.name, given),
        account=connections.account,
    )


def _safety(facts: ToolFacts, *, own: bool) -> Safety:
    """Return the safety of a server's tool, or of an `own` one of ours beside them.

    Nobody knows whether a server answers the same call with the same kind of data again. Most tools
    that do not say that they only read answer with more than they were sent.
    """
    if facts.read_only:
        return Reads(foreign=True, repeatable=facts.ours and not own)  # a resource at its address
    return Changes(sensitive=True, foreign=True, evidence=True, destructive=facts.destructive)


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
