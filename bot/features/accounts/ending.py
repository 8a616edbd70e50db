"""Ending accounts: a person disconnects one, leaves, or is erased; a workspace removes the bot."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import CorruptValue
from bot.features.accounts.account import (
    AccountChange,
    AccountOwner,
    OnAccountChange,
    Outcome,
    Revoked,
)
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.oauth.tokens import revoke
from bot.features.accounts.records import AccountRecord, Revocation
from bot.features.accounts.store import AccountStore
from bot.mcp.config import McpServer

log = logging.getLogger(__name__)

_STOP_SECONDS = 10.0  # for changes that are being told when the process ends
_FOR_SECONDS = 86_400.0
_FIRST_PAUSE, _LONGEST_PAUSE = 60.0, 3_600.0  # seconds between attempts; each is twice as long
_LOOK_SECONDS = 60.0

Record = Callable[[Sequence[AuditEntry]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Revocations:
    """Has issuers revoke the tokens of removed accounts."""

    servers: Mapping[str, McpServer]
    storage: AccountStore
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
        who = "" if AccountOwner(team, user).is_workspace else user
        is_revoked = result is Revoked.NOW
        if not is_revoked:
            log.warning("Tokens of a removed account at %s were not revoked: gave up", server)
        if user:
            what = f"{'revoked' if is_revoked else 'not revoked'} {server}"
            entry = AuditEntry(kind=AuditKind.ACCOUNT, team=team, who=who, what=what, ok=is_revoked)
            await record([entry])
        await self.storage.revocations.forget(name)

    async def _send(self, revocation: Revocation) -> Revoked:
        server = self.servers.get(revocation.server)
        if server is None:  # no longer configured: nobody may be asked
            return Revoked.NEVER
        return await revoke(revocation, self.guard_of(server))


class ChangeOutbox:
    """Tells `on_change` of each change, in a process that sets it; the others leave that to it."""

    def __init__(self, storage: AccountStore) -> None:
        self.on_change: OnAccountChange | None = None
        self._storage = storage
        self._telling: set[asyncio.Task[None]] = set()

    async def untold(self) -> list[AccountChange]:
        """Return the changes that nobody was told of yet, oldest first."""
        return await self._storage.changes()

    def tell_soon(self, change: AccountChange) -> None:
        """Tell a change in a task of its own, so that no browser or Slack request waits for it."""
        task = asyncio.create_task(self._tell(change), name="change of an account")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def run(self) -> None:
        """Tell changes that no process has told, for ever: those of workers, and after crashes."""
        while True:
            try:
                for change in await self.untold():
                    await self._tell(change)
            except Exception:
                log.exception("Changes of accounts are told later")
            await asyncio.sleep(_LOOK_SECONDS)

    async def settled(self) -> None:
        """Wait until the changes that this process has made are told."""
        if self._telling:
            await asyncio.wait(self._telling)

    async def stop(self) -> None:
        """Tell no more changes; what takes long is cut off, and told again by another process."""
        self.on_change = None
        tasks = set(self._telling)
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tell(self, change: AccountChange) -> None:
        """Tell a change, if this process does that. When it fails, it is told again later."""
        if self.on_change is None:
            return
        try:
            async with self._storage.telling(change) as may_tell:
                if may_tell:
                    await self.on_change(change)
                    await self._storage.told(change)
        except Exception:
            log.exception("A change of an account at %s is told later", change.server)


@dataclass(frozen=True, slots=True)
class Ending:
    """Deletes accounts, and has the servers revoke their tokens where they can."""

    storage: AccountStore
    revocations: Revocations
    outbox: ChangeOutbox

    async def disconnect(
        self, owner: AccountOwner, server: str, *, id: str = "", by: str = ""
    ) -> Revoked:
        """Delete an account. Return whether the server has revoked its tokens.

        With `id`, do so only if that is still the current connection. `by` is the admin who disconnects
        that of the workspace.
        """
        unconfirmed = await self.storage.unconfirmed(owner, server)
        if unconfirmed and id in ("", unconfirmed.id):
            revocation = await self.revocations.store(unconfirmed, named=False)
            await self.storage.forget_unconfirmed(owner, server)
            await self.revocations.attempt(revocation)
        try:
            stored = await self.storage.load(owner, server)
        except CorruptValue:
            await self.storage.discard(owner, server)
            return Revoked.NEVER
        if stored is None or id not in ("", stored.value.id):
            return Revoked.NEVER
        change = stored.value.change(Outcome.DISCONNECTED).model_copy(update={"by": by})
        revocation = await self.revocations.store(stored.value, named=True)
        if not await self.storage.remove(stored, change):  # just refreshed or replaced
            return await self.disconnect(owner, server, id=stored.value.id, by=by)
        self.outbox.tell_soon(change)
        return await self.revocations.attempt(revocation)

    async def erase(self, owner: AccountOwner, *, named: bool = False) -> int:
        """Delete everything about a person's accounts and revoke the tokens.

        Return how many accounts there were. With `named`, the audit log says whose tokens were not
        revoked at once.
        """
        removed = await self.storage.remove_all(owner, partial(self.revocations.of, named=named))
        await asyncio.gather(*(self.revocations.attempt(revocation) for revocation in removed))
        return len(removed)

    async def erase_team(self, team: str) -> int:
        """Do the same for everybody of a workspace, and leave the revoking to `Revocations.run`."""
        revocation_of = partial(self.revocations.of, named=False, soon=True)
        owners = await self.storage.owners(team)
        return sum([len(await self.storage.remove_all(owner, revocation_of)) for owner in owners])
