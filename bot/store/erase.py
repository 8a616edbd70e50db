"""Takes out of Redis all that is held about a person, a thread or a workspace (reliability 15).

What a thread holds cannot be told apart by who said it: a model's words rest on everybody's. So a
thread in which the person asked something is taken out whole; what people wrote is in Slack still.
Beside these, a key goes when its name has the person's id as one of its parts, and from what many
share (a set, a hash, an index) what names them goes.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Collection, Iterable
from dataclasses import dataclass, field

from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.store.connection import PREFIX, QUARANTINE, Connection
from bot.store.threads.deletions import ResponseDeletions
from bot.store.threads.leases import Leases
from bot.store.threads.mailbox import mailbox_keys

_AT_ONCE = 500
_PARTS = re.compile(r"[:\s]")
_OF_THREADS = {"ledger", "caller-state", "run", "request", "mailbox", "artifact", "artifacts"}
"""Families that go by thread: elsewhere they only quote somebody."""
_DECISIONS = {"lease", "paused", "channel-edits", "mcp-pins", "raise", "audit", "audit-head"}
"""What holds for everybody, and must not end because of who once decided it; of the audit log it is
enough that nobody knows any more who its pseudonyms are."""
_OF_RESPONSES = {"ledger", "caller-state", "responses"}
_RESPONSE_ID = re.compile(rb'"(?:previous_)?response_id":\s*"([^"\\]+)"')
"""Finds ids also in values that cannot be decoded any more."""


@dataclass(slots=True)
class Erased:
    """How many keys went or lost something, and the ids of stored responses that were noted for
    deletion. `busy` threads are as they were: what others asked there is under way."""

    keys: int = 0
    threads: set[str] = field(default_factory=set)
    busy: set[str] = field(default_factory=set)
    responses: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Name:
    """A key of ours in its parts."""

    key: str
    family: str
    parts: tuple[str, ...]

    @property
    def is_claim_on_message(self) -> bool:
        """Whether it says that a message, named by its channel and ts, was taken in."""
        return self.family == "claim" and self.parts[:1] in (("message",), ("notice",))

    @property
    def thread(self) -> str:
        """The thread it may belong to."""
        return ":".join(self.parts[:3])


class Erasure:
    """Safe to repeat. Take back first what waits or runs: see `bot.runs.erasure`."""

    def __init__(self, redis: Connection, leases: Leases, deletions: ResponseDeletions) -> None:
        self._redis = redis
        self._leases = leases
        self._deletions = deletions

    async def threads_of(self, user: str) -> set[str]:
        """Keys of the threads in which `user` asked something."""
        return {each for each in await self._places_of(user) if not _is_direct(each)}

    async def person(self, user: str) -> Erased:
        """Erase all that is held about a user (ids are unique among all workspaces), and about
        their direct messages, whose channel's id names them as well."""
        places = await self._places_of(user)
        notes = {each for each in places if _is_direct(each)}
        direct = {channel for each in places if (channel := each.split(":")[1])[:1] == "D"}
        erased = await self._threads(places - notes)
        last = {self._redis.key("participants", each) for each in notes}
        await self._sweep(erased, {user, *direct}, mentioned=user, last=last)
        return erased

    async def thread(self, thread_key: str) -> Erased:
        """All that is held of a thread."""
        return await self._threads({thread_key})

    async def workspace(self, team: str) -> Erased:
        """All that is held about a workspace that took the bot out, work under way included."""
        threads = {n.thread async for n in self._names() if n.parts[:1] == (team,)}
        async for name in self._names():
            if name.family in ("run", "request"):
                threads.add(await self._thread_of(name))
        own = {each for each in threads if each.startswith(f"{team}:")}
        erased = await self._threads(own, busy_too=True)
        await self._sweep(erased, {team}, mentioned=team)
        return erased

    async def _places_of(self, user: str) -> set[str]:
        """Return the keys of the threads in which `user` asked something, and of their direct
        messages as a whole, `team:channel`."""
        found = set()
        async for name in self._names():
            if await self._is_of(name, user):
                found.add(await self._thread_of(name))
        return found - {""}

    async def _threads(self, threads: set[str], *, busy_too: bool = False) -> Erased:
        """Take a lease on each first, so that a worker that holds one writes nothing more; then note
        the stored responses; remove only after that, so that a kill loses no id."""
        busy = set() if busy_too else {each for each in threads if await self._waits(each)}
        threads = threads - busy
        for thread_key in threads:
            await self._leases.take(thread_key)
        erased, ids = Erased(threads=threads, busy=busy), set[str]()
        async for name in self._names():
            if name.family in ("run", "request") and await self._thread_of(name) in threads:
                ids |= {*name.parts, *await self._request_of(name)}
            if name.family in _OF_RESPONSES and name.thread in threads:
                erased.responses |= await self._responses(name)
        failpoint("erase-noting")
        await self._deletions.add(erased.responses)
        failpoint("erase-noted")
        await self._sweep(erased, ids)
        failpoint("erase-swept")
        # A question that came since waits in a mailbox that was empty: it stays.
        kept = {"lease", "claim", "participants"} | (set() if busy_too else {"mailbox"})
        async for name in self._names():
            if name.thread in threads and name.family not in kept:
                erased.keys += await self._redis.call("DEL", name.key)
                failpoint("erase-removing")
        # By its participants the next erase finds a thread of which something is left.
        async for name in self._names():
            if name.thread in threads and name.family == "participants":
                erased.keys += await self._redis.call("DEL", name.key)
        for thread_key in threads:  # last: a missing lease refuses late writes as a newer one does
            await self._redis.call("DEL", self._redis.key("lease", thread_key))
        failpoint("erase-removed")
        return erased

    async def _waits(self, thread_key: str) -> bool:
        return bool(await self._redis.call("LLEN", mailbox_keys(self._redis, thread_key)[0]))

    async def _sweep(
        self,
        erased: Erased,
        words: set[str],
        *,
        mentioned: str = "",
        last: Collection[str] = (),
    ) -> None:
        """Everything that has one of the words as a part of its name, or names `mentioned`; not in
        busy threads, which the next erase must still find. The keys of `last` go when all else has:
        after a kill the next erase finds by them what is left."""
        who = re.compile(rf'(?<!\\)[":]{re.escape(mentioned or "-")}[":]'.encode())
        async for name in self._names():
            if name.thread in erased.busy or name.key in last:
                continue
            if words.intersection(name.parts) and name.is_claim_on_message:
                erased.keys += await self._made_nameless(name.key)
            elif words.intersection(name.parts) and name.family != "lease":
                erased.keys += await self._redis.call("DEL", name.key)
            elif name.family == "claim":
                erased.keys += await self._emptied(name.key, words)
            elif name.family not in _DECISIONS | _OF_THREADS:
                erased.keys += await self._without(name.key, words, who)
        for key in last:
            erased.keys += await self._redis.call("DEL", key)

    async def _made_nameless(self, claim: str) -> bool:
        """Keep that a message was taken in, which stands in Slack still, but not whose it was."""
        nameless = self._redis.nameless_claim(claim)
        await self._redis.script("rename_claim", [claim, nameless])
        return True

    async def _emptied(self, key: str, words: set[str]) -> bool:
        """Take out of a claim which request one of the words is; whether there was any. The claim itself
        stays: its message stands in Slack still, and would be taken for one that was missed."""
        holder = await self._redis.call("GET", key) or b""
        if holder.decode() not in words:
            return False
        await self._redis.call("SET", key, "", "XX", "KEEPTTL")
        return True

    async def _without(self, key: str, words: set[str], who: re.Pattern[bytes]) -> bool:
        """Take what names one of the words out of a value; whether there was any."""

        def names(raw: bytes) -> bool:
            parts = _PARTS.split(raw.decode("utf-8", "replace"))
            return bool(words.intersection(parts)) or who.search(raw) is not None

        match (await self._redis.call("TYPE", key)).decode():
            case "string":
                raw = await self._redis.call("GET", key)
                command, gone = "DEL", [key] if raw and names(raw) else []
            case "hash":
                fields = await self._redis.call("HGETALL", key)
                command, gone = "HDEL", [k for k, v in fields.items() if names(k) or names(v)]
            case "set":
                members = await self._redis.call("SMEMBERS", key)
                command, gone = "SREM", [each for each in members if names(each)]
            case "zset":
                members = await self._redis.call("ZRANGE", key, 0, -1)
                command, gone = "ZREM", [each for each in members if names(each)]
            case _:  # lists are of threads
                return False
        if gone:
            await self._redis.call(command, *([] if command == "DEL" else [key]), *gone)
        return bool(gone)

    async def _is_of(self, name: _Name, user: str) -> bool:
        match name.family:
            case "participants":
                return bool(await self._redis.call("SISMEMBER", name.key, user))
            case "caller-state" | "artifacts" | "artifact":
                return user in name.parts[3:]
            case "ledger":
                bound = f'"bound_to":"{user}"'.encode()
                return any(bound in each for each in await self._list(name))
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
        """Return the ids of all stored responses that a key of `_OF_RESPONSES` names."""
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
                scan = ("SCAN", max(cursor, 0), "MATCH", f"{prefix}:*", "COUNT", _AT_ONCE)
                cursor, keys = await self._redis.call(*scan)
                for name in _split(prefix, keys):
                    yield name


def _split(prefix: str, keys: Iterable[bytes]) -> Iterable[_Name]:
    for raw in keys:
        key = raw.decode("utf-8", "replace")
        family, *parts = key.removeprefix(f"{prefix}:").split(":")
        yield _Name(key, family, tuple(parts))


def _is_direct(place: str) -> bool:
    """Return whether `place` names somebody's direct messages as a whole, and no thread."""
    return place.count(":") == 1


def _json(raw: bytes | None) -> dict[str, object]:
    try:
        value = json.loads(raw or b"")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
