"""The configured MCP servers: does each start, or answer, and what does it offer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TypeVar

from pydantic import BaseModel

from bot.core.errors import ConfigurationError, StoreError
from bot.ops.doctor.findings import SECONDS, Finding, ok, warning
from bot.services.mcp import ServerPins, Standing, open_mcp_servers
from bot.settings import Settings
from bot.store import open_stores

M = TypeVar("M", bound=BaseModel)


class _OnlyRead:
    """Pins as they are kept; what is seen now is written nowhere."""

    def __init__(self, kept: Mapping[str, BaseModel]) -> None:
        self._seen = dict(kept)

    async def load(self, name: str, kind: type[M]) -> M | None:
        """What was kept, or seen just now."""
        seen = self._seen.get(name)
        return seen if isinstance(seen, kind) else None

    async def save(self, name: str, value: BaseModel) -> None:
        """See `load`."""
        self._seen[name] = value


async def examine_mcp(settings: Settings) -> list[Finding]:
    """Asks each for its tools, and calls none."""
    if not settings.mcp_servers:
        return []
    pins = _OnlyRead(await _kept(settings))
    async with open_mcp_servers(settings.mcp_servers, pins) as servers:
        return [_finding(each) for each in await servers.standings()]


async def _kept(settings: Settings) -> dict[str, ServerPins]:
    """What was accepted of each server, where a Redis says so. Of one that cannot be reached its own
    check says so."""
    if settings.redis_url is None:
        return {}
    try:
        async with asyncio.timeout(SECONDS), open_stores(settings.redis_url) as stores:
            kept = {name: await stores.mcp.load(name, ServerPins) for name in settings.mcp_servers}
    except (ConfigurationError, StoreError, TimeoutError, ValueError):
        return {}
    return {name: pins for name, pins in kept.items() if pins}


def _finding(standing: Standing) -> Finding:
    subject = f"MCP server {standing.name}"
    if standing.error:
        mend = f"correct [mcpServers.{standing.name}] in bot.toml; its tools are missing until then"
        return warning(subject, standing.error, mend)
    if not (standing.usable or standing.changed):
        mend = f"see what [mcpServers.{standing.name}] takes with `tools` in bot.toml"
        return warning(subject, "answers, and offers no tools", mend)
    offers = f"offers {_tools(len(standing.usable))}"
    if standing.hidden:
        offers += f"; {', '.join(standing.hidden)}: only as a task, which the bot cannot do"
    if standing.changed:
        text = f"{offers}; off, because they changed or are new: {', '.join(standing.changed)}"
        mend = f"read the change with `bot mcp`, and accept it: `bot mcp --accept {standing.name}`"
        return warning(subject, text, mend)
    return ok(subject, offers)


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"
