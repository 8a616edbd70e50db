"""Erasure: deletes from Redis everything about a person, a thread or a workspace.

The data of a thread cannot be separated by person, because the model's answers build on everybody's
messages. All data of a thread in which the person asked something is therefore deleted; the messages
themselves remain in Slack. In addition, a key is deleted if the person's id is part of its name, and
shared values (sets, hashes, indexes) lose the entries that name the person.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Collection, Iterable
from dataclasses import dataclass, field

from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.store.connection import PREFIX, QUARANTINE, Connection
from bot.store.leases import Leases
from bot.store.threads.mailbox import mailbox_keys
from bot.store.values import Names
from bot.store.workspaces.audit import AuditLog

_SCAN_COUNT = 500
_PARTS = re.compile(r"[:\s]")
_THREAD_FAMILIES = {"ledger", "caller-state", "run", "request", "mailbox", "artifact", "artifacts"}
"""Key families that are erased by thread; in other threads they only quote the person."""
_DECISIONS = {"lease", "paused", "channel-edits", "mcp-pins", "profiles", "raise"}
_DECISIONS |= {"written-skills", "skill-versions"}
"""Key families that apply to everybody and stay, whoever decided them."""
_AUDIT = {"audit", "audit-head", "audit-beside"}
"""Key families of the audit log, which has pseudonyms; to anonymize it, the link from pseudonym to
person is deleted."""
_RESPONSE_FAMILIES = {"ledger", "caller-state", "responses"}
_RESPONSE_ID = re.compile(rb'"(?:previous_)?response_id":\s*"([^"\\]+)"')
"""A regular expression, to find ids in damaged values as well."""


@dataclass(slots=True)
class Erased:
    """The result of an erase.

    - `keys`: how many keys were deleted or changed.
    - `threads`: keys of the erased threads. `busy` threads were not erased, because requests of
      other people are waiting or running there.
    - `responses`: ids of stored responses that were noted for deletion at the model service.
    """

    keys: int = 0
    threads: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    responses: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Name:
    """The name of a Redis key, split into its parts."""

    key: str
    family: str
    parts: tuple[str, ...]

    @property
    def is_claim_on_message(self) -> bool:
        """Whether the key claims a message by channel and ts, so that it is processed once."""
        return self.family == "claim" and self.parts[:1] in (("message",), ("notice",))

    @property
    def thread(self) -> str:
        """The key of the thread that the name begins with, if it does."""
        return ":".join(self.parts[:3])

    def is_of(self, threads: Collection[str]) -> bool:
        """Return whether one of `threads` is in the name, wherever."""
        parts = self.parts
        return any(":".join(parts[i : i + 3]) in threads for i in range(len(parts) - 2))


class Erasure:
    """Erases data; safe to repeat. `bot.runs.erasure` withdraws waiting and running requests first."""

    def __init__(
        self, redis: Connection, leases: Leases, deletions: Names, audit: AuditLog
    ) -> None:
        self._redis = redis
        self._leases = leases
        self._deletions = deletions
        self._audit = audit

    async def threads_of(self, user: str) -> set[str]:
        """Return the keys of the threads in which `user` asked something."""
        return {place for place in await self._places_of(user) if not _is_direct(place)}

    async def person(self, user: str) -> Erased:
        """Erase all data about a user (ids are unique across workspaces).

        This includes their direct messages, whose channel id identifies them as well.
        """
        places = await self._places_of(user)
        conversations = {place for place in places if _is_direct(place)}
        direct = {channel for place in places if (channel := place.split(":")[1])[:1] == "D"}
        erased = await self._erase_threads(places - conversations)
        last = {self._redis.key("participants", conversation) for conversation in conversations}
        await self._delete_leases(direct, erased.busy)
        await self._sweep(erased, {user, *direct}, mentioned=user, last=last)
        return erased

    async def _delete_leases(self, direct: set[str], busy: set[str]) -> None:
        """Delete the leases that a killed erase left in direct messages, whose channels name people."""
        async for name in self._names():
            is_theirs = name.family == "lease" and name.parts[1:2] and name.parts[1] in direct
            if is_theirs and name.thread not in busy and not await self._has_requests(name.thread):
                await self._redis.call("DEL", name.key)

    async def teams_with(self, families: Collection[str], user: str) -> set[str]:
        """Return the workspaces in which keys of these families are of `user`."""
        keys = [name.parts async for name in self._names() if name.family in families]
        return {parts[0] for parts in keys if parts[1:2] == (user,)}

    async def thread(self, thread_key: str) -> Erased:
        """Erase all data of a thread, and of the threads that were given its exchanges."""
        return await self._erase_threads(await self.with_later_threads(thread_key))

    async def with_later_threads(self, thread_key: str) -> set[str]:
        """Return the thread, and those of the same direct message that hold copies of its exchanges."""
        earlier = {
            name.thread: {
                thread.decode() for thread in await self._redis.call("SMEMBERS", name.key)
            }
            async for name in self._names()
            if name.family == "earlier-threads"
        }
        threads: set[str] = set()
        further = {thread_key}
        while further:
            threads |= further
            further = {thread for thread, copied in earlier.items() if copied & threads} - threads
        return threads

    async def workspace(self, team: str) -> Erased:
        """Erase all data about a workspace that uninstalled the bot, including running work.

        The head of its audit log stays, without entries: after another installation the log goes on.
        """
        threads = {n.thread async for n in self._names() if n.parts[:1] == (team,)}
        async for name in self._names():
            if name.family in ("run", "request"):
                threads.add(await self._thread_of(name))
        own = {thread for thread in threads if thread.startswith(f"{team}:")}
        erased = await self._erase_threads(own, busy_too=True)
        await self._sweep(erased, {team}, mentioned=team)
        await self._audit.erase(team)
        return erased

    async def _places_of(self, user: str) -> set[str]:
        """Return the keys of the threads in which `user` asked something.

        The result also has `team:channel` for each direct message channel of the user.
        """
        places = set()
        async for name in self._names():
            if await self._shows_participation(name, user):
                places.add(await self._thread_of(name))
        return places - {""}

    async def _erase_threads(self, threads: set[str], *, busy_too: bool = False) -> Erased:
        """Erase threads: take their leases, note the stored responses, then delete the keys."""
        busy = (
            set()
            if busy_too
            else {thread for thread in threads if await self._has_requests(thread)}
        )
        threads = threads - busy
        for thread_key in threads:  # a worker that holds an older lease can write nothing more
            await self._leases.take(thread_key)
        erased, ids = Erased(threads=threads, busy=busy), set[str]()
        async for name in self._names():
            if name.family in ("run", "request") and await self._thread_of(name) in threads:
                ids |= {*name.parts, *await self._request_of(name)}
            if name.family in _RESPONSE_FAMILIES and name.thread in threads:
                erased.responses |= await self._responses(name)
        # Before any key is deleted, so that a killed process loses no id.
        failpoint("erase-noting")
        await self._deletions.add(erased.responses)
        failpoint("erase-noted")
        await self._sweep(erased, ids)
        failpoint("erase-swept")
        # A request that arrived in the meantime waits in the mailbox, which was empty: keep it.
        spared = {"lease", "claim", "participants", "earlier-threads"}
        await self._delete_threads(erased, threads, spared if busy_too else spared | {"mailbox"})
        failpoint("erase-removed")
        return erased

    async def _delete_threads(self, erased: Erased, threads: set[str], spared: set[str]) -> None:
        """Delete the keys of threads, except those of the `spared` families, in an order by which a
        kill between any two leaves what the next erase finds the rest by."""
        async for name in self._names():
            if name.is_of(threads) and name.family not in spared:
                erased.keys += await self._redis.call("DEL", name.key)
                failpoint("erase-removing")
        # Participants go late: by them the next erase finds a thread that is only partly erased.
        async for name in self._names():
            if name.thread in threads and name.family == "participants":
                erased.keys += await self._redis.call("DEL", name.key)
        # The lease goes last; without a lease a thread accepts no late writes either.
        for thread_key in threads:
            await self._redis.call("DEL", self._redis.key("lease", thread_key))
        # Only by these does the next erase find later threads that are only partly erased.
        for thread_key in threads:
            erased.keys += await self._redis.call(
                "DEL", self._redis.key("earlier-threads", thread_key)
            )

    async def _has_requests(self, thread_key: str) -> bool:
        return bool(await self._redis.call("LLEN", mailbox_keys(self._redis, thread_key)[0]))

    async def _sweep(
        self,
        erased: Erased,
        words: set[str],
        *,
        mentioned: str = "",
        last: Collection[str] = (),
    ) -> None:
        """Delete keys with one of `words` in their name, and entries of values that have one.

        Entries that contain the id `mentioned` go as well. Busy threads are skipped, because the
        next erase must find them. The keys in `last` are deleted at the end: after a kill, the next
        erase finds the rest by them.
        """
        quoted_id = re.compile(rf'(?<!\\)[":]{re.escape(mentioned or "-")}[":]'.encode())
        async for name in self._names():
            if name.is_of(erased.busy) or name.key in last or name.family in _AUDIT:
                continue
            if words.intersection(name.parts) and name.is_claim_on_message:
                erased.keys += await self._anonymize_claim(name.key)
            elif words.intersection(name.parts) and name.family != "lease":
                erased.keys += await self._redis.call("DEL", name.key)
            elif name.family == "claim":
                erased.keys += await self._clear_claim(name.key, words)
            elif name.family not in _DECISIONS | _THREAD_FAMILIES:
                erased.keys += await self._remove_entries(name.key, words, quoted_id)
        for key in last:
            erased.keys += await self._redis.call("DEL", key)

    async def _anonymize_claim(self, claim: str) -> bool:
        """Rename a claim so that it no longer tells whose message it was. Return True."""
        # The message remains in Slack, and without its claim catch-up would answer it.
        nameless = self._redis.nameless_claim(claim)
        await self._redis.script("rename_claim", [claim, nameless])
        return True

    async def _clear_claim(self, key: str, words: set[str]) -> bool:
        """Remove the request id from a claim if it is one of `words`. Return whether it was."""
        # The claim itself stays, for the same reason.
        holder = await self._redis.call("GET", key) or b""
        if holder.decode() not in words:
            return False
        await self._redis.call("SET", key, "", "XX", "KEEPTTL")
        return True

    async def _remove_entries(
        self, key: str, words: set[str], quoted_id: re.Pattern[bytes]
    ) -> bool:
        """Delete the entries of a value that have one of `words`. Return whether there were any."""

        def names(raw: bytes) -> bool:
            parts = _PARTS.split(raw.decode("utf-8", "replace"))
            return bool(words.intersection(parts)) or quoted_id.search(raw) is not None

        match (await self._redis.call("TYPE", key)).decode():
            case "string":
                raw = await self._redis.call("GET", key)
                command, gone = "DEL", [key] if raw and names(raw) else []
            case "hash":
                fields = await self._redis.call("HGETALL", key)
                command, gone = "HDEL", [k for k, v in fields.items() if names(k) or names(v)]
            case "set":
                members = await self._redis.call("SMEMBERS", key)
                command, gone = "SREM", [member for member in members if names(member)]
            case "zset":
                members = await self._redis.call("ZRANGE", key, 0, -1)
                command, gone = "ZREM", [member for member in members if names(member)]
            case "list":  # of a feature: those of the bot belong to threads
                items = set(await self._redis.call("LRANGE", key, 0, -1))
                gone = [item for item in items if names(item)]
                for item in gone:
                    await self._redis.call("LREM", key, 0, item)
                return bool(gone)
            case "stream":
                entries = await self._redis.call("XRANGE", key, "-", "+")
                command = "XDEL"
                gone = [
                    entry_id
                    for entry_id, fields in entries
                    if any(names(part) for pair in fields.items() for part in pair)
                ]
            case _:  # gone meanwhile
                return False
        if gone:
            await self._redis.call(command, *([] if command == "DEL" else [key]), *gone)
        return bool(gone)

    async def _shows_participation(self, name: _Name, user: str) -> bool:
        """Return whether the key shows that `user` took part in its thread."""
        match name.family:
            case "participants":
                return bool(await self._redis.call("SISMEMBER", name.key, user))
            case "caller-state" | "artifacts" | "artifact":
                return user in name.parts[3:]
            case "ledger":
                bound = f'"bound_to":"{user}"'.encode()
                return any(bound in entry for entry in await self._list(name))
            case "request":
                raw = await self._redis.call("GET", name.key) or b""
                return f'"user":"{user}"'.encode() in raw
            case _:
                return False

    async def _thread_of(self, name: _Name) -> str:
        if name.family == "run":
            raw = await self._redis.call("HGET", name.key, "thread_key")
            return raw.decode("utf-8", "replace") if raw else ""
        if name.family != "request":
            return name.thread
        given = _json(await self._redis.call("GET", name.key))
        try:
            return Request.model_validate(given).thread_key
        except ValueError:
            return ""

    async def _request_of(self, name: _Name) -> list[str]:
        raw = (
            await self._redis.call("HGET", name.key, "request_id") if name.family == "run" else b""
        )
        return [raw.decode("utf-8", "replace")] if raw else []

    async def _responses(self, name: _Name) -> set[str]:
        """Return the ids of all stored responses in the value of a key of `_RESPONSE_FAMILIES`."""
        match await self._redis.call("TYPE", name.key):
            case b"set":
                return {each.decode() for each in await self._redis.call("SMEMBERS", name.key)}
            case b"list":
                kept = await self._list(name)
            case _:
                kept = [await self._redis.call("GET", name.key) or b""]
        return {found.decode() for each in kept for found in _RESPONSE_ID.findall(each)}

    async def _list(self, name: _Name) -> list[bytes]:
        if await self._redis.call("TYPE", name.key) != b"list":
            return []
        return list(await self._redis.call("LRANGE", name.key, 0, -1))

    async def _names(self) -> AsyncGenerator[_Name]:
        for prefix in (PREFIX, QUARANTINE):
            cursor = -1
            while cursor:
                scan = ("SCAN", max(cursor, 0), "MATCH", f"{prefix}:*", "COUNT", _SCAN_COUNT)
                cursor, keys = await self._redis.call(*scan)
                for name in _split(prefix, keys):
                    yield name


def _split(prefix: str, keys: Iterable[bytes]) -> Iterable[_Name]:
    for raw in keys:
        key = raw.decode("utf-8", "replace")
        family, *parts = key.removeprefix(f"{prefix}:").split(":")
        yield _Name(key, family, tuple(parts))


def _is_direct(place: str) -> bool:
    """Return whether `place` is `team:channel` of a direct message, not a thread key."""
    return place.count(":") == 1


def _json(raw: bytes | None) -> dict[str, object]:
    try:
        value = json.loads(raw or b"")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
