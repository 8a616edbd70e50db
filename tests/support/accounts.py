"""Personal accounts on a real Redis, with their pages over HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from cryptography.fernet import Fernet

from bot.core.context import RequestContext, bound_request
from bot.features.accounts.account import AccountChange, AccountOwner, Whom
from bot.features.accounts.accounts import Accounts, Admins
from bot.features.accounts.connections import AccountServers
from bot.features.accounts.pages import AccountPages
from bot.features.accounts.service import AccountService
from bot.mcp import McpServer, McpServers, open_mcp_servers
from bot.settings import Settings
from bot.store import Stores
from bot.telemetry.health import http_server
from bot.toolkit.tool import Tool
from tests.support.notes_server import Browser, Notes, code_of
from tests.support.ports import free_port
from tests.support.redis import asked

KEY = Fernet.generate_key().decode()
ANNA, BEN = AccountOwner("T1", "UANNA"), AccountOwner("T1", "UBEN")
WHOM = {
    ANNA: Whom("Anna Kim", "anna", "ACME"),
    BEN: Whom("Ben Okafor", "ben", "ACME"),
}


@dataclass
class Connecting:
    """A bot at which people connect accounts; `told` are the changes that it was told of."""

    settings: Settings
    accounts: Accounts
    notes: Notes
    port: int
    told: list[AccountChange] = field(default_factory=list)

    async def link(self, owner: AccountOwner = ANNA, approval: str = "") -> str:
        return await self.accounts.connecting.ticket(
            owner, "notes", WHOM[owner], approval=approval, seconds=600
        )

    async def connect(self, owner: AccountOwner = ANNA, approval: str = "") -> None:
        """Connect an account, all the way to the finish code typed in Slack."""
        self.notes.signed_in = {ANNA: "anna", BEN: "ben"}.get(owner, "anna")
        page = await Browser().connect(await self.link(owner, approval))
        result = await self.accounts.connecting.confirm(owner, "notes", code_of(page))
        assert result.accepted
        await self.accounts.outbox.settled()


def settings_of(notes: Notes, port: int, **options: Any) -> Settings:
    server = McpServer.model_validate(
        {"url": notes.mcp, "account": "person", "timeout": 10, **options}
    )
    return Settings(
        mcpServers={"notes": server},
        bot_encryption_keys=KEY,
        bot_public_url=f"http://127.0.0.1:{port}",
        openai_api_key="none",
    )


@asynccontextmanager
async def connecting(
    stores: Stores,
    notes: Notes,
    *,
    admins: Collection[AccountOwner] = (ANNA, BEN),
    public_url: str = "",
    **options: Any,
) -> AsyncGenerator[Connecting]:
    """A bot with one personal server, whose pages are served on loopback, also as if behind a proxy."""
    port = free_port()
    settings = settings_of(notes, port, **options)
    if public_url:
        settings = settings.model_copy(update={"bot_public_url": public_url})

    async def is_admin(person: AccountOwner) -> bool:
        return person in admins

    accounts = service_of(settings).accounts(stores, Admins(is_admin, may_pin=True))
    place = Connecting(settings, accounts, notes, port)

    async def tell(change: AccountChange) -> None:
        place.told.append(change)

    accounts.outbox.on_change = tell
    pages = AccountPages()
    async with http_server(pages.routes, port=port, host="127.0.0.1"):
        with pages.served_by(accounts):
            yield place
    await accounts.close()


def service_of(settings: Settings) -> AccountService:
    """The feature's service with these settings."""
    keys = settings.bot_encryption_keys
    public_url = settings.bot_public_url
    servers = settings.account_servers
    return AccountService(servers, keys.get_secret_value() if keys else None, public_url)


def servers_of(place: Connecting, stores: Stores) -> tuple[McpServers, AccountServers]:
    """The servers of a process, and the personal ones among them."""
    servers = place.settings.mcp_servers
    personal = AccountServers(servers, stores.mcp, place.accounts)
    return McpServers(servers, stores.mcp, personal=personal), personal


@asynccontextmanager
async def listing(place: Connecting, stores: Stores) -> AsyncGenerator[McpServers]:
    """The servers of a worker; connections list their tools, as in the intake."""

    async def note(change: AccountChange) -> None:
        place.told.append(change)

    servers, accounts = place.settings.mcp_servers, place.accounts
    async with (
        service_of(place.settings).telling_changes(stores, accounts, note),
        open_mcp_servers(
            servers, stores.mcp, AccountServers(servers, stores.mcp, accounts)
        ) as opened,
    ):
        yield opened


@contextmanager
def acting(owner: AccountOwner) -> Generator[None]:
    """The body runs in a request of this person."""
    request = asked(user=owner.user).model_copy(update={"team": owner.team})
    with bound_request(RequestContext(request=request, run_id="run_1")):
        yield


async def run(tool: Tool, **arguments: Any) -> str:
    """Call a tool, as a run does."""
    services: dict[type, object] = dict.fromkeys(tool.services.values())
    return (await tool.run(tool.arguments.model_validate(arguments), services)).content
