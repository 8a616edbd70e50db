"""Connections to a server at which each person has an account: one for each person."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial

import httpx2
from mcp.client.auth import utils as oauth
from typing_extensions import override

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.features.accounts.account import (
    ADMINS_MEND,
    OWN,
    AccountOwner,
    AccountProblem,
    AccountState,
    ConnectError,
    ConnectFailure,
    EndReason,
    problem,
)
from bot.features.accounts.accounts import Accounts
from bot.features.accounts.oauth.access import AccountAccess
from bot.features.accounts.oauth.discovery import IssuerPins, bounded_scopes, discover
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.oauth.own import OwnAccounts
from bot.features.accounts.records import IssuerPin
from bot.mcp.config import McpServer, label_of
from bot.mcp.connection import Connection
from bot.mcp.doors import (
    Connect,
    IssuerStatus,
    OnPersonListed,
    OnUnreachable,
    OwnTool,
    SignedIn,
)
from bot.mcp.pins import Pins, ToolFacts
from bot.mcp.tools import tool_name
from bot.mcp.transports import Refused, statuses

log = logging.getLogger(__name__)

_IDLE_SECONDS = 600.0
_MOST = 200  # connections of one process, to all servers
_SWEEP_SECONDS = 60.0
problems: ContextVar[list[AccountProblem]] = ContextVar("account_problems")
"""Collects why requests had no usable account; the SDK sends each in the context of its caller."""


class AccountAuth(httpx2.Auth):
    """Adds the token of one account, and refreshes it when the server refuses it.

    It never raises: the SDK would end the whole connection, and the caller would be cancelled. It
    lets the server's refusal pass and leaves word in `problems`, and in `why` for operators.
    """

    requires_response_body = False

    def __init__(
        self, access: AccountAccess | OwnAccounts, owner: AccountOwner, server: str
    ) -> None:
        self.why = ""
        self._access = access
        self._owner = owner
        self._server = server

    @override
    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._token()
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if token and response.status_code == 401:
            fresh = await self._token(stale=token)
            if fresh is None:
                return
            request.headers["Authorization"] = f"Bearer {fresh}"
            statuses.get([]).clear()  # what counts is the answer to the request sent again
            response = yield request
            if response.status_code == 401:
                await self._reject(fresh)
        if response.status_code == 403:
            self._note_wish(response)

    async def _token(self, stale: str = "") -> str | None:
        """Return a token; None after leaving word why there is none."""
        try:
            access = await self._access.access(self._owner, self._server, stale=stale)
        except AccountProblem as found:
            self._leave(found)
        except Exception as error:  # noqa: BLE001 - nothing may end the connection
            log.warning("No token for MCP server %s: %s", self._server, type(error).__name__)
            self._leave(problem(self._owner, self._server, AccountState.BUSY))
        else:
            self.why = ""
            return access.token
        return None

    async def _reject(self, token: str) -> None:
        """Handle that the server refuses a token that was just refreshed."""
        self._leave(problem(self._owner, self._server, AccountState.ENDED))
        try:
            await self._access.end(self._owner, self._server, token, EndReason.REJECTED)
        except Exception as error:  # noqa: BLE001 - as above
            log.warning("MCP server %s: not noted that an account ended: %r", self._server, error)

    def _note_wish(self, response: httpx2.Response) -> None:
        if oauth.extract_field_from_www_auth(response, "error") == "insufficient_scope":
            wanted = bounded_scopes(oauth.extract_scope_from_www_auth(response) or "")
            self._leave(problem(self._owner, self._server, AccountState.NEEDS_MORE, wanted))

    def _leave(self, found: AccountProblem) -> None:
        self.why = found.cause
        if (collected := problems.get(None)) is not None:
            collected.append(found)


CONNECT_ACCOUNT = ToolFacts(
    name="connect_account",
    description=(
        "Connect the asker's account at this server, or check it and list the server's tools. Call it "
        "when the asker wants to connect, and when the tools for their question are not listed yet."
    ),
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    read_only=True,
    ours=True,
)


CHECK_ACCOUNT = ToolFacts(
    name="check_account",
    description=(
        "Check the account that this workspace has at this server, and list the server's tools. Call it "
        "when the tools for a question are not listed yet."
    ),
    input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    read_only=True,
    ours=True,
)


async def _listed(connection: Connection) -> str:
    """Connect with an account, and say which tools it has, for the model; "" while all are off."""
    await connection.refresh()
    names = [tool_name(connection.name, name) for name in connection.accepted]
    if names or not connection.listing.tools:
        return f"Connected. Tools to acquire: {', '.join(names) or 'none'}."
    return ""


async def _checked_for_all(connection: Connection) -> str:
    return await _listed(connection) or (
        "Connected. Its tools are off until the bot's operator has accepted them with "
        f"`bot mcp --accept {connection.name}`. Say so, and go on without it."
    )


async def _checked(connection: Connection) -> str:
    return await _listed(connection) or (
        "Connected. Its tools are off until they are accepted. Where the bot serves one workspace, an "
        "admin of it has to connect an account here too; else the bot's operator runs "
        f"`bot mcp --accept {connection.name}`. Tell the asker so, and go on without it."
    )


@dataclass(slots=True)
class _Entry:
    """A connection that belongs to one account, named by its id."""

    connection: Connection
    account: str
    users: int = 0
    used_at: float = field(default_factory=time.monotonic)


class PersonalPool:
    """All personal connections of a process. None is ever shared by two people or two accounts."""

    def __init__(self) -> None:
        self._entries: OrderedDict[tuple[str, AccountOwner], _Entry] = OrderedDict()

    @asynccontextmanager
    async def use(
        self, key: tuple[str, AccountOwner], account: str, make: Callable[[], Connection]
    ) -> AsyncGenerator[Connection]:
        """Yield the connection of a person to a server, made by `make` if there is none.

        It is replaced when the person has connected another account since. Raises AccountProblem
        when all connections are in use.
        """
        entry = self._entries.get(key)
        if entry and entry.account != account:
            await self._drop(key)
            entry = None
        if entry is None:
            await self._make_room(key)
            entry = self._entries.setdefault(key, _Entry(make(), account))
        self._entries.move_to_end(key)
        entry.users += 1
        try:
            yield entry.connection
        finally:
            entry.users -= 1
            entry.used_at = time.monotonic()
            if self._entries.get(key) is not entry and not entry.users:  # replaced meanwhile
                await entry.connection.close()

    async def close_idle(self) -> None:
        """Close connections that nobody has used for ten minutes, for ever."""
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            oldest = time.monotonic() - _IDLE_SECONDS
            for key, entry in list(self._entries.items()):
                if not entry.users and entry.used_at < oldest:
                    await self._drop(key)

    async def close(self) -> None:
        """Close all connections."""
        entries = list(self._entries.values())
        self._entries.clear()
        await asyncio.gather(*(entry.connection.close() for entry in entries))

    async def _make_room(self, wanted: tuple[str, AccountOwner]) -> None:
        while len(self._entries) >= _MOST:
            unused = next((key for key, entry in self._entries.items() if not entry.users), None)
            if unused is None:
                log.warning("All %d personal MCP connections are in use", _MOST)
                server, owner = wanted
                raise problem(owner, server, AccountState.BUSY)
            await self._drop(unused)

    async def _drop(self, key: tuple[str, AccountOwner]) -> None:
        """Forget a connection, and close it unless it is in use; then its last user closes it."""
        entry = self._entries.pop(key, None)
        if entry and not entry.users:
            await entry.connection.close()


class PersonalConnections:
    """The connections to one server, one for each person who has connected an account there."""

    own_tools: Mapping[str, OwnTool] = {CONNECT_ACCOUNT.name: OwnTool(CONNECT_ACCOUNT, _checked)}

    @property
    def account(self) -> str:
        """The server's name, as each person has an account of their own there."""
        return self.name

    def __init__(
        self,
        name: str,
        accounts: Accounts,
        pool: PersonalPool,
        connect: Connect,
        on_listed: OnPersonListed,
        on_unreachable: OnUnreachable,
    ) -> None:
        self.name = name
        self._accounts = accounts
        self._pool = pool
        self._connect = connect
        self._on_listed = on_listed
        self._on_unreachable = on_unreachable

    @asynccontextmanager
    async def for_asker(self, tool: str = "") -> AsyncGenerator[Connection]:
        """Yield the connection on the account of the person whose request is in progress.

        Raises AccountProblem when the account cannot be used, and when the server refuses it during
        the body. If it wants more rights, that is noted for `tool`.
        """
        async with self.of(AccountOwner.of(current_request().request), tool) as connection:
            yield connection

    @asynccontextmanager
    async def of(self, owner: AccountOwner, tool: str = "") -> AsyncGenerator[Connection]:
        """Do the same for the account of `owner`."""
        access = await self._accounts.calls.access(owner, self.name)
        left = problems.set([])
        try:
            async with self._pool.use(
                (self.name, owner), access.id, lambda: self._connection(owner)
            ) as connection:
                yield connection
        except Refused:
            found = next(iter(problems.get()), None)
            if found is None:
                raise ToolError(
                    f"{label_of(self.name)} does not let this account do that. Nothing was done."
                ) from None
            if found.state is AccountState.NEEDS_MORE:
                await self._accounts.calls.want(owner, self.name, found.wanted, tool)
            if owner.is_workspace and found.state in ADMINS_MEND:
                await self._accounts.ask_admins(owner, self.name)
            raise found from None
        finally:
            problems.reset(left)

    def _connection(self, owner: AccountOwner) -> Connection:
        auth = AccountAuth(self._accounts.calls, owner, self.name)
        return self._connect(partial(self._listed, owner), self._note_unreachable, auth=auth)

    async def _listed(self, owner: AccountOwner, listed: Sequence[ToolFacts]) -> Sequence[str]:
        return await self._on_listed(listed, await self._accounts.may_pin(owner))

    async def _note_unreachable(self, why: str) -> None:
        """Record that the server cannot be reached, unless it only refuses one person."""
        if not problems.get([]):
            await self._on_unreachable(why)


