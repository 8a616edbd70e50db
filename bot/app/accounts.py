"""Personal accounts at MCP servers, built from the settings."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from bot.core.background import alongside
from bot.core.errors import ToolError
from bot.features.accounts.account import AccountChange, OnAccountChange, Outcome
from bot.features.accounts.oauth.addresses import PublicAddress
from bot.features.accounts.store import AccountStore
from bot.mcp import McpServers, Pins
from bot.settings import Settings, secret
from bot.settings.checks import check_accounts
from bot.store import Stores
from bot.store.processes import Keyring
from bot.store.sealed import SealedBox, box_of
from bot.text.redaction import redact_setting

if TYPE_CHECKING:
    from bot.features.accounts.accounts import Accounts, MayPin
    from bot.features.accounts.connections import AccountServers

log = logging.getLogger(__name__)

_LIST_SECONDS = 20.0  # for the tools of a server to be listed; the owner waits for the answer


def encryption_box(settings: Settings, why: str, keyring: Keyring | None = None) -> SealedBox:
    """Return the box of BOT_ENCRYPTION_KEYS; `keyring` says which of them is in use.

    Raises ConfigurationError; `why` says what it is for.
    """
    keys = secret(settings.bot_encryption_keys, "BOT_ENCRYPTION_KEYS", why)
    return box_of([key.strip() for key in keys.split(",")], keyring)


def account_store(settings: Settings, stores: Stores) -> AccountStore:
    """Return the store of accounts. Raises ConfigurationError for missing or wrong keys."""
    box = encryption_box(settings, "it encrypts the tokens of people's accounts", stores.keyring)
    return AccountStore(stores.redis, settings.retention, box)


def open_accounts(
    settings: Settings, stores: Stores, may_pin: MayPin | None = None
) -> Accounts | None:
    """Return the accounts of people; None when no MCP server has `account = "person"`.

    `may_pin` says whose listing of tools may be pinned; without it, only the operator accepts tools.

    Raises ConfigurationError when a setting is missing or wrong.
    """
    if not settings.personal_servers:
        return None
    check_accounts(settings)
    for server in settings.personal_servers.values():
        if server.oauth.client_secret:
            redact_setting(server.oauth.client_secret.get_secret_value(), "client_secret")
    from bot.features.accounts.accounts import Accounts, nobody_pins  # loads the SDK: half a second

    return Accounts(
        settings.personal_servers,
        account_store(settings, stores),
        stores.mcp,
        PublicAddress(settings.bot_public_url or ""),
        may_pin or nobody_pins,
    )


def personal_servers(
    settings: Settings, pins: Pins, accounts: Accounts | None = None
) -> AccountServers | None:
    """Return the servers at which people have accounts, None without any; without `accounts` they
    can only be looked at."""
    if not settings.personal_servers:
        return None
    from bot.features.accounts.connections import AccountServers  # loads the SDK: half a second

    return AccountServers(settings.personal_servers, pins, accounts)


@asynccontextmanager
async def telling_changes(
    settings: Settings, stores: Stores, accounts: Accounts, on_change: OnAccountChange
) -> AsyncGenerator[None]:
    """Tell `on_change` of each change of an account while the body runs, and try to revoke again what
    could not be revoked.

    The tools of a server are listed before somebody is told that it is connected: the first admin
    who connects makes them known.
    """
    from bot.features.accounts.connections import AccountServers  # loads the SDK: half a second

    personal = AccountServers(settings.personal_servers, stores.mcp, accounts)
    servers = McpServers(settings.personal_servers, stores.mcp, personal=personal)

    async def tell(change: AccountChange) -> None:
        if change.outcome is Outcome.CONNECTED and change.server in accounts.servers:
            try:
                async with asyncio.timeout(_LIST_SECONDS):
                    await personal.list_as(change.owner, change.server)
            except (ToolError, TimeoutError) as error:
                log.warning("The tools of %s are not listed yet: %s", change.server, error)
        await on_change(change)

    accounts.outbox.on_change = tell
    try:
        async with (
            alongside(accounts.outbox.run(), name="account changes"),
            alongside(accounts.revocations.run(stores.audit.append), name="revocations"),
            alongside(servers.close_idle(), name="idle account connections"),
        ):
            yield
    finally:
        await accounts.outbox.stop()
        await servers.close()
