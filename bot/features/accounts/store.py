"""Personal accounts at MCP servers, and the ways to connect one.

Everything with a secret is encrypted.

Links and states that browsers carry are stored under their digests, so that nobody who can read
Redis can use them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from pydantic import BaseModel

from bot.core.errors import CorruptValue
from bot.features.accounts.account import AccountChange, AccountOwner
from bot.features.accounts.records import (
    FLOW_SECONDS,
    AccountRecord,
    Flow,
    OAuthClient,
    Proof,
    Revocation,
    Ticket,
    digest_of,
)
from bot.store.connection import Connection, Retention
from bot.store.leases import locked
from bot.store.sealed import SealedBox, SealedValues, Stored
from bot.store.values import decode

log = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)

REFRESH_SECONDS = 30
"""How long one process may refresh a token: longer than a request to an issuer may take."""

_TELL_SECONDS = 60  # for one change to be told
_CONNECT_SECONDS = 10  # for a look at the account of a workspace, and the storing of another
_OLDEST_CHANGE = 86_400.0  # seconds; older changes are told no more


class AccountStore:
    """The store of personal accounts. Using an account renews its expiry."""

    def __init__(self, redis: Connection, retention: Retention, box: SealedBox) -> None:
        self._redis = redis
        self._seconds = retention.settings
        self._values = SealedValues(redis, box, self._seconds)
        self._changes = redis.key("account-changes")
        self.revocations = RevocationStore(redis, self._values, self._seconds)

    async def load(self, owner: AccountOwner, server: str) -> Stored[AccountRecord] | None:
        """Return the account of a person at a server, None without one.

        Raises CorruptValue when it cannot be opened, is of somebody else or is not confirmed.
        """
        found = await self._values.load(self._key("account", owner, server), AccountRecord)
        if found and (found.value.owner, found.value.server) != (owner, server):
            raise CorruptValue(f"The account kept for {owner} at {server} is somebody else's.")
        if found and found.value.code:  # copied from the unconfirmed ones
            raise CorruptValue(f"The account kept for {owner} at {server} was never confirmed.")
        return found

    async def replace(self, before: Stored[AccountRecord], after: AccountRecord) -> bool:
        """Store `after` if the account is still as `before`. Return whether it was."""
        key = self._key("account", before.value.owner, before.value.server)
        return await self._values.replace(key, before, after)

    async def save(self, record: AccountRecord) -> None:
        """Store an account of the bot's own, whatever was stored."""
        key = self._key("account", record.owner, record.server)
        await self._redis.call("SET", key, self._values.seal(record), "EX", self._seconds)

    async def connect(self, record: AccountRecord, change: AccountChange) -> None:
        """Store a confirmed account, with the change to tell, and use up its ticket."""
        owner, server = record.owner, record.server
        by = AccountOwner(owner.team, record.by or owner.user)
        sealed = self._values.seal(record)
        await self._redis.together(
            ("SET", self._key("account", owner, server), sealed, "EX", self._seconds),
            ("DEL", self._key("account-pending", by, server)),
            ("DEL", self._redis.key("account-ticket", record.ticket)),
            ("DEL", self._asked(owner.team, server)),
            *self._noting(change),
        )

    @asynccontextmanager
    async def connecting(self, team: str, server: str) -> AsyncGenerator[bool]:
        """Lock the account of a workspace while the body connects it. Yield whether that may be done:
        of two admins at once, one does."""
        name = ("lock", "account-connect", team, server)
        async with locked(self._redis, *name, seconds=_CONNECT_SECONDS) as lock:
            yield lock is not None

    async def was_asked(self, team: str, server: str, what: str) -> bool:
        """Return whether admins were last asked for `what` of the account of a workspace."""
        return bool(await self._redis.call("GET", self._asked(team, server)) == what.encode())

    async def note_asked(self, team: str, server: str, what: str) -> None:
        """Note that admins were asked, until the account is connected."""
        key = self._asked(team, server)
        await self._redis.call("SET", key, what, "EX", self._seconds)

    async def forget_person(self, team: str, user: str) -> int:
        """Make nameless what a person connected for the workspace. Return how many accounts there are."""
        count = 0
        async for name in self._values.names("account", f"{AccountOwner.workspace(team).name}:"):
            key = self._redis.key("account", name)
            while (stored := await self._load_readable(key)) and stored.value.by == user:
                nameless = stored.value.model_copy(update={"by": "", "name": ""})
                if await self._values.replace(key, stored, nameless):
                    count += 1
        return count

    async def _load_readable(self, key: str) -> Stored[AccountRecord] | None:
        try:
            return await self._values.load(key, AccountRecord)
        except CorruptValue as error:
            log.warning("An account cannot be opened: %s", error)
            return None

    async def of_workspaces(self) -> list[AccountRecord]:
        """Return the accounts of all workspaces that can be opened, and change nothing."""
        found = []
        async for name in self._values.names("account"):
            team, user, _server = name.split(":", 2)
            stored = await self._redis.call("GET", self._redis.key("account", name))
            if stored and AccountOwner(team, user).is_workspace:
                with suppress(CorruptValue):
                    found.append(self._values.open(stored, AccountRecord))
        return found

    async def save_unconfirmed(self, record: AccountRecord, change: AccountChange) -> None:
        """Store an account that waits for its finish code, with the change to tell."""
        key = self._key("account-pending", record.owner, record.server)
        await self._redis.together(
            ("SET", key, self._values.seal(record), "EX", FLOW_SECONDS), *self._noting(change)
        )

    async def unconfirmed(self, owner: AccountOwner, server: str) -> AccountRecord | None:
        """Return the account that waits for its finish code; None also when it cannot be opened."""
        stored = await self._redis.call("GET", self._key("account-pending", owner, server))
        try:
            record = self._values.open(stored, AccountRecord) if stored else None
        except CorruptValue as error:
            log.warning("An account that waits for its code cannot be opened: %s", error)
            return None
        is_own = record and (record.owner, record.server) == (owner, server)
        return record if is_own else None

    async def count_try(self, record: AccountRecord) -> int:
        """Count an attempt to confirm `record`. Return how many there were, this one included."""
        key = self._key("account-tries", record.owner, f"{record.server}:{record.id}")
        tries, _ = await self._redis.together(("INCR", key), ("EXPIRE", key, FLOW_SECONDS))
        return int(tries)

    async def forget_unconfirmed(self, owner: AccountOwner, server: str) -> None:
        """Delete the account that waits for its finish code."""
        await self._redis.call("DEL", self._key("account-pending", owner, server))

    async def remove(self, before: Stored[AccountRecord], change: AccountChange) -> bool:
        """Delete the account if it is still as `before`. Return whether it was."""
        owner, server = before.value.owner, before.value.server
        if not await self._values.remove(self._key("account", owner, server), before):
            return False
        await self.note(change)
        return True

    async def discard(self, owner: AccountOwner, server: str) -> None:
        """Delete the account, whatever is stored."""
        await self._redis.call("DEL", self._key("account", owner, server))

    async def remove_all(
        self, owner: AccountOwner, revocation_of: Callable[[AccountRecord], Revocation | None]
    ) -> list[Revocation | None]:
        """Delete everything about a person's accounts. Return what has to be revoked of each.

        That is stored in the same transaction; revocations from before do not name the person any
        more.
        """
        removed, keys = list[Revocation | None](), [self._tickets(owner)]
        for family in ("account", "account-pending"):
            async for name in self._values.names(family, f"{owner.team}:{owner.user}:"):
                keys.append(key := self._redis.key(family, name))
                stored = await self._redis.call("GET", key)
                try:
                    record = self._values.open(stored, AccountRecord) if stored else None
                except CorruptValue as error:
                    log.warning("Deleted an account that could not be opened: %s", error)
                    continue
                removed += [revocation_of(record)] if record else []
        tries = self._values.names("account-tries", f"{owner.team}:{owner.user}:")
        keys += [self._redis.key("account-tries", name) async for name in tries]
        digests = await self._redis.call("SMEMBERS", self._tickets(owner))
        keys += [self._redis.key("account-ticket", digest.decode()) for digest in digests]
        told = [
            change.key
            for change in await self.changes()
            if owner in (change.owner, AccountOwner(change.team, change.by))
        ]
        forgetting = [("HDEL", self._changes, *told)] if told else []
        await self._redis.together(
            *await self.revocations.making_nameless(owner),
            *(
                command
                for revocation in removed
                if revocation
                for command in self.revocations.saving(revocation)
            ),
            ("DEL", *keys),
            *forgetting,
        )
        return removed

    async def owners(self, team: str) -> list[AccountOwner]:
        """Return the people of a workspace who have or had an account, or tried to connect one."""
        found = {
            AccountOwner(team, name.split(":")[1])
            for family in ("account", "account-pending", "account-tickets", "account-revocation")
            async for name in self._values.names(family, f"{team}:")
        }
        return sorted(found, key=lambda each: each.user)

    @asynccontextmanager
    async def refreshing(self, owner: AccountOwner, server: str) -> AsyncGenerator[bool]:
        """Lock the account while the body refreshes its token. Yield whether this process may."""
        name = ("lock", "account", owner.team, owner.user, server)
        async with locked(self._redis, *name, seconds=REFRESH_SECONDS) as lock:
            yield lock is not None

    # The ways to connect an account.

    async def save_ticket(self, token: str, ticket: Ticket, seconds: int) -> None:
        """Store the ticket of a link for `seconds`."""
        digest, index = digest_of(token), self._tickets(ticket.owner)
        key = self._redis.key("account-ticket", digest)
        await self._redis.together(
            ("SET", key, self._values.seal(ticket), "EX", seconds),
            ("SADD", index, digest),
            ("EXPIRE", index, max(seconds, self._seconds)),
        )

    async def ticket(self, token: str) -> Ticket | None:
        """Return the ticket of a link, None when it is unknown, old or used up."""
        stored = await self._redis.call("GET", self._redis.key("account-ticket", digest_of(token)))
        return self._values.open(stored, Ticket) if stored else None

    async def has_ticket(self, digest: str) -> bool:
        """Return whether a ticket is still stored, by the digest that its flow has."""
        return bool(await self._redis.call("EXISTS", self._redis.key("account-ticket", digest)))

    async def forget_ticket(self, digest: str) -> None:
        """Delete a ticket, by the digest that its flow has."""
        await self._redis.call("DEL", self._redis.key("account-ticket", digest))

    async def count_press(self, token: str, ticket: Ticket) -> None:
        """Note that somebody went on from the page of a ticket once more."""
        pressed = ticket.model_copy(update={"presses": ticket.presses + 1})
        key = self._redis.key("account-ticket", digest_of(token))
        await self._redis.call("SET", key, self._values.seal(pressed), "XX", "KEEPTTL")

    async def save_flow(self, state: str, flow: Flow | Proof) -> None:
        """Store a browser's way under its OAuth `state`."""
        key = self._redis.key(_family(type(flow)), digest_of(state))
        await self._redis.call("SET", key, self._values.seal(flow), "EX", FLOW_SECONDS)

    async def take_flow(self, state: str, kind: type[M]) -> M | None:
        """Return what is stored under `state` and delete it: each state is used once."""
        stored = await self._redis.call("GETDEL", self._redis.key(_family(kind), digest_of(state)))
        return self._values.open(stored, kind) if stored else None

    async def client(self, issuer: str) -> OAuthClient | None:
        """Return the bot as it registered itself with an issuer."""
        found = await self._values.load(self._redis.key("account-client", issuer), OAuthClient)
        return found.value if found and found.value.issuer == issuer else None

    async def save_client(self, client: OAuthClient) -> None:
        """Store the bot as it registered itself with an issuer."""
        key = self._redis.key("account-client", client.issuer)
        await self._redis.call("SET", key, self._values.seal(client), "EX", self._seconds)

    async def forget_client(self, issuer: str) -> None:
        """Delete a registration, so that the next connection registers again."""
        await self._redis.call("DEL", self._redis.key("account-client", issuer))

    # Changes that must be told.

    async def note(self, change: AccountChange) -> None:
        """Store a change until it has been told."""
        await self._redis.together(*self._noting(change))

    async def changes(self) -> list[AccountChange]:
        """Return the changes that have not been told yet, oldest first; forget very old ones."""
        found = []
        for name, raw in (await self._redis.call("HGETALL", self._changes)).items():
            try:
                found.append(decode(AccountChange, raw))
            except CorruptValue:
                log.exception("A change of an account cannot be read: %s", name.decode())
                await self._redis.call("HDEL", self._changes, name)
        old = [change for change in found if change.at < time.time() - _OLDEST_CHANGE]
        for change in old:
            await self.told(change)
        return sorted((change for change in found if change not in old), key=lambda each: each.at)

    @asynccontextmanager
    async def telling(self, change: AccountChange) -> AsyncGenerator[bool]:
        """Lock a change while the body tells it. Yield whether this process may."""
        name = ("lock", "account-change", change.key)
        async with locked(self._redis, *name, seconds=_TELL_SECONDS) as lock:
            is_there = lock and await self._redis.call("HEXISTS", self._changes, change.key)
            yield bool(is_there)

    async def told(self, change: AccountChange) -> None:
        """Forget a change that has been told."""
        await self._redis.call("HDEL", self._changes, change.key)

    # Keys of encryption.

    async def on_old_keys(self) -> list[str]:
        """Return the names of what is not encrypted with the first key."""
        return [
            f"{family}:{name}"
            for family in ("account", "account-client")
            for name in await self._values.on_old_keys(family)
        ] + [f"account-revocation:{name}" for name in await self.revocations.on_old_keys()]

    async def reseal(self) -> None:
        """Encrypt all accounts with the first key, so that the other keys can be retired."""
        kinds: dict[str, type[BaseModel]] = {
            "account": AccountRecord,
            "account-client": OAuthClient,
        }
        for family, kind in kinds.items():
            for name in await self._values.on_old_keys(family):
                try:
                    await self._values.load(self._redis.key(family, name), kind)
                except CorruptValue as error:
                    log.warning("%s:%s cannot be opened: %s", family, name, error)
        await self.revocations.reseal()

    def _noting(self, change: AccountChange) -> Sequence[tuple[Any, ...]]:
        noted = ("HSET", self._changes, change.key, change.model_dump_json())
        return noted, ("EXPIRE", self._changes, self._seconds)

    def _asked(self, team: str, server: str) -> str:
        return self._redis.key("account-asked", team, server)

    def _tickets(self, owner: AccountOwner) -> str:
        return self._redis.key("account-tickets", owner.team, owner.user)

    def _key(self, family: str, owner: AccountOwner, server: str) -> str:
        return self._redis.key(family, owner.team, owner.user, server)