class WorkspaceConnections(PersonalConnections):
    """The connections to one server, one for each workspace, which everybody there shares."""

    own_tools: Mapping[str, OwnTool] = {
        CHECK_ACCOUNT.name: OwnTool(CHECK_ACCOUNT, _checked_for_all)
    }

    @property
    @override
    def account(self) -> str:
        """Nobody's own: who approves calls and reads their results is as with `headers`."""
        return ""

    @override
    @asynccontextmanager
    async def for_asker(self, tool: str = "") -> AsyncGenerator[Connection]:
        """Yield the connection of the workspace of the request in progress. Raises AccountProblem."""
        request = current_request().request
        owner = AccountOwner.workspace(request.team)
        if not self._accounts.may_use(self.name, request.user):
            raise problem(owner, self.name, AccountState.FORBIDDEN)
        async with self.of(owner, tool) as connection:
            yield connection


class AccountServers:
    """The servers with accounts, as `bot.mcp` reaches them. See `PersonalServers`.

    Without `accounts`, those that people connect to can only be looked at, and the bot keeps its own
    tokens in memory.
    """

    def __init__(
        self, servers: Mapping[str, McpServer], pins: Pins, accounts: Accounts | None = None
    ) -> None:
        self._servers = servers
        self._pins = IssuerPins(pins)
        self._accounts = accounts
        self._own = accounts.own if accounts else OwnAccounts(servers, None, self._pins, Guard.of)
        self._pool = PersonalPool()
        self._connections: dict[str, PersonalConnections] = {}

    def signed_in(self, name: str) -> SignedIn:
        """Return how the bot signs in to a server by itself."""
        auth = AccountAuth(self._own, OWN, name)
        return SignedIn(auth, lambda: auth.why)

    def connections(
        self, name: str, connect: Connect, on_listed: OnPersonListed, on_unreachable: OnUnreachable
    ) -> PersonalConnections | None:
        """Return the connections to a server, one for each person; None without accounts."""
        if self._accounts is None:
            return None
        is_shared = self._servers[name].is_of_workspace
        kind = WorkspaceConnections if is_shared else PersonalConnections
        self._connections[name] = kind(
            name, self._accounts, self._pool, connect, on_listed, on_unreachable
        )
        return self._connections[name]

    async def list_as(self, owner: AccountOwner, name: str) -> None:
        """Ask a server for its tools on the account of a person. Raises ToolError."""
        async with self._connections[name].of(owner) as connection:
            await connection.refresh()

    async def issuer(self, name: str) -> IssuerStatus:
        """Return who lets people in to a server, as far as is known."""
        return _status(await self._pins.load(name))

    async def issuer_error(self, name: str) -> str:
        """Ask a server who lets people in. Return why nobody can connect, "" if they can."""
        server = self._servers[name]
        try:
            found = await discover(server, Guard.of(server))
            await self._pins.check(name, found.endpoints)
        except ConnectError as error:
            return "" if error.why is ConnectFailure.CHANGED else f"nobody can connect: {error}"
        takes_us = server.oauth.client_id or found.takes_client_urls or found.endpoints.registration
        return "" if takes_us else "nobody can connect: it takes no new clients, so set client_id"

    async def accept_issuer(self, name: str) -> IssuerStatus:
        """Accept what a server said last of who lets people in. Return the status before."""
        return _status(await self._pins.accept(name))

    async def close_idle(self) -> None:
        """Close connections that people have not used for a while, for ever."""
        await self._pool.close_idle()

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()


def _status(pin: IssuerPin) -> IssuerStatus:
    if pin.offered is None:
        return IssuerStatus(pin.is_off)
    before = pin.accepted.model_dump() if pin.accepted else {}
    changes = [
        (name, before.get(name) or "unknown", now or "none")
        for name, now in pin.offered.model_dump(exclude={"version"}).items()
        if before.get(name) != now
    ]
    return IssuerStatus(pin.is_off, changes)
