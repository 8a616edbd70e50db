"""Servers at which the bot signs in by itself, with client credentials: one account for everybody."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from cryptography.fernet import Fernet

from bot.core.errors import ToolError
from bot.features.accounts.account import OWN
from bot.features.accounts.service import AccountService
from bot.mcp import McpServer, McpServers
from bot.mcp.doors import McpDoors
from bot.mcp.pins import ServerPins
from bot.ops.doctor.tools import examine_mcp
from bot.settings import Settings
from bot.store import Stores
from tests.support.accounts import ANNA, BEN, KEY, acting, run
from tests.support.notes_server import READ, Notes

ID, SECRET = "crm-bot", "s3cret-of-the-bot"


def server(notes: Notes, **oauth: object) -> McpServer:
    given = {"grant": "client_credentials", "client_id": ID, "client_secret": SECRET, **oauth}
    return McpServer.model_validate(
        {"url": notes.mcp, "account": "workspace", "timeout": 10, "oauth": given}
    )


@pytest.fixture
def crm(notes: Notes) -> Notes:
    """A server that knows the bot."""
    notes.machines, notes.notes[ID] = {ID: SECRET}, ["ACME owes 40"]
    return notes


@asynccontextmanager
async def servers(stores: Stores, notes: Notes, keys: str = KEY) -> AsyncGenerator[McpServers]:
    """The servers of one worker."""
    configured = {"notes": server(notes)}
    doors: McpDoors = AccountService(configured, keys, None).mcp_doors(stores.mcp, stores)
    opened = McpServers(configured, stores.mcp, **doors)
    try:
        yield opened
    finally:
        await opened.close()


async def read(worker: McpServers, who: object = ANNA) -> str:
    [tool] = [each for each in await worker.tools() if each.name == "notes__read_notes"]
    assert not tool.account  # nobody's own: approvals and readers are as with headers
    with acting(who):  # type: ignore[arg-type]
        return await run(tool)


async def token(stores: Stores) -> bytes:
    return bytes(
        await stores.redis.call("GET", stores.redis.key("account", OWN.team, OWN.user, "notes"))
    )


async def test_the_bot_signs_in_once_for_everybody(stores: Stores, crm: Notes) -> None:
    """No person and no page: the tools are known at the start, and what is read is everybody's. The
    token is sealed in Redis, and another worker uses it."""
    async with servers(stores, crm) as worker, servers(stores, crm) as other:
        await worker.discover()
        assert await read(worker) == await read(other, BEN) == "ACME owes 40"
    assert crm.asked["sign in"] == 1
    [given] = crm.access.values()
    assert (given.scopes, given.resource) == ([READ], crm.mcp)
    stored = await token(stores)
    assert given.token.encode() not in stored
    assert SECRET.encode() not in Fernet(KEY).decrypt(stored)


async def test_a_token_is_replaced_before_it_ends_and_when_it_is_refused(
    stores: Stores, crm: Notes
) -> None:
    """Withdrawn early, the call goes on with a new one; one that is about to end is not used."""
    async with servers(stores, crm) as worker:
        await worker.discover()
        crm.expire()
        assert await read(worker) == "ACME owes 40"
        assert crm.asked["sign in"] == 2
        crm.lifetime = 1
        crm.expire()
        await read(worker)
        await asyncio.sleep(0.9)
        assert await read(worker) == "ACME owes 40"
        assert crm.asked["sign in"] == 4


async def test_two_workers_sign_in_once(stores: Stores, crm: Notes) -> None:
    """One expired token, two workers at one time: one asks, both get the new one."""
    async with servers(stores, crm) as worker, servers(stores, crm) as other:
        await worker.discover()
        crm.slowly = 0.3
        crm.expire()
        one, two = await asyncio.gather(read(worker), read(other))
        assert one == two == "ACME owes 40"
    assert crm.asked["sign in"] == 2


async def test_a_kill_before_the_token_is_stored_loses_nothing(
    stores: Stores, crm: Notes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call signs in again."""

    class Killed(BaseException):
        pass

    def kill(name: str) -> None:
        if name == "account-signed-in":
            raise Killed

    async with servers(stores, crm) as worker:
        await worker.discover()
        crm.expire()
        monkeypatch.setattr("bot.features.accounts.oauth.own.failpoint", kill)
        own = AccountService({"notes": server(crm)}, KEY, None).accounts(stores).own
        with pytest.raises(Killed):
            await own.access(OWN, "notes", stale=await own_token(stores))
        monkeypatch.undo()
        assert await read(worker) == "ACME owes 40"


async def own_token(stores: Stores) -> str:
    return str(
        Fernet(KEY).decrypt(await token(stores)).decode().split('"access":"')[1].split('"')[0]
    )


async def test_a_refused_secret_is_named_and_not_asked_for_again_and_again(
    stores: Stores, crm: Notes, redis_url: str
) -> None:
    """The model hears that nothing was done, the operator why, and nobody the secret. Corrected, it goes
    on by itself."""
    async with servers(stores, crm) as worker:
        await worker.discover()
        crm.machines[ID] = "another"
        crm.expire()
        for _ in range(3):
            with pytest.raises(ToolError) as caught:
                await read(worker)
        assert "does not take the bot's client credentials" in str(caught.value)
        assert "invalid_client" in str(caught.value)
        assert SECRET not in str(caught.value)
        assert crm.asked["sign in"] == 2
    settings = Settings(
        mcpServers={"notes": server(crm)},
        bot_encryption_keys=KEY,
        redis_url=redis_url,
        openai_api_key="none",
    )
    [check] = await examine_mcp(settings)
    assert "does not take the bot's client credentials (invalid_client)" in check.text
    crm.machines[ID] = SECRET
    [check] = await examine_mcp(settings)
    assert check.text == "offers 3 tools"
    async with servers(stores, crm) as worker:
        assert await read(worker) == "ACME owes 40"


async def test_an_issuer_without_that_grant_or_with_other_endpoints_gets_no_secret(
    stores: Stores, crm: Notes
) -> None:
    """What it does not offer is not tried; an issuer that changes is off until an operator accepts it."""
    crm.edit = lambda document: document.update(grant_types_supported=["authorization_code"])
    async with servers(stores, crm) as worker:
        [status] = await worker.live_statuses()
        assert "does not offer client credentials" in status.error
        assert not crm.asked["sign in"]
    crm.edit = None
    async with servers(stores, crm) as worker:
        await worker.discover()
        crm.edit = lambda document: document.update(token_endpoint=f"{crm.url}/t2")
        crm.expire()
        with pytest.raises(ToolError, match="names another issuer than before"):
            await read(worker)
        [status] = await worker.live_statuses()
        assert status.issuer
        assert status.issuer.is_off
        assert not crm.asked["/t2"]


async def test_its_token_is_sealed_again_and_backed_up_with_the_rest(
    stores: Stores, crm: Notes
) -> None:
    """Keys rotate: what is on the old key is named, and sealed with the new one."""
    async with servers(stores, crm) as worker:
        await worker.discover()
    both = f"{Fernet.generate_key().decode()},{KEY}"
    service = AccountService({"notes": server(crm)}, both, None)
    assert await service.on_old_keys(stores) == ["account::bot:notes"]
    await service.reseal(stores)
    assert await service.on_old_keys(stores) == []
    async with servers(stores, crm, both.split(",")[0]) as worker:
        assert await read(worker) == "ACME owes 40"
    assert crm.asked["sign in"] == 1
    assert (await stores.mcp.load("notes", ServerPins) or ServerPins()).is_accepted
