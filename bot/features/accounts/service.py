"""Personal accounts in one process: built from the settings, kept by the stores, ended with the data."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from prometheus_client import Counter
from typing_extensions import override

from bot.core.background import alongside
from bot.core.check import Check, ok, problem, warning
from bot.core.errors import ConfigurationError, SlackUnavailable, StoreError, ToolError
from bot.features import IntakeDeps, OperatorPart, ProcessDeps
from bot.features.accounts.account import (
    AccountChange,
    AccountOwner,
    AccountState,
    AdminState,
    OnAccountChange,
    Outcome,
)
from bot.features.accounts.oauth.addresses import PublicAddress
from bot.features.accounts.pages import AccountPages
from bot.features.accounts.records import AccountRecord
from bot.features.accounts.slack.listeners import AccountListeners
from bot.features.accounts.slack.people import PeopleAccounts
from bot.features.accounts.slack.sign_in import SlackSignIn
from bot.features.accounts.store import AccountStore
from bot.mcp import McpServer, McpServers, Pins
from bot.mcp.doors import McpDoors
from bot.runs.policy.access import Policy
from bot.slack.edge.workspaces import OneWorkspace, Slack, Workspaces
from bot.slack.intake.access_gate import may_administer
from bot.store import Stores
from bot.store.sealed import box_of
from bot.text.counting import counted
from bot.text.redaction import redact_setting

if TYPE_CHECKING:  # these load the SDK: half a second
    from bot.features.accounts.accounts import Accounts, Admins

log = logging.getLogger(__name__)

_LIST_SECONDS = 20.0  # for the tools of a server to be listed; the owner waits for the answer


class AccountService(OperatorPart):
    """The accounts of people at the `servers` with `account = "person"`.

    `keys` encrypt their tokens, and browsers come back to `public_url`; both are None if they are
    not set. The accounts of a Redis are opened when they are first used.
    """

    sealed = "accounts"

    def __init__(
        self, servers: Mapping[str, McpServer], keys: str | None, public_url: str | None
    ) -> None:
        self.servers = servers
        self.pages = AccountPages()
        self._keys = keys
        self._public_url = public_url
        self._opened: tuple[Stores, Accounts] | None = None
        self.changes = Counter(
            "bot_account_changes",
            "Changes of accounts at MCP servers, of a person or the workspace.",
            ["account", "outcome"],
            registry=None,
        )
        self.metrics = (self.changes,)

    @override
    def check(self) -> None:
        """Raise ConfigurationError when people cannot connect their accounts to a server."""
        for name, server in self.servers.items():
            key = f'mcpServers.{name}: account = "{server.account}"'
            if self._keys is None:
                raise ConfigurationError(
                    f"{key} needs BOT_ENCRYPTION_KEYS, which encrypts the tokens: "
                    "`bot encryption-key` prints a key."
                )
            if self._public_url is None and server.is_connected:
                raise ConfigurationError(
                    f"{key} needs BOT_PUBLIC_URL, to which browsers come back: https://…, or "
                    "http://127.0.0.1:PORT while you try the bot on your machine."
                )

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        """Return the lines of `bot doctor`."""
        try:
            self.check()
        except ConfigurationError as error:
            text, _, fix = str(error).rpartition(": ")
            return [problem("Accounts", text, fix.removesuffix("."))]
        names = [name for name, server in self.servers.items() if server.is_of_workspace]
        if not names or stores is None:
            return []
        records = await self.store(stores).of_workspaces()
        return [
            check
            for name in names
            for check in _workspace_checks(name, [each for each in records if each.server == name])
        ]

    def store(self, stores: Stores) -> AccountStore:
        """Return the store of accounts. Raises ConfigurationError for missing or wrong keys."""
        self.check()
        keys = [key.strip() for key in (self._keys or "").split(",")]
        return AccountStore(stores.redis, stores.retention, box_of(keys, stores.keyring))

    def accounts(self, stores: Stores, admins: Admins | None = None) -> Accounts:
        """Return the accounts that `stores` keep, always the same for the same stores.

        Without `admins` nobody is one: only the operator accepts tools. Raises ConfigurationError.
        """
        if self._opened and self._opened[0] is stores:
            return self._opened[1]
        from bot.features.accounts.accounts import Accounts, Admins

        for server in self.servers.values():
            if server.oauth.client_secret:
                redact_setting(server.oauth.client_secret.get_secret_value(), "client_secret")
        address = PublicAddress(self._public_url or "")
        accounts = Accounts(
            self.servers, self.store(stores), stores.mcp, address, admins or Admins()
        )
        self._opened = (stores, accounts)
        return accounts

    def people(self, stores: Stores, slack: Slack) -> PeopleAccounts:
        """Return the accounts of the people of one workspace."""
        owners, record = self.store(stores).owners, stores.audit.append
        return PeopleAccounts(slack, self.accounts(stores), owners, record)

    def mcp_doors(self, pins: Pins, stores: Stores | None) -> McpDoors:
        """Return the servers as `bot.mcp` reaches them; without `stores` they are only looked at."""
        from bot.features.accounts.connections import AccountServers

        accounts = self.accounts(stores) if stores else None
        return {"personal": AccountServers(self.servers, pins, accounts)}

    @asynccontextmanager
    async def process(self, deps: ProcessDeps) -> AsyncGenerator[None]:
        """Keep the accounts of a process open."""
        accounts = self.accounts(deps.stores, admins_of(deps.workspaces, deps.policy))
        if deps.app and not accounts.takes_pasted:  # Slack sends browsers to https only
            app = deps.app
            page = app.page("openid/connect/authorize")
            accounts.connecting.sign_in = SlackSignIn(app.keys, app.client, page)
        try:
            yield
        finally:
            await accounts.close()

    @asynccontextmanager
    async def intake(self, deps: IntakeDeps) -> AsyncGenerator[None]:
        """Serve the pages on which people connect, and tell them of changes of their accounts."""

        async def tell(change: AccountChange) -> None:
            log.info("An account at %s: %s", change.server, change.outcome)
            for part in await deps.parts_in(change.team):
                if isinstance(part, AccountListeners):
                    await part.tell(change)
            whose = "workspace" if change.owner.is_workspace else "person"
            self.changes.labels(whose, change.outcome).inc()

        accounts = self.accounts(deps.stores)
        with self.pages.served_by(accounts):
            async with self.telling_changes(deps.stores, accounts, tell):
                yield

    @asynccontextmanager
    async def telling_changes(
        self, stores: Stores, accounts: Accounts, on_change: OnAccountChange
    ) -> AsyncGenerator[None]:
        """Tell `on_change` of each change of an account while the body runs, and try to revoke again
        what could not be revoked.

        The tools of a server are listed before somebody is told that it is connected: the first
        admin who connects makes them known.
        """
        from bot.features.accounts.connections import AccountServers

        personal = AccountServers(self.servers, stores.mcp, accounts)
        servers = McpServers(self.servers, stores.mcp, personal=personal)

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

    @override
    async def reseal(self, stores: Stores) -> None:
        """Encrypt all accounts with the first key."""
        await self.store(stores).reseal()

    @override
    async def on_old_keys(self, stores: Stores) -> Sequence[str]:
        """Return the names of what is not encrypted with the first key."""
        return await self.store(stores).on_old_keys()

    @override
    async def end_person(self, stores: Stores, user: str) -> list[str]:
        """Delete and revoke the accounts of a person in all workspaces. Return what the operator is
        told.

        What is erased afterwards holds the tokens that are to be revoked.
        """
        accounts = self.accounts(stores)
        try:
            families = ("account", "account-pending", "account-tickets", "account-revocation")
            teams = await stores.erasure.teams_with(families, user)
            ended = sum([await accounts.ending.erase(AccountOwner(team, user)) for team in teams])
            later = await accounts.revocations.nameless()
            workspace = AccountOwner.workspace("").user
            teams = await stores.erasure.teams_with(("account",), workspace)
            stays = sum([await self.store(stores).forget_person(team, user) for team in teams])
        finally:
            await accounts.close()
        lines = []
        if ended:
            lines.append(
                f"Deleted the access to {counted(ended, 'account')} of theirs, and had the servers "
                "withdraw it where they can."
            )
        if stays:
            lines.append(
                f"! {counted(stays, 'account')} that they connected for the workspace: it serves everybody, so "
                "it stays, without their name. An admin can disconnect it in the Home tab."
            )
        if later:
            lines.append(
                f"! The servers of {counted(later, 'erased account')} do not answer, so the access "
                "there is not withdrawn yet. A running bot tries again for a day; run this again to "
                "check."
            )
        return lines

    @override
    async def end_workspace(self, stores: Stores, team: str) -> None:
        """Delete the accounts of everybody in a workspace, and its own; their tokens are revoked later."""
        await self.accounts(stores).ending.erase_team(team)


def _workspace_checks(name: str, records: Sequence[AccountRecord]) -> list[Check]:
    """Return the lines about the accounts of workspaces at one server."""
    subject, where = f"account at {name}", "in the bot's Home tab in Slack"
    if not records:
        return [warning(subject, "no admin has connected it yet", f"an admin does so {where}")]
    checks, works = list[Check](), list[AccountRecord]()
    for record in records:
        by = record.by or "somebody"
        if record.state is AccountState.ENDED:
            text = f"{record.team}: the server has ended the connection"
            checks.append(warning(subject, text, f"an admin connects it again {where}"))
            continue
        works.append(record)
        if record.admin is not AdminState.ADMIN:
            now = "has left" if record.admin is AdminState.LEFT else "is an admin no longer"
            text = f"{record.team}: {by}, who connected it, {now}; it goes on until it is ended"
            fix = f"connect it again with an account that stays, or disconnect it, {where}"
            checks.append(warning(subject, text, fix))
    if not checks:
        day = datetime.fromtimestamp(works[0].connected_at, UTC).date()
        one = f"connected by {works[0].by or 'somebody'} on {day}"
        checks.append(
            ok(subject, one if len(works) == 1 else f"connected in {len(works)} workspaces")
        )
    return checks


def admins_of(workspaces: Workspaces, policy: Policy) -> Admins:
    """Return who is an admin of which workspace.

    Pins hold for all workspaces, so with several of them only the operator pins.
    """
    from bot.features.accounts.accounts import Admins

    async def is_admin(person: AccountOwner) -> bool:
        try:
            slack = await workspaces.of(person.team)
        except (SlackUnavailable, StoreError):
            return False
        is_here = slack is not None and slack.identity.team == person.team
        return bool(slack and is_here and await may_administer(slack.people, policy, person.user))

    return Admins(is_admin, may_pin=isinstance(workspaces, OneWorkspace))
