"""One MCP server, as it is configured. Nothing here needs the protocol's SDK, which is slow to load."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from bot.core.text.invisible_text import without_unseen
from bot.core.text.redaction import each_text
from bot.services.mcp.pins import ToolFacts

if TYPE_CHECKING:
    from mcp.types import Tool


class McpServer(BaseModel):
    """An entry of `mcpServers`: a `command` to start, or the `url` of one that runs.

    A command sees `env` and little else: HOME, PATH and the like. Of its `tools` only those that
    match are taken (`*` stands for any letters). Tools that match `read_only`, or say so themselves
    while it is None, change nothing; all others need a person's approval. `timeout` in seconds.
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
    def _one_way(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("set command or url, one of them")
        return self

    def facts(self, tool: Tool) -> ToolFacts:
        """A tool of this server, as it is pinned."""
        claims = bool(tool.annotations and tool.annotations.read_only_hint)
        return ToolFacts(
            name=tool.name,
            description=without_unseen(tool.description or tool.title or ""),
            input_schema=each_text(tool.input_schema, without_unseen),
            read_only=claims if self.read_only is None else _matches(tool.name, self.read_only),
        )

    def takes(self, name: str) -> bool:
        """Whether the operator wants this tool."""
        return _matches(name, self.tools)

    def may_have(self, server: str, allowed: str) -> bool:
        """Whether `allowed` names all tools of this server, called `server`, or may name some."""
        return fnmatchcase(server, allowed) or allowed.startswith(f"{server}__")


def _matches(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
