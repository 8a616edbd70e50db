"""The audit log: one append-only stream per workspace, in which each entry has the previous hash.

The head is stored apart from the stream: the number of entries, the hash of the last, and a seal
made with a key that is not in Redis. Removed, changed, inserted or reordered entries then show. Only
restoring an older copy of both the stream and the head stays hidden; to detect that, compare the
head with one noted elsewhere.

Entries have pseudonyms instead of user ids. To erase a person, their pseudonym is made unresolvable;
the log does not change.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from bot.core.audit import AuditEntry, AuditHead, AuditKind, chained
from bot.core.errors import CorruptValue
from bot.core.ids import new_id
from bot.store.connection import Connection, Retention
from bot.store.values import decode

log = logging.getLogger(__name__)

MOST = 1_000_000  # entries of a workspace
MOST_REFUSALS = 100  # of one person in an hour; more would only push out other entries
_PAGE = 500
_MOST_ENDS = 20_000  # entries read to count the ends of runs
_TRIM_SECONDS = 3_600.0
_CHANGED = "An entry was changed, taken out or put in before this one."


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """Entry `number` of the log; `entry` is None when it cannot be read.

    `hash` covers the entry and all entries before it. `problem` describes a sign at this place that
    somebody changed the log, "" if there is none.
    """

    entry: AuditEntry | None
    number: int
    hash: str = ""
    problem: str = ""

    @property
    def whole(self) -> bool:
        return not self.problem


@dataclass(frozen=True, slots=True)
class PendingEntry:
    """An audit entry that a script stores in the same step as the change that it records.

    The script appends `text` to the list `key`. `AuditLog.settle` later moves it into the log, even
    if the process that made the change was killed.
    """

    team: str
    key: str
    text: str


def recording(entries: Sequence[PendingEntry], seconds: int) -> list[tuple[Any, ...]]:
    """Return the commands that store pending `entries` of one workspace, for `Lease.write`."""
    if not entries:
        return []
    key = entries[0].key
    return [("RPUSH", key, *(each.text for each in entries)), ("EXPIRE", key, seconds)]


class AuditLog:
    """The store of audit logs.

    Methods raise StoreUnavailable; an action that cannot be recorded must not be done.
    """

    def __init__(self, redis: Connection, retention: Retention, keys: Sequence[bytes] = ()) -> None:
        """Use `keys` to seal the heads: the first makes new seals, all are accepted."""
        self._redis = redis
        self._seconds = retention.audit
        self._keys = keys
        self._heads: dict[str, tuple[str, AuditHead]] = {}
        self._trimmed_at: dict[str, float] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def append(
        self, entries: Sequence[AuditEntry], pseudonyms: Mapping[str, str] | None = None
    ) -> None:
        """Append entries of one workspace, in order.

        With `pseudonyms` (by user id), no new pseudonym is made for a person who has been erased in
        the meantime.
        """
        if not entries:
            return
        people = {entry.who for entry in entries}
        who = pseudonyms or {each: await self.pseudonym(each) for each in people}
        kept = [each for each in entries if not await self._is_too_much(each, who[each.who])]
        await self._chain(entries[0].team, [_text(each, who[each.who]) for each in kept])

    async def pending_entry(self, entry: AuditEntry) -> PendingEntry:
        """Return `entry` in pending form, for the script that makes the change it records."""
        return self.pending_entry_as(entry, await self.pseudonym(entry.who))

    def pending_entry_as(self, entry: AuditEntry, pseudonym: str) -> PendingEntry:
        """Return `entry` in pending form, with a known pseudonym of the person."""
        return PendingEntry(entry.team, self._pending_key(entry.team), _text(entry, pseudonym))

    async def settle(self, team: str) -> None:
        """Move pending entries into the log. Every `append` does so as well."""
        await self._chain(team, [])

    async def teams(self) -> list[str]:
        """Return the ids of the workspaces that have a log, sorted."""
        found = set[str]()
        for kind in ("audit", "audit-head"):
            start, cursor = self._redis.key(kind, ""), -1
            while cursor:
                cursor, keys = await self._redis.call("SCAN", max(cursor, 0), "MATCH", f"{start}*")
                found |= {key.decode().removeprefix(start) for key in keys}
        return sorted(found)

    async def head(self, team: str) -> AuditHead:
        """Return the head of a workspace's log without checking it."""
        return (await self._read_head(team))[1]

    async def read(self, team: str) -> AsyncGenerator[StoredEntry]:
        """Yield a workspace's log, oldest first, with user ids where they are still known.

        After the entries come items without an entry, one for each problem of the log as a whole.
        """
        await self.settle(team)
        names, after = await self._names(), "-"
        raw, head = await self._read_head(team)
        number, last = head.trimmed, head.anchor
        while True:
            page = await self._page(team, after)
            for entry_id, fields in page:
                after, number = f"({entry_id}", number + 1
                text, previous = fields["entry"], fields["previous"]
                own = chained(previous, text)
                whole = own == fields["hash"] and previous == last
                last = own
                yield StoredEntry(
                    _named(text.encode(), names), number, own, "" if whole else _CHANGED
                )
            if not page:
                now, current = await self._read_head(team)
                if now == raw:
                    break
                raw, head = now, current  # others have written meanwhile
        for problem in self._problems(team, raw, head, number, last):
            yield StoredEntry(None, number, last, problem)

    async def ends_since(self, team: str, since: datetime) -> Counter[str]:
        """Return how many runs ended since then, by stop reason. Entries are not checked."""
        stream, start = self._keys_of(team)[0], str(int(since.timestamp() * 1_000))
        ends = Counter[str]()
        for _, fields in await self._redis.call("XRANGE", stream, start, "+", "COUNT", _MOST_ENDS):
            try:
                entry = AuditEntry.model_validate_json(fields[b"entry"])
            except (KeyError, ValidationError):
                continue
            if entry.kind is AuditKind.ENDED:
                ends[entry.what] += 1
        return ends

    def _problems(
        self, team: str, raw: str, head: AuditHead, number: int, last: str
    ) -> Iterator[str]:
        """Yield what does not match between the head and the log, whose last entry is `number`."""
        if not raw:
            yield "The head of this log is missing, so nobody can tell what else is."
        elif number != head.count or last != head.hash:
            yield f"The log should end with entry {head.count:,}, and ends with entry {number:,}."
        if head.broken_at:
            yield f"The bot found this log changed or put back to an older copy at {head.broken_at}."
        if self._keys and raw and head.sealed_by(team, self._keys) is None:
            yield (
                "The seal was made with none of BOT_ENCRYPTION_KEYS: the log was changed, or a "
                "process with other keys writes to it."
                if head.seal
                else "The log bears no seal: it was changed, or written without BOT_ENCRYPTION_KEYS."
            )

    async def on_old_keys(self) -> list[str]:
        """Return the workspaces whose log is sealed with a key other than the first."""
        heads = [(team, await self.head(team)) for team in await self.teams()]
        return [team for team, head in heads if (head.sealed_by(team, self._keys) or 0) > 0]

    async def reseal(self) -> None:
        """Seal all logs that are sealed with another key with the first key."""
        for team in await self.on_old_keys():
            raw, head = await self._read_head(team)
            if head.sealed_by(team, self._keys) is not None:
                new = head.sealed(team, self._keys).model_dump_json()
                key = self._redis.key("audit-head", team)
                await self._redis.script("compare_and_set", [key], raw, new, self._seconds)

    async def _chain(self, team: str, texts: Sequence[str]) -> None:
        async with self._turns[team]:  # without it, concurrent writers would retry again and again
            known: tuple[str, AuditHead] | None = self._heads.get(team, ("", AuditHead()))
            while True:
                pending = await self._redis.call("LRANGE", self._pending_key(team), 0, -1)
                every = [*(each.decode() for each in pending), *texts]
                if not every:
                    return
                known = known or await self._checked_head(team)
                if await self._add(team, *known, every, len(pending)):
                    break
                known = None
            await self._trim(team)

    async def _add(
        self, team: str, raw: str, head: AuditHead, texts: Sequence[str], pending_count: int
    ) -> bool:
        """Append `texts`, the first `pending_count` of which were pending, if the head is still `raw`.

        Return whether they were appended.
        """
        parts, last = list[str](), head.hash
        for text in texts:
            own = chained(last, text)
            parts += [last, own, text]
            last = own
        count = head.count + len(texts)
        unsealed = head.unsealed if self._keys else count
        grown = {"count": count, "hash": last, "unsealed": unsealed}
        new = head.model_copy(update=grown).sealed(team, self._keys)
        kept = await self._redis.script(
            "audit_append",
            [*self._keys_of(team), self._pending_key(team)],
            raw,
            new.model_dump_json(),
            self._seconds,
            pending_count,
            *parts,
        )
        if kept == 1:
            self._heads[team] = (new.model_dump_json(), new)
        return bool(kept == 1)

    async def _checked_head(self, team: str) -> tuple[str, AuditHead]:
        """Return the head to append to. If somebody else changed it, it records that from now on."""
        raw, head = await self._read_head(team)
        known = self._heads.get(team)
        is_changed = known is not None and head.count < known[1].count
        if self._keys and head.sealed_by(team, self._keys) is None:
            is_changed |= bool(head.seal or (raw and not head.count))  # no empty log has a head
            head = head.model_copy(update={"unsealed": head.count})
        is_changed |= not raw and head.count > 0
        if is_changed and not head.broken_at:
            log.error(
                "The audit log of %s was changed, put back to an older copy, or written by a process "
                "with other BOT_ENCRYPTION_KEYS",
                team,
            )
            now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
            head = head.model_copy(update={"broken_at": now})
        return raw, head

    async def _read_head(self, team: str) -> tuple[str, AuditHead]:
        """Return the stored text of the head, "" without one, and the head that it means.

        Older versions stored the last hash only.
        """
        raw = (await self._redis.call("GET", self._redis.key("audit-head", team)) or b"").decode()
        try:
            return raw, AuditHead.model_validate_json(raw)
        except ValidationError:
            pass
        stream = self._keys_of(team)[0]
        oldest = await self._page(team, "-", 1)
        if not oldest:
            return raw, AuditHead(hash=raw)
        [[_, newest]] = await self._redis.call("XREVRANGE", stream, "+", "-", "COUNT", 1)
        count = await self._redis.call("XLEN", stream)
        last = raw or newest[b"hash"].decode()
        return raw, AuditHead(
            count=count, hash=last, anchor=oldest[0][1]["previous"], unsealed=count
        )

    async def _page(
        self, team: str, after: str, count: int = _PAGE
    ) -> list[tuple[str, dict[str, str]]]:
        """Return up to `count` entries from the stream id `after` on, each with its id and fields."""
        stream = self._keys_of(team)[0]
        page = await self._redis.call("XRANGE", stream, after, "+", "COUNT", count)
        return [
            (
                entry_id.decode(),
                {k.decode(): v.decode("utf-8", "replace") for k, v in fields.items()},
            )
            for entry_id, fields in page
        ]

    async def _trim(self, team: str) -> None:
        """Remove expired entries, at most once an hour, and count them in the head."""
        now = time.time()
        if now - self._trimmed_at.get(team, 0.0) < _TRIM_SECONDS:
            return
        self._trimmed_at[team] = now
        await self._redis.call("EXPIRE", self._keys_of(team)[0], self._seconds)
        oldest = int((now - self._seconds) * 1000)
        while True:
            raw, head = self._heads[team]
            page = await self._page(team, "-")
            most = max(0, head.count - head.trimmed - MOST)
            over = [n for n, (i, _) in enumerate(page, 1) if int(i.split("-")[0]) < oldest]
            gone = max(len(over), min(most, len(page)))
            if not gone:
                return
            last_id, fields = page[gone - 1]
            cut = {"trimmed": head.trimmed + gone, "anchor": fields["hash"]}
            new = head.model_copy(update=cut).sealed(team, self._keys)
            args = (raw, new.model_dump_json(), self._seconds, last_id)
            if not await self._redis.script("audit_trim", self._keys_of(team), *args):
                return
            self._heads[team] = (new.model_dump_json(), new)

    def _keys_of(self, team: str) -> list[str]:
        return [self._redis.key("audit", team), self._redis.key("audit-head", team)]

    async def _is_too_much(self, entry: AuditEntry, who: str) -> bool:
        if entry.kind is not AuditKind.REFUSED:
            return False
        key = self._redis.key("audit-refusals", entry.team, who)
        _, count = await self._redis.together(("SET", key, 0, "NX", "EX", 3_600), ("INCR", key))
        return int(count) > MOST_REFUSALS

    def _pending_key(self, team: str) -> str:
        return self._redis.key("audit-beside", team)

    async def pseudonym(self, who: str, *, new: bool = True) -> str:
        """Return the pseudonym of a person. With `new` False, a missing one is made but not stored."""
        if not who:  # an entry without a person
            return ""
        key, fresh = self._redis.key("audit-person", who), new_id("person")
        name = await self._redis.call("GETEX", key, "EX", self._seconds)
        if name is None and new:
            made = ("SET", key, fresh, "NX", "EX", self._seconds)
            _, name = await self._redis.together(made, ("GET", key))
        return str(name.decode()) if name else fresh

    async def _names(self) -> dict[str, str]:
        """Return user ids by pseudonym."""
        start, cursor, found = self._redis.key("audit-person", ""), -1, dict[str, str]()
        while cursor:
            cursor, keys = await self._redis.call("SCAN", max(cursor, 0), "MATCH", f"{start}*")
            names = await self._redis.call("MGET", *keys) if keys else []
            pairs = zip(names, keys, strict=True)
            found |= {n.decode(): k.decode().removeprefix(start) for n, k in pairs if n}
        return found


def _text(entry: AuditEntry, who: str) -> str:
    kept = entry.model_copy(update={"who": who})
    return kept.model_dump_json(exclude_defaults=True)


def _named(raw: bytes, names: dict[str, str]) -> AuditEntry | None:
    try:
        entry = decode(AuditEntry, raw)
    except CorruptValue:
        return None
    return entry.model_copy(update={"who": names.get(entry.who, entry.who)})