def _family(kind: type[BaseModel]) -> str:
    return "account-flow" if kind is Flow else "account-proof"


_TRY_SECONDS = 120  # for one attempt: two tokens, each in up to two requests of ten seconds


class RevocationStore:
    """The store of revocations, by name (see `Revocation.name`)."""

    def __init__(self, redis: Connection, values: SealedValues, index_seconds: int) -> None:
        self._redis = redis
        self._values = values
        self._index = redis.key("account-revocations")
        self._index_seconds = index_seconds

    async def save(self, revocation: Revocation) -> None:
        """Store a revocation until nobody may try it any longer."""
        await self._redis.together(*self.saving(revocation))

    def saving(self, revocation: Revocation) -> Sequence[tuple[Any, ...]]:
        """Return the commands that store a revocation, for a transaction."""
        return (
            self._setting(revocation),
            ("SADD", self._index, revocation.name),
            ("EXPIRE", self._index, self._index_seconds),
        )

    def forgetting(self, name: str) -> Sequence[tuple[Any, ...]]:
        """Return the commands that delete a revocation, for a transaction."""
        return ("DEL", self._key(name)), ("SREM", self._index, name)

    async def names(self) -> list[str]:
        """Return the names of the revocations that have not ended."""
        return sorted(name.decode() for name in await self._redis.call("SMEMBERS", self._index))

    async def load(self, name: str) -> Revocation | None:
        """Return a revocation; None when its time is over. Raises CorruptValue."""
        stored = await self._redis.call("GET", self._key(name))
        found = self._values.open(stored, Revocation) if stored else None
        if found and found.name != name:
            raise CorruptValue(f"The revocation kept as {name} is another one.")
        return found

    async def change(self, revocation: Revocation) -> None:
        """Store a changed revocation, unless it was deleted meanwhile."""
        await self._redis.call(*self._setting(revocation), "XX")

    async def forget(self, name: str) -> None:
        """Delete a revocation that has ended."""
        await self._redis.together(*self.forgetting(name))

    async def making_nameless(self, owner: AccountOwner) -> Sequence[tuple[Any, ...]]:
        """Return the commands after which the revocations of a person do not name them."""
        commands: list[tuple[Any, ...]] = []
        for name in await self.names():
            if name.startswith(f"{owner.team}:{owner.user}:"):
                commands += self.forgetting(name)
                if found := await self._load_readable(name):
                    commands += self.saving(found.model_copy(update={"team": "", "user": ""}))
        return commands

    @asynccontextmanager
    async def trying(self, name: str) -> AsyncGenerator[bool]:
        """Lock a revocation while the body tries it. Yield whether this process may."""
        async with locked(
            self._redis, "lock", "account-revocation", name, seconds=_TRY_SECONDS
        ) as lock:
            yield lock is not None

    async def on_old_keys(self) -> list[str]:
        """Return the names of the revocations that are not encrypted with the first key."""
        return await self._values.on_old_keys("account-revocation")

    async def reseal(self) -> None:
        """Encrypt all revocations with the first key."""
        for name in await self.on_old_keys():
            if found := await self._load_readable(name):
                await self.change(found)

    async def _load_readable(self, name: str) -> Revocation | None:
        try:
            return await self.load(name)
        except CorruptValue as error:
            log.warning("Tokens that are to be revoked cannot be opened: %s", error)
            return None

    def _setting(self, revocation: Revocation) -> tuple[Any, ...]:
        left = max(1, int(revocation.until - time.time()))
        sealed = self._values.seal(revocation)
        return "SET", self._key(revocation.name), sealed, "EX", left

    def _key(self, name: str) -> str:
        return self._redis.key("account-revocation", name)
