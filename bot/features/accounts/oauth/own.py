"""Tokens of the bot's own accounts: it signs in by itself, with client credentials (RFC 6749, 4.4)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager

from bot.core.errors import CorruptValue
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.features.accounts.account import (
    OWN,
    AccountOwner,
    AccountProblem,
    AccountState,
    ConnectError,
    ConnectFailure,
    EndReason,
    own_problem,
)
from bot.features.accounts.oauth.access import (
    PATIENCE,
    WAIT_SECONDS,
    Access,
    access_of,
    is_due,
    is_over,
    refreshed_fields,
)
from bot.features.accounts.oauth.clients import configured_client
from bot.features.accounts.oauth.discovery import IssuerPins, discover
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.oauth.tokens import GrantEnded, sign_in
from bot.features.accounts.records import AccountRecord
from bot.features.accounts.store import REFRESH_SECONDS, AccountStore
from bot.mcp.config import McpServer

log = logging.getLogger(__name__)

_SIGN_IN_SECONDS = REFRESH_SECONDS - 5.0  # so that it ends before the lock does
_PAUSE_SECONDS = 10.0  # in which a refusal is not asked for again

_STATES = {
    ConnectFailure.CHANGED: AccountState.CHANGED,
    ConnectFailure.UNREACHABLE: AccountState.BUSY,
}


class OwnAccounts:
    """Gives out access tokens of the bot's own accounts. A token serves all processes and workspaces, as
    the operator's settings are one for all of them.

    A token is replaced before it ends, by one process at a time. Nothing is lost with one that was not
    stored: the next call signs in again. Without `storage` tokens stay in memory.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        storage: AccountStore | None,
        pins: IssuerPins,
        guard_of: Callable[[McpServer], Guard],
    ) -> None:
        self._servers = servers
        self._storage = storage
        self._pins = pins
        self._guard_of = guard_of
        self._in_memory: dict[str, AccountRecord] = {}
        self._failed: dict[str, tuple[float, AccountProblem]] = {}

    async def access(self, _owner: AccountOwner, server: str, *, stale: str = "") -> Access:
        """Return a token that works. `stale` is one that the server has just refused.

        Raises AccountProblem when the bot cannot sign in, and StoreUnavailable.
        """
        give_up = time.monotonic() + PATIENCE
        while True:
            record = await self._usable(server, stale)
            if record and not is_due(record):
                return access_of(record)
            async with self._signing_in(server) as may_sign_in:
                if may_sign_in:
                    return access_of(await self._signed_in(server, stale))
            if record:  # another process signs in, and this token works until then
                return access_of(record)
            if time.monotonic() > give_up:
                raise own_problem(server, AccountState.BUSY)
            await asyncio.sleep(WAIT_SECONDS)

    async def end(self, _owner: AccountOwner, server: str, _token: str, _reason: EndReason) -> None:
        """Note that the server refuses a new token. The next call signs in again, after a pause."""
        self._note(server, own_problem(server, AccountState.ENDED, "it refuses a new token"))

    async def _usable(self, server: str, stale: str) -> AccountRecord | None:
        """Return the account if its token is of these settings, and neither over nor `stale`.

        Raises AccountProblem while the server names another issuer than it did.
        """
        pin = await self._pins.load(server)
        if pin.is_off:
            raise own_problem(server, AccountState.CHANGED)
        record, settings = await self._load(server), self._servers[server]
        if record is None or record.access == stale or is_over(record):
            return None
        now = (settings.url, settings.oauth.client_id, " ".join(settings.oauth.scopes))
        is_of_settings = now == (record.url, record.client.id, record.wanted)
        return record if is_of_settings and pin.covers(record.endpoints) else None

    async def _signed_in(self, server: str, stale: str) -> AccountRecord:
        """Sign in, unless another process has done so meanwhile. Raises AccountProblem."""
        record = await self._usable(server, stale)
        if record and not is_due(record):
            return record
        failed_at, failure = self._failed.get(server, (0.0, None))
        if failure and time.monotonic() < failed_at + _PAUSE_SECONDS:
            if record:
                return record
            raise failure
        try:
            async with asyncio.timeout(_SIGN_IN_SECONDS):
                fresh = await self._sign_in(server)
        except (ConnectError, GrantEnded, TimeoutError) as error:
            why = str(error)
            log.warning("The bot did not sign in to MCP server %s: %s", server, why or "no answer")
            state = AccountState.ENDED
            if isinstance(error, TimeoutError):
                state = AccountState.BUSY
            elif isinstance(error, ConnectError):
                state = _STATES.get(error.why, AccountState.ENDED)
            problem = own_problem(server, state, why)
            self._note(server, problem)
            if record:
                return record
            raise problem from None
        self._failed.pop(server, None)
        return fresh

    async def _sign_in(self, server: str) -> AccountRecord:
        settings = self._servers[server]
        guard = self._guard_of(settings)
        found = await discover(settings, guard)
        await self._pins.check(server, found.endpoints)
        client = configured_client(settings, found)
        tokens = await sign_in(found.endpoints, client, found.scope, guard)
        failpoint("account-signed-in")
        record = AccountRecord(
            team=OWN.team,
            user=OWN.user,
            server=server,
            id=new_id("acct"),
            url=settings.url or "",
            endpoints=found.endpoints,
            client=client.model_copy(update={"secret": ""}),  # the settings have it
            access="",
            scope=found.scope,
            wanted=" ".join(settings.oauth.scopes),
            connected_at=time.time(),
        )
        record = record.model_copy(update={**refreshed_fields(record, tokens), "refresh": ""})
        if self._storage:
            await self._storage.save(record)
        else:
            self._in_memory[server] = record
        return record

    def _note(self, server: str, problem: AccountProblem) -> None:
        self._failed[server] = (time.monotonic(), problem)

    async def _load(self, server: str) -> AccountRecord | None:
        if self._storage is None:
            return self._in_memory.get(server)
        try:
            stored = await self._storage.load(OWN, server)
        except CorruptValue as error:  # the bot signs in again
            log.warning("The bot's token at MCP server %s cannot be opened: %s", server, error)
            return None
        return stored.value if stored else None

    @asynccontextmanager
    async def _signing_in(self, server: str) -> AsyncGenerator[bool]:
        """Lock the account while the body signs in. Yield whether this process may."""
        if self._storage is None:
            yield True
            return
        async with self._storage.refreshing(OWN, server) as may_sign_in:
            yield may_sign_in
