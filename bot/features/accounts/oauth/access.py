"""Tokens for calls: one that works, refreshed by one process at a time."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass

from bot.core.errors import CorruptValue
from bot.core.failpoints import failpoint
from bot.features.accounts.account import (
    AccountOwner,
    AccountState,
    ConnectError,
    ConnectFailure,
    EndReason,
    Outcome,
    problem,
)
from bot.features.accounts.ending import Revocations
from bot.features.accounts.oauth.discovery import IssuerPins
from bot.features.accounts.oauth.guard import Guard, NoAnswer
from bot.features.accounts.oauth.tokens import GrantEnded, Tokens, refresh
from bot.features.accounts.records import AccountRecord, digest_of
from bot.features.accounts.store import AccountStore
from bot.mcp.config import McpServer
from bot.store.sealed import Stored
from bot.text.redaction import remember_secret

log = logging.getLogger(__name__)

_EARLY_SECONDS = 60.0  # before the end of a token, so that it lasts for the call
_EARLY_SHARE = 0.2  # of its lifetime, for short-lived tokens
WAIT_SECONDS = 0.1  # between two looks at what another process refreshes
PATIENCE = 25.0  # seconds in all, for another process to refresh
_MOST_SENDS = 2
"""How often a refresh token is sent that may be spent already, because no answer came."""


@dataclass(frozen=True, slots=True)
class Access:
    """A token for calls. `id` is that of the connection that the token belongs to."""

    token: str
    id: str


class AccountAccess:
    """Gives out access tokens of the accounts of people and workspaces.

    A refresh runs in a task of its own that is never cancelled: a Stop between an issuer's answer
    and the store would lose the new refresh token, and with it the account.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        storage: AccountStore,
        pins: IssuerPins,
        guard_of: Callable[[McpServer], Guard],
        revocations: Revocations,
    ) -> None:
        self.servers = servers
        self._storage = storage
        self._pins = pins
        self._guard_of = guard_of
        self._revocations = revocations
        self._refreshes: set[asyncio.Task[AccountRecord | None]] = set()

    async def access(self, owner: AccountOwner, server: str, *, stale: str = "") -> Access:
        """Return a token that works. `stale` is one that the server has just refused.

        Raises AccountProblem when the account cannot be used, and StoreUnavailable.
        """
        give_up = time.monotonic() + PATIENCE
        while True:
            record = (await self.usable(owner, server)).value
            if record.access == stale or is_due(record):
                # What a refresh brings is used, whatever the issuer says of its end: asking again at
                # once would go on for as long as the issuer's clock is wrong.
                refreshed = await self._in_own_task(self._refreshed(record, stale))
                if refreshed:
                    return access_of(refreshed)
            if record.access != stale and not is_over(record):
                return access_of(record)
            if time.monotonic() > give_up:
                raise problem(owner, server, AccountState.BUSY)
            await asyncio.sleep(WAIT_SECONDS)

    async def close(self) -> None:
        """Wait for refreshes under way, which are bounded by the guard's time limit."""
        if self._refreshes:
            await asyncio.wait(self._refreshes)

    async def _in_own_task(
        self, refreshing: Coroutine[None, None, AccountRecord | None]
    ) -> AccountRecord | None:
        task = asyncio.create_task(refreshing, name="refresh of an account")
        self._refreshes.add(task)
        task.add_done_callback(self._finished)
        return await asyncio.shield(task)

    def _finished(self, task: asyncio.Task[AccountRecord | None]) -> None:
        self._refreshes.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waited has it

    async def end(self, owner: AccountOwner, server: str, token: str, reason: EndReason) -> None:
        """Store that the server accepts an account no longer, if `token` is still its token."""
        stored = await self._storage.load(owner, server)
        if stored and stored.value.access == token:
            await self._end(stored, reason)

    async def want(self, owner: AccountOwner, server: str, scopes: str, tool: str) -> None:
        """Store that the server wants more `scopes` for a call of `tool`."""
        stored = await self._storage.load(owner, server)
        if stored and stored.value.state is not AccountState.ENDED:
            wanted = {"state": AccountState.NEEDS_MORE, "wanted": scopes, "wanted_by": tool}
            await self._storage.replace(stored, stored.value.model_copy(update=wanted))

    async def usable(self, owner: AccountOwner, server: str) -> Stored[AccountRecord]:
        """Return an account that calls can run on. Raises AccountProblem."""
        if not (owner.is_workspace or self.servers[server].is_for(owner.user)):
            raise problem(owner, server, AccountState.FORBIDDEN)
        pin = await self._pins.load(server)
        if pin.is_off:
            raise problem(owner, server, AccountState.CHANGED)
        try:
            stored = await self._storage.load(owner, server)
        except CorruptValue:
            log.exception("An account at %s cannot be used", server)
            raise problem(owner, server, AccountState.ENDED) from None
        if stored is None:
            raise problem(owner, server, AccountState.NONE)
        record = stored.value
        is_of_server = record.url == self.servers[server].url and pin.covers(record.endpoints)
        if record.state is AccountState.ENDED or not is_of_server:
            raise problem(owner, server, AccountState.ENDED)
        return stored

    async def _refreshed(self, seen: AccountRecord, stale: str) -> AccountRecord | None:
        """Refresh an account. Return it with a token that works, None if another process refreshes.

        Raises AccountProblem.
        """
        owner, server = seen.owner, seen.server
        async with self._storage.refreshing(owner, server) as may_refresh:
            if not may_refresh:
                return None
            stored = await self.usable(owner, server)  # again, inside the lock
            record = stored.value
            if record.access != seen.access:
                return record  # another process has refreshed it meanwhile
            still_works = record.access != stale and not is_over(record)
            if not record.refresh and not still_works:
                await self._end(stored, EndReason.NO_REFRESH)
                raise problem(owner, server, AccountState.ENDED)
            if not record.refresh:
                return record
            try:
                return await self._refresh(stored)
            except ConnectError as error:
                log.warning("The token of an account at %s was not refreshed: %s", server, error)
                if still_works:
                    return record
                raise problem(owner, server, AccountState.BUSY) from None

    async def _refresh(self, stored: Stored[AccountRecord]) -> AccountRecord:
        """Send the refresh token, and store what comes back.

        A request without an answer may have spent the token, so it is counted before it is sent.
        """
        before, owner, server = stored.value, stored.value.owner, stored.value.server
        digest = digest_of(before.refresh)
        sends = before.sends if before.sent == digest else 0
        if sends >= _MOST_SENDS:
            await self._end(stored, EndReason.UNANSWERED)
            raise problem(owner, server, AccountState.ENDED)
        stored = await self._update(stored, sent=digest, sends=sends + 1)
        failpoint("account-refreshing")
        try:
            tokens = await refresh(stored.value, self._guard_of(self.servers[server]))
        except GrantEnded as ended:
            log.info("An account at %s has ended: %s", server, ended.error)
            if ended.error == "invalid_client":
                await self._storage.forget_client(before.client.issuer)
            await self._end(stored, EndReason.REFUSED)
            raise problem(owner, server, AccountState.ENDED) from None
        except ConnectError as error:
            # An answer, or a request that was never sent, spends no token. But some servers answer
            # with another error where they should say invalid_grant, again and again.
            is_spent = isinstance(error, NoAnswer) and error.sent
            if not is_spent and error.why is ConnectFailure.UNREACHABLE:
                await self._update(stored, sent=digest, sends=sends)
            raise
        failpoint("account-refreshed")
        return await self._keep(stored, tokens)

    async def _keep(self, stored: Stored[AccountRecord], tokens: Tokens) -> AccountRecord:
        """Store what a refresh brought. Other changes of the account meanwhile stay.

        Raises AccountProblem when it was ended, replaced or removed meanwhile. Whoever removed it
        could not revoke the new tokens, so that is done here.
        """
        spent = stored.value
        while True:
            after = stored.value.model_copy(update=refreshed_fields(stored.value, tokens))
            if await self._storage.replace(stored, after):
                return after
            again = await self._storage.load(spent.owner, spent.server)
            if again is None:
                await self._revocations.revoke(after)
                raise problem(spent.owner, spent.server, AccountState.NONE)
            if (again.value.id, again.value.refresh) != (spent.id, spent.refresh):
                raise problem(spent.owner, spent.server, AccountState.BUSY)
            stored = again

    async def _update(
        self, stored: Stored[AccountRecord], **fields: object
    ) -> Stored[AccountRecord]:
        """Store changed fields. Raises AccountProblem when the account was replaced or removed."""
        after = stored.value.model_copy(update=fields)
        if not await self._storage.replace(stored, after):
            raise problem(after.owner, after.server, AccountState.BUSY)
        again = await self._storage.load(after.owner, after.server)
        if again is None or again.value != after:
            raise problem(after.owner, after.server, AccountState.BUSY)
        return again

    async def _end(self, stored: Stored[AccountRecord], reason: EndReason) -> None:
        record = stored.value
        log.warning("An account at %s has ended: %s", record.server, reason)
        ended = {"state": AccountState.ENDED, "reason": reason, "access": "", "refresh": ""}
        if await self._storage.replace(stored, record.model_copy(update=ended)):
            await self._storage.note(record.change(Outcome.ENDED))


def access_of(record: AccountRecord) -> Access:
    """Return the token of an account. It is a secret from now on."""
    for secret in (record.access, record.refresh):
        remember_secret(secret)
    return Access(record.access, record.id)


def is_due(record: AccountRecord) -> bool:
    """Return whether to refresh a token: a little early, and not in all workers at once."""
    early = min(_EARLY_SECONDS, record.lifetime * _EARLY_SHARE) * random.uniform(1.0, 1.5)  # noqa: S311
    return bool(record.expires_at) and time.time() > record.expires_at - early


def is_over(record: AccountRecord) -> bool:
    """Return whether a token has ended."""
    return bool(record.expires_at) and time.time() >= record.expires_at


def refreshed_fields(before: AccountRecord, tokens: Tokens) -> dict[str, object]:
    """Return what new tokens change in a record: what they do not name stays as it was."""
    lifetime = tokens.expires_in or 0.0
    return {
        "access": tokens.access_token,
        "refresh": tokens.refresh_token or before.refresh,
        "expires_at": time.time() + lifetime if lifetime else 0.0,
        "lifetime": lifetime,
        "scope": tokens.scopes or before.scope,
        "sent": "",
        "sends": 0,
    }
