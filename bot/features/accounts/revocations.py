"""Revoking tokens at their server: at once, and again for a day when it does not answer.

The tokens are stored before their account is removed, so that a crash loses none, and deleted when
they are revoked, when the server refuses, or after that day.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import CorruptValue
from bot.features.accounts.account import Revoked
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.oauth.tokens import revoke
from bot.features.accounts.records import AccountRecord, Revocation
from bot.features.accounts.storage import AccountStorage
from bot.mcp.config import McpServer

log = logging.getLogger(__name__)

_FOR_SECONDS = 86_400.0
_FIRST_PAUSE, _LONGEST_PAUSE = 60.0, 3_600.0  # seconds between attempts; each is twice as long
_LOOK_SECONDS = 60.0

Record = Callable[[Sequence[AuditEntry]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Revocations:
    """Has issuers revoke the tokens of removed accounts."""

    servers: Mapping[str, McpServer]
    storage: AccountStorage
    guard_of: Callable[[McpServer], Guard]

    def of(self, record: AccountRecord, *, named: bool, soon: bool = False) -> Revocation | None:
        """Return what has to be revoked when an account is removed; None if nobody can do that.

        A `named` one is put on record for its owner, if it is not revoked at once. With `soon`, the
        first attempt is left to `run`.
        """
        if not record.endpoints.revocation or not (record.access or record.refresh):
            return None
        now = time.time()
        return Revocation(
            team=record.team if named else "",
            user=record.user if named else "",
            server=record.server,
            id=record.id,
            endpoints=record.endpoints,
            client=record.client,
            access=record.access,
            refresh=record.refresh,
            until=now + _FOR_SECONDS,
            next_at=now if soon else now + _FIRST_PAUSE,
        )

    async def store(self, record: AccountRecord, *, named: bool) -> Revocation | None:
        """Store what has to be revoked of an account, before it is removed. Arguments as for `of`."""
        if revocation := self.of(record, named=named):
            await self.storage.revocations.save(revocation)
        return revocation

    async def revoke(self, record: AccountRecord) -> None:
        """Have the tokens of a record revoked that is not stored, or not any more."""
        await self.attempt(await self.store(record, named=False))

    async def attempt(self, revocation: Revocation | None) -> Revoked:
        """Try a stored revocation once. It stays stored when it is to be tried again."""
        if revocation is None:
            return Revoked.NEVER
        result = await self._send(revocation)
        if result is not Revoked.LATER:
            await self.storage.revocations.forget(revocation.name)
        return result

    async def nameless(self) -> int:
        """Return how many revocations of erased people are to be tried again."""
        return sum(name.startswith("::") for name in await self.storage.revocations.names())

    async def run(self, record: Record) -> None:
        """Try stored revocations again, for ever, and put on record how each ended."""
        while True:
            try:
                await self.try_again(record)
            except Exception:
                log.exception("Tokens of removed accounts are revoked later")
            await asyncio.sleep(_LOOK_SECONDS)

    async def try_again(self, record: Record) -> None:
        """Try the revocations that are due, each issuer that does not answer only once."""
        silent: set[str] = set()
        for name in await self.storage.revocations.names():
            async with self.storage.revocations.trying(name) as may_try:
                if may_try:
                    await self._try_one(name, record, silent)

    async def _try_one(self, name: str, record: Record, silent: set[str]) -> None:
        try:
            revocation = await self.storage.revocations.load(name)
        except CorruptValue as error:  # the configured keys may be the wrong ones
            log.warning("Tokens of a removed account cannot be opened: %s", error)
            return
        if revocation is None:
            if name in await self.storage.revocations.names():  # nobody has tried it in time
                await self._end(name, record, Revoked.NEVER)
            return  # else it has ended meanwhile
        issuer = revocation.endpoints.issuer
        if time.time() < revocation.next_at or issuer in silent:
            return
        result = await self._send(revocation)
        pause = min(_FIRST_PAUSE * 2**revocation.tries, _LONGEST_PAUSE)
        next_at = time.time() + pause
        if result is Revoked.LATER and next_at < revocation.until:
            silent.add(issuer)
            update = {"tries": revocation.tries + 1, "next_at": next_at}
            await self.storage.revocations.change(revocation.model_copy(update=update))
        else:
            await self._end(name, record, result)

    async def _end(self, name: str, record: Record, result: Revoked) -> None:
        """Put on record how a revocation ended, then delete it."""
        team, user, _, server = name.split(":", 3)
        is_revoked = result is Revoked.NOW
        if not is_revoked:
            log.warning("Tokens of a removed account at %s were not revoked: gave up", server)
        if user:
            what = f"{'revoked' if is_revoked else 'not revoked'} {server}"
            entry = AuditEntry(
                kind=AuditKind.ACCOUNT, team=team, who=user, what=what, ok=is_revoked
            )
            await record([entry])
        await self.storage.revocations.forget(name)

    async def _send(self, revocation: Revocation) -> Revoked:
        server = self.servers.get(revocation.server)
        if server is None:  # no longer configured: nobody may be asked
            return Revoked.NEVER
        return await revoke(revocation, self.guard_of(server))
