"""Accounts at MCP servers, as the rest of the bot uses them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from bot.core.errors import CorruptValue
from bot.features.accounts.account import (
    AccountChange,
    AccountOwner,
    AccountProblem,
    AccountState,
    AccountView,
    AdminState,
    Outcome,
)
from bot.features.accounts.ending import ChangeOutbox, Ending, Revocations
from bot.features.accounts.oauth.access import AccountAccess
from bot.features.accounts.oauth.addresses import PublicAddress
from bot.features.accounts.oauth.clients import Clients, client_document
from bot.features.accounts.oauth.connecting import Connecting
from bot.features.accounts.oauth.discovery import IssuerPins
from bot.features.accounts.oauth.flow import ConnectFlow
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.oauth.own import OwnAccounts
from bot.features.accounts.records import AccountRecord
from bot.features.accounts.store import AccountStore
from bot.mcp.config import McpServer, label_of
from bot.mcp.pins import Pins


async def _nobody(_person: AccountOwner) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Admins:
    """Who is an admin: `is_admin` asks Slack each time. With `may_pin`, the tools that a server lists on the
    account of one are pinned for everybody; else only the operator accepts tools."""

    is_admin: Callable[[AccountOwner], Awaitable[bool]] = _nobody
    may_pin: bool = False


class Accounts:
    """The accounts of people and workspaces at the servers with accounts.

    People connect them with `connecting` and end them with `ending`; `calls` has tokens for calls,
    `outbox` tells of each change, and `revocations` has tokens of removed accounts revoked. The first listing of a server on the account of an admin, or on
    that of the workspace, may be what everybody gets.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        storage: AccountStore,
        pins: Pins,
        address: PublicAddress,
        admins: Admins = Admins(),
        guard_of: Callable[[McpServer], Guard] = Guard.of,
    ) -> None:
        self.is_admin = admins.is_admin
        self._may_pin = admins.may_pin
        self.address = address
        self._servers = dict(servers)
        self._storage = storage
        issuers = IssuerPins(pins)
        self.revocations = Revocations(self._servers, storage, guard_of)
        self.outbox = ChangeOutbox(storage)
        self.calls = AccountAccess(self._servers, storage, issuers, guard_of, self.revocations)
        self.own = OwnAccounts(self._servers, storage, issuers, guard_of)
        clients = Clients(storage, address)
        self.connecting = Connecting(
            ConnectFlow(
                self._servers,
                storage,
                issuers,
                clients,
                guard_of,
                self.revocations,
                admins.is_admin,
            ),
            self.outbox,
        )
        self.ending = Ending(storage, self.revocations, self.outbox)

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers, in the order of bot.toml."""
        return tuple(self._servers)

    @property
    def takes_pasted(self) -> bool:
        """Whether people may paste the address that their browser could not open."""
        return self.address.is_loopback

    def is_personal(self, server: str) -> bool:
        """Return whether each person has an account of their own at this server."""
        return server in self._servers and self._servers[server].is_personal

    def is_of_workspace(self, server: str) -> bool:
        """Return whether the workspace has one account at this server, which an admin connects."""
        return server in self._servers and self._servers[server].is_of_workspace

    async def may_pin(self, owner: AccountOwner) -> bool:
        """Return whether the tools listed on an account may be pinned: admins connect the workspace's."""
        return self._may_pin and (owner.is_workspace or await self.is_admin(owner))

    def label(self, server: str) -> str:
        """Return the name of a server for people."""
        return label_of(server)

    def may_use(self, server: str, user: str) -> bool:
        """Return whether the settings let a person use the server."""
        return self._servers[server].is_for(user)

    def client_document(self) -> dict[str, Any] | None:
        """Return the bot's description of itself for issuers; None without a public address."""
        return client_document(self.address) if self.address.client_url else None

    async def view(self, owner: AccountOwner, server: str) -> AccountView:
        """Return the state of a person's account."""
        host = urlsplit(self._servers[server].url or "").netloc
        view = AccountView(server, label_of(server), host)
        try:
            record = (await self.calls.usable(owner, server)).value
        except AccountProblem as problem:
            if problem.state is AccountState.NONE:
                waits = await self._storage.unconfirmed(owner, server)
                state = AccountState.UNCONFIRMED if waits else AccountState.NONE
                return replace(view, state=state)
            stored = await self._load(owner, server)
            view = _of_record(view, stored) if stored else view
            return replace(view, state=problem.state)
        return _of_record(view, record)

    async def views(self, owner: AccountOwner) -> tuple[AccountView, ...]:
        """Return the state of a person's accounts at all servers that they may use."""
        names = [
            name
            for name in self._servers
            if self.is_personal(name) and self.may_use(name, owner.user)
        ]
        return tuple([await self.view(owner, name) for name in names])

    async def workspace_views(self, team: str) -> tuple[AccountView, ...]:
        """Return the state of a workspace's accounts at all servers with one."""
        owner = AccountOwner.workspace(team)
        names = [name for name in self._servers if self.is_of_workspace(name)]
        return tuple([await self.view(owner, name) for name in names])

    async def ask_admins(self, owner: AccountOwner, server: str) -> None:
        """Have the admins of a workspace told that a run lacked its account."""
        view = await self.view(owner, server)
        change = AccountChange(
            team=owner.team,
            user=owner.user,
            server=server,
            label=view.label,
            outcome=Outcome.WANTED,
            id=view.id,
            at=time.time(),
        )
        if not await self.was_asked(owner.team, view):
            await self._storage.note(change)
            self.outbox.tell_soon(change)

    async def was_asked(self, team: str, view: AccountView) -> bool:
        """Return whether admins were asked already for what the workspace's account lacks."""
        return await self._storage.was_asked(team, view.server, asked_for(view))

    async def note_asked(self, team: str, view: AccountView) -> None:
        """Note that admins were asked."""
        await self._storage.note_asked(team, view.server, asked_for(view))

    async def note_admin(self, team: str, server: str, id: str, state: AdminState) -> None:
        """Store whether who connected a workspace's account is still an admin."""
        stored = await self._storage.load(AccountOwner.workspace(team), server)
        if stored and stored.value.id == id and stored.value.admin is not state:
            changed = stored.value.model_copy(update={"admin": state})
            await self._storage.replace(stored, changed)

    async def close(self) -> None:
        """Wait for refreshes under way, and tell no more changes."""
        await self.calls.close()
        await self.outbox.stop()

    async def _load(self, owner: AccountOwner, server: str) -> AccountRecord | None:
        try:
            stored = await self._storage.load(owner, server)
        except CorruptValue:
            return None
        return stored.value if stored else None


def asked_for(view: AccountView) -> str:
    """Return what admins are asked for, once: a connection, or more rights for the one that there is."""
    return f"{view.id or 'none'}/{view.state}"


def _of_record(view: AccountView, record: AccountRecord) -> AccountView:
    return replace(
        view,
        state=record.state,
        scope=record.scope,
        wanted=record.wanted,
        wanted_by=record.wanted_by,
        reason=record.reason,
        name=record.name,
        id=record.id,
        connected_at=record.connected_at,
        by=record.by,
        admin=record.admin,
    )
