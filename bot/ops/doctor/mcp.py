"""Check of the MCP servers: each starts or answers, and offers tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from typing import TypeVar

from pydantic import BaseModel

from bot.app.features import all_features, mcp_doors
from bot.core.check import SECONDS, Check, ok, warning
from bot.core.errors import ConfigurationError, StoreError
from bot.mcp import Pins, ServerStatus, open_mcp_servers
from bot.settings import Settings
from bot.store import open_stores

M = TypeVar("M", bound=BaseModel)


class _ReadOnlyPins:
    """What was accepted, as stored; changes stay in memory, as this check changes nothing."""

    def __init__(self, stored: Pins | None) -> None:
        self._stored = stored
        self._values: dict[str, BaseModel] = {}

    async def load(self, name: str, kind: type[M]) -> M | None:
        """Return the value saved since the check began, or the stored one; None if it cannot be read,
        which the check of Redis reports."""
        value = self._values.get(name)
        if value is None and self._stored is not None:
            try:
                async with asyncio.timeout(SECONDS):
                    value = await self._stored.load(name, kind)
            except (StoreError, TimeoutError):
                self._stored = None
        return value if isinstance(value, kind) else None

    async def save(self, name: str, value: BaseModel) -> None:
        """Keep the value in memory only."""
        self._values[name] = value

    async def change(
        self, name: str, kind: type[M], change: Callable[[M | None], M | None]
    ) -> None:
        """Keep the changed value in memory only."""
        if (changed := change(await self.load(name, kind))) is not None:
            self._values[name] = changed


async def examine_mcp(settings: Settings) -> list[Check]:
    """Ask each server for its tools; call none."""
    if not settings.mcp_servers:
        return []
    async with AsyncExitStack() as stack:
        stored: Pins | None = None
        if settings.redis_url is not None:
            with suppress(ConfigurationError, StoreError, ValueError):
                stores = await stack.enter_async_context(open_stores(settings.redis_url))
                stored = stores.mcp
        pins = _ReadOnlyPins(stored)
        doors = mcp_doors(all_features(settings), pins)
        opened = open_mcp_servers(settings.mcp_servers, pins, **doors)
        servers = await stack.enter_async_context(opened)
        return [_check(status) for status in await servers.live_statuses()]


def _check(status: ServerStatus) -> Check:
    subject = f"MCP server {status.name}"
    if status.error:
        fix = f"correct [mcpServers.{status.name}] in bot.toml; its tools are missing until then"
        return warning(subject, status.error, fix)
    if status.issuer and status.issuer.is_off:
        text = "off, as it names another issuer or other endpoints than before"
        fix = f"compare them with `bot mcp`, then accept: `bot mcp --accept {status.name}`"
        return warning(subject, text, fix)
    if status.issuer and not (status.usable or status.changed):
        return ok(subject, "lets people connect; its tools are known once an admin has")
    if not (status.usable or status.changed):
        fix = f"check `tools` under [mcpServers.{status.name}] in bot.toml"
        return warning(subject, "answers but offers no tools", fix)
    offers = f"offers {_tools(len(status.usable))}"
    if status.hidden:
        offers += (
            f"; {', '.join(status.hidden)}: available only as tasks, which the bot does not support"
        )
    if status.changed:
        text = (
            f"{offers}; disabled because they are new or have changed: {', '.join(status.changed)}"
        )
        fix = f"read the changes with `bot mcp`, then accept them: `bot mcp --accept {status.name}`"
        return warning(subject, text, fix)
    return ok(subject, offers)


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"
