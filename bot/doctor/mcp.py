"""The configured MCP servers: does each start, or answer, and what does it offer."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel

from bot.doctor.findings import Finding, ok, warning
from bot.settings import Settings
from bot.toolkit.mcp import Standing, open_mcp_servers

M = TypeVar("M", bound=BaseModel)


class _NoPins:
    """As if each server was met for the first time; nothing is written down."""

    def __init__(self) -> None:
        self._seen: dict[str, BaseModel] = {}

    async def load(self, name: str, kind: type[M]) -> M | None:
        """What was seen just now."""
        seen = self._seen.get(name)
        return seen if isinstance(seen, kind) else None

    async def save(self, name: str, value: BaseModel) -> None:
        """See `load`."""
        self._seen[name] = value


async def examine_mcp(settings: Settings) -> list[Finding]:
    """Asks each for its tools, and calls none."""
    if not settings.mcp_servers:
        return []
    async with open_mcp_servers(settings.mcp_servers, _NoPins()) as servers:
        return [_finding(each) for each in await servers.standings()]


def _finding(standing: Standing) -> Finding:
    subject = f"MCP server {standing.name}"
    if standing.error:
        mend = f"correct [mcpServers.{standing.name}] in bot.toml; its tools are missing until then"
        return warning(subject, standing.error, mend)
    if not standing.usable:
        mend = f"see what [mcpServers.{standing.name}] takes with `tools` in bot.toml"
        return warning(subject, "answers, and offers no tools", mend)
    return ok(subject, f"offers {len(standing.usable)} tools")
