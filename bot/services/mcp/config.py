"""Configuration of one MCP server. This module does not load the protocol's SDK, which is slow."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from bot.core.text.invisible_text import without_invisible
from bot.core.text.redaction import each_text
from bot.services.mcp.pins import ToolFacts

if TYPE_CHECKING:
    from mcp.types import Tool


class McpServer(BaseModel):
    """An entry of `mcpServers`: a `command` to start, or the `url` of a running server.

    The environment of a command is `env` and little else: HOME, PATH and the like. Only tools whose
    names match a pattern in `tools` are used (`*` matches any letters). Tools that match `read_only`
    change nothing; if it is None, the server's own claim counts. All other tools need a person's
    approval. `timeout` is in seconds.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, SecretStr] = {}
    url: str | None = None
    headers: dict[str, SecretStr] = {}
    tools: tuple[str, ...] = ("*",)
    read_only: tuple[str, ...] | None = None
    timeout: float = Field(default=30.0, gt=0, le=600)

    @model_validator(mode="after")
    def _one_transport(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("set command or url, one of them")
        return self

    def facts(self, tool: Tool) -> ToolFacts:
        """Return the facts of a tool that are pinned."""
        claims = bool(tool.annotations and tool.annotations.read_only_hint)
        return ToolFacts(
            name=tool.name,
            description=without_invisible(tool.description or tool.title or ""),
            input_schema=each_text(tool.input_schema, without_invisible),
            read_only=claims if self.read_only is None else _matches(tool.name, self.read_only),
        )

    def allows(self, name: str) -> bool:
        """Return whether the operator allows this tool."""
        return _matches(name, self.tools)

    def may_have(self, server: str, allowed: str) -> bool:
        """Return whether `allowed` names all tools of this server, called `server`, or may name some."""
        return fnmatchcase(server, allowed) or allowed.startswith(f"{server}__")


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
