"""Personal accounts at a protected server on `fastmcp`: two people, a refresh and a revocation."""

from __future__ import annotations

import asyncio
import socket
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from bot.core.context import RequestContext, bound_request
from bot.features.accounts.account import AccountOwner, AccountProblem
from bot.store import open_stores
from bot.store.embedded import embedded_redis
from bot.toolkit.tool import Tool
from tests.support.accounts import ANNA, BEN, connecting, servers_of
from tests.support.notes_server import Browser, Notes, code_of
from tests.support.ports import free_port
from tests.support.redis import asked

SERVER = Path(__file__).with_name("fastmcp_protected.py")
_START_SECONDS = 60.0


async def tried_accounts(python: Path) -> dict[str, str]:
    """Return what was found, by what was expected; the two are equal where all is well."""
    async with (
        embedded_redis(None) as url,
        open_stores(url) as stores,
        _started(python) as notes,
        connecting(stores, notes) as place,
    ):
        servers, personal = servers_of(place, stores)
        browser = Browser()
        for owner, name in ((ANNA, "anna"), (BEN, "ben")):
            await browser.open(f"{notes.url}/signed_in/{name}")
            page = await Browser().connect(await place.link(owner))
            await place.accounts.connecting.confirm(owner, "notes", code_of(page))
        await personal.list_as(ANNA, "notes")
        [tool] = [each for each in await servers.tools() if each.name == "notes__read_notes"]
        found = {
            "the notes of anna": await _read(tool, ANNA),
            "the notes of ben": await _read(tool, BEN),
        }
        await browser.open(f"{notes.url}/expire")
        found["refreshed: the notes of anna"] = f"refreshed: {await _read(tool, ANNA)}"
        found["revoked now"] = f"revoked {await place.accounts.ending.disconnect(ANNA, 'notes')}"
        found["none"] = await _read(tool, ANNA)
        await servers.close()
        return found


async def _read(tool: Tool, owner: AccountOwner) -> str:
    request = asked(user=owner.user).model_copy(update={"team": owner.team})
    with bound_request(RequestContext(request=request, run_id="run_1")):
        try:
            given = tool.arguments.model_validate({})
            return (await tool.run(given, dict.fromkeys(tool.services.values()))).content
        except AccountProblem as problem:
            return problem.state


@asynccontextmanager
async def _started(python: Path) -> AsyncGenerator[Notes]:
    port = free_port()
    process = subprocess.Popen([str(python), str(SERVER), str(port)])  # noqa: ASYNC220 - at once
    try:
        async with asyncio.timeout(_START_SECONDS):
            while not _listens(port):  # noqa: ASYNC110 - it is another process
                await asyncio.sleep(0.1)
        yield Notes(url=f"http://127.0.0.1:{port}")
    finally:
        process.terminate()
        process.wait()


def _listens(port: int) -> bool:
    with closing(socket.socket()) as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
