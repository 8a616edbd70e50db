"""Connections to a server at which each person has an account: one for each person."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.features.accounts.account import AccountOwner, AccountState
from bot.features.accounts.accounts import Accounts
from bot.features.accounts.oauth.auth import PersonAuth, problems
from bot.features.accounts.problems import label_of, problem
from bot.mcp.config import McpServer
from bot.mcp.connection import Connection, OnUnreachable
from bot.mcp.pins import ToolFacts
from bot.mcp.refusals import Refused

log = logging.getLogger(__name__)

_IDLE_SECONDS = 600.0
_MOST = 200  # connections of one process, to all servers
_SWEEP_SECONDS = 60.0


OnPersonListed = Callable[[AccountOwner, Sequence[ToolFacts]], Awaitable[Sequence[str]]]
"""Called with the tools that a server lists on a person's account. Returns the names of those that
are accepted."""


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
            await self._make_room(key[0])
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
        await asyncio.gather(*(each.connection.close() for each in entries))

    async def _make_room(self, server: str) -> None:
        while len(self._entries) >= _MOST:
            unused = next((key for key, each in self._entries.items() if not each.users), None)
            if unused is None:
                log.warning("All %d personal MCP connections are in use", _MOST)
                raise problem(server, AccountState.BUSY)
            await self._drop(unused)

    async def _drop(self, key: tuple[str, AccountOwner]) -> None:
        """Forget a connection, and close it unless it is in use; then its last user closes it."""
        entry = self._entries.pop(key, None)
        if entry and not entry.users:
            await entry.connection.close()


class PersonalConnections:
    """The connections to one server, one for each person who has connected an account there."""

    def __init__(
        self,
        name: str,
        server: McpServer,
        accounts: Accounts,
        pool: PersonalPool,
        on_listed: OnPersonListed,
        on_unreachable: OnUnreachable,
    ) -> None:
        self.name = name
        self.account = name
        self._server = server
        self._accounts = accounts
        self._pool = pool
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
                    f"{label_of(self.name)} does not let the asker do this. Nothing was done."
                ) from None
            if found.state is AccountState.NEEDS_MORE:
                await self._accounts.calls.want(owner, self.name, found.wanted, tool)
            raise found from None
        finally:
            problems.reset(left)

    def _connection(self, owner: AccountOwner) -> Connection:
        auth = PersonAuth(self._accounts.calls, owner, self.name)
        on_listed = partial(self._on_listed, owner)
        return Connection(self.name, self._server, on_listed, self._note_unreachable, auth=auth)

    async def _note_unreachable(self, why: str) -> None:
        """Record that the server cannot be reached, unless it only refuses one person."""
        if not problems.get([]):
            await self._on_unreachable(why)

    async def close(self) -> None:
        """Do nothing: the pool closes the connections."""
