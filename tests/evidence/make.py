"""The outputs of the real tools that the labelled answers are about: `python -m tests.evidence.make`.

Runs the calls of `worlds.yaml` with the real tools, over real files, databases, pages and MCP servers,
and writes each world's entries to `outputs/<world>.json`. Run it only for new worlds: handles are
random, and answers may be about what is written there already.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import Any

import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic import SecretStr

from bot.app.run_setup import redis_and_stores
from bot.app.tool_loading import catalogue
from bot.dev.sample_database import build
from bot.evals.material import CaseCanvases, CaseWebSearch
from bot.mcp import McpServer, open_mcp_servers
from bot.services.sql_databases import DatabaseConfig, SqlDatabases
from bot.settings import Settings
from bot.testing import MemoryConversation, asked, run_tool
from bot.testing.tools import with_memory
from bot.toolkit import Canvases, Conversation, Databases, Fetcher, Page, ThreadMessage, WebSearch
from bot.web.fetching import WebFetcher

HERE = Path(__file__).parent
OUTPUTS = HERE / "outputs"
_EVALS = HERE.parent / "evals"
_HANDLE = re.compile(r"\b[a-z]{3}_[0-9a-z]{6}\b")
_CALCULATING = {"math", "time"}  # groups of tools that only compute from their arguments
_PORT = re.compile(r"(?<=\.example):\d+")


async def made(name: str, world: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of a world: the person's question, then the outputs of its calls."""
    entries: list[dict[str, Any]] = []
    if question := world.get("question"):
        link = f"https://example.slack.com/archives/C0{name.upper()}/p1700000000000000"
        entries.append({"call_id": "asked", "kind": "person", "text": question, "link": link})
    async with AsyncExitStack() as stack:
        services, tools, names = await _opened(stack, world)
        handles: list[str] = []
        stack.enter_context(asked(question or "?", time_zone=world.get("zone", "UTC")))
        for number, [(tool, arguments)] in enumerate(map(dict.items, world["calls"])):
            given = _filled(arguments, [*names, *handles])
            result = await run_tool(tools[tool], given, services)
            text = "\n".join(filter(None, (result.note, result.content)))
            handles += [
                each for each in dict.fromkeys(_HANDLE.findall(text)) if each not in handles
            ]
            kind = "calculated" if tools[tool].group in _CALCULATING else "read"
            entries.append(
                {
                    "call_id": f"call_{number}",
                    "tool": tool,
                    "kind": "none" if tools[tool].mutates else kind,
                    "arguments": json.dumps(given, ensure_ascii=False),
                    "text": _PORT.sub("", text),
                    "sources": [_without_port(each.model_dump()) for each in result.sources],
                    "handles": list(result.handles),
                }
            )
    return entries


def _without_port(source: dict[str, Any]) -> dict[str, Any]:
    return source | {"url": _PORT.sub("", source["url"] or "") or None}


def _filled(value: Any, handles: list[str]) -> Any:
    """Return arguments with "$0", "$1", … replaced by the ids of files, then of handles."""
    if isinstance(value, dict):
        return {key: _filled(each, handles) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, handles) for each in value]
    if isinstance(value, str):
        return re.sub(r"\$(\d+)", lambda found: handles[int(found[1])], value)
    return value


async def _opened(
    stack: AsyncExitStack, world: Mapping[str, Any]
) -> tuple[dict[Any, object], dict[str, Any], list[str]]:
    """Open what a world has. Return its services, its tools, and the ids of its files."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    conversation = MemoryConversation()
    files = [
        conversation.attach(
            each, next(path for path in (HERE / "data" / each, _EVALS / each) if path.exists())
        )
        for each in world.get("files", ())
    ]
    conversation.messages = [_message(each, n) for n, each in enumerate(world.get("thread", ()))]
    tools = {each.name: each for each in catalogue().tools}
    services: dict[Any, object] = {Conversation: conversation}
    if "database" in world:
        build(folder / "shop.sqlite")
        config = DatabaseConfig(url=SecretStr(f"sqlite:///{folder / 'shop.sqlite'}"))
        services[Databases] = SqlDatabases({world["database"]: config})
    if "pages" in world:
        services[Fetcher] = await stack.enter_async_context(_site(world["pages"]))
    if "web" in world:
        services[WebSearch] = CaseWebSearch(world["web"])
    if "canvases" in world:
        services[Canvases] = CaseCanvases(world["canvases"])
    if "mcp" in world:
        tools |= await _served(stack, folder, world["mcp"])
    return with_memory(services), tools, [each.id for each in files]


def _message(given: Mapping[str, Any], number: int) -> ThreadMessage:
    at = given["at"].replace(tzinfo=UTC)
    ts = f"{at.timestamp() + number / 1000:.6f}"
    url = f"https://example.slack.com/archives/C0EVAL/p{ts.replace('.', '')}"
    return ThreadMessage(ts, at, given["author"], given["text"], url=url)


@dataclass(frozen=True, slots=True)
class _Site:
    """A fetcher of pages whose server is on this machine, whatever their host."""

    fetcher: WebFetcher
    port: int | None

    async def fetch(self, url: str) -> Page:
        return await self.fetcher.fetch(url.replace(".example", f".example:{self.port}", 1))


@asynccontextmanager
async def _site(pages: Mapping[str, str]) -> AsyncGenerator[_Site]:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=pages[request.path], content_type="text/html")

    async def resolve(_host: str, _port: int) -> list[str]:
        return ["127.0.0.1"]

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    async with TestServer(app) as server:
        fetcher = WebFetcher(allow=lambda _address, _port: True, resolver=resolve)
        yield _Site(fetcher, server.port)


async def _served(stack: AsyncExitStack, folder: Path, returned: Any) -> dict[str, Any]:
    """Start an MCP server with these tools. Return the bot's tools for them."""
    file = folder / "returned.json"
    file.write_text(json.dumps(returned, ensure_ascii=False), "utf-8")
    _, stores = await stack.enter_async_context(
        redis_and_stores(Settings(redis_url=None), data_dir=None)
    )
    server = McpServer(
        command=sys.executable,
        args=("-m", "tests.evidence.mcp_server", str(file)),
        env={"PYTHONPATH": str(HERE.parents[1])},
    )
    servers = await stack.enter_async_context(open_mcp_servers({"crm": server}, stores.mcp))
    await servers.live_statuses()
    return {each.name: each for each in await servers.tools()}


async def _main(names: list[str]) -> None:
    worlds = yaml.safe_load((HERE / "worlds.yaml").read_text("utf-8"))
    OUTPUTS.mkdir(exist_ok=True)
    for name in names or [each for each in worlds if not (OUTPUTS / f"{each}.json").exists()]:
        entries = await made(name, worlds[name])
        text = json.dumps(entries, ensure_ascii=False, indent=1)
        (OUTPUTS / f"{name}.json").write_text(f"{text}\n", "utf-8")
        print(name, len(entries))


if __name__ == "__main__":
    asyncio.run(_main(sys.argv[1:]))
