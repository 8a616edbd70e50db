"""The audit log: one append-only stream per workspace, in which each entry has the previous hash.

The head is stored apart from the stream: the number of entries, the hash of the last, and a seal
made with a key that is not in Redis. Removed, changed, inserted or reordered entries then show. A
process also remembers the last entry that it wrote, so it notices when an older copy of both the
stream and the head is put back, or both are deleted. While no process runs, only a head that was
noted elsewhere shows that.

A head is sealed only by a process that could check the seal before, so no process covers up for
others. To a head without a seal, entries are added without a seal until the operator calls `adopt`.
Under a seal of an unknown key nothing is added: entries wait in the list of pending ones for a
process with that key.

Entries have pseudonyms instead of user ids. To erase a person, their pseudonym is made unresolvable;
the log does not change.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from bot.core.audit import AuditEntry, AuditHead, chained
from bot.core.audit_kinds import AuditKind
from bot.core.errors import CorruptValue
from bot.core.ids import new_id
from bot.store.connection import Connection, Retention
from bot.store.processes import Keyring
from bot.store.values import decode

log = logging.getLogger(__name__)

MOST = 1_000_000  # entries of a workspace
MOST_REFUSALS = 100  # of one person in an hour; more would only push out other entries
_PAGE = 500
_MOST_ENDS = 20_000  # entries read to count the ends of runs
_TRIM_SECONDS = 3_600.0
_PENDING_AT_ONCE = 1_000
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


def person_key(redis: Connection, who: str) -> str:
    """Return the key of a person's pseudonym."""
    return redis.key("audit-person", who)


def recording(entries: Sequence[PendingEntry], seconds: int) -> list[tuple[Any, ...]]:
    """Return the commands that store pending `entries` of one workspace, for `Lease.write`."""
    if not entries:
        return []
    key = entries[0].key
    return [("RPUSH", key, *(entry.text for entry in entries)), ("EXPIRE", key, seconds)]


@dataclass(frozen=True, slots=True)
class _Head:
    """The head of a log as this process read or wrote it.

    - `raw`: its stored text, "" without one. `last_id`: the stream id of its last entry, if known.
    - `is_checkable`: whether this process may replace it: it has the key of its seal, or there is no
      seal. `is_sealed`: whether the next head is sealed, as the one before was or the log is new.
    """

    raw: str
    head: AuditHead
    is_checkable: bool
    is_sealed: bool
    last_id: str = ""


class AuditLog:
    """The store of audit logs.

    Methods raise StoreUnavailable; an action that cannot be recorded must not be done.
    """

    def __init__(
        self,
        redis: Connection,
        retention: Retention,
        keys: Sequence[bytes] = (),
        keyring: Keyring | None = None,
    ) -> None:
        """Use `keys` to seal the heads: the one in use makes new seals, all are accepted."""
        self._redis = redis
        self._seconds = retention.audit
        self._keys = keys
        self._keyring = keyring or Keyring(redis, keys)
        self._heads: dict[str, _Head] = {}
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
        who = pseudonyms or {person: await self.pseudonym(person) for person in people}
        recorded = [
            entry for entry in entries if not await self._is_too_much(entry, who[entry.who])
        ]
        await self._chain(
            entries[0].team, [_text(_anonymous(entry, who[entry.who])) for entry in recorded]
        )

    async def pending_entry(self, entry: AuditEntry) -> PendingEntry:
        """Return `entry` in pending form, for the script that makes the change it records."""
        return self.pending(_anonymous(entry, await self.pseudonym(entry.who)))

    def pending(self, entry: AuditEntry) -> PendingEntry:
        """Return `entry`, whose `who` is a pseudonym already, in pending form."""
        return PendingEntry(entry.team, self._pending_key(entry.team), _text(entry))

    async def settle(self, team: str) -> None:
        """Move pending entries into the log. Every `append` does so as well."""
        await self._chain(team, [])

    async def teams(self) -> list[str]:
        """Return the ids of the workspaces that have a log, sorted."""
        teams = set[str]()
        for kind in ("audit", "audit-head"):
            start, cursor = self._redis.key(kind, ""), -1
            while cursor:
                cursor, keys = await self._redis.call("SCAN", max(cursor, 0), "MATCH", f"{start}*")
                teams |= {key.decode().removeprefix(start) for key in keys}
        return sorted(teams)

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
        for waiting in await self._pending(team, -1):  # nobody could move them into the log yet
            number += 1
            yield StoredEntry(_named(waiting, names), number)

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
        if raw and not head.seal and self._keys:
            yield (
                "The log bears no seal: it was changed, or begun without BOT_ENCRYPTION_KEYS. "
                "`bot audit --seal` seals it as it is now."
            )
        elif raw and head.seal and head.sealed_by(team, self._keys) is None:
            yield (
                "The seal cannot be checked here: none of the BOT_ENCRYPTION_KEYS given here made it. "
                "Run this with the keys of all processes of the bot; if none of them fits, the log "
                "was changed. New entries wait until then."
            )

    async def on_old_keys(self) -> list[str]:
        """Return the workspaces whose log is sealed with a key other than the one in use."""
        heads = [(team, await self.head(team)) for team in await self.teams()]
        return [
            team
            for team, head in heads
            if head.sealed_by(team, self._keys) not in (None, self._keyring.in_use)
        ]

    async def without_seal(self) -> list[str]:
        """Return the workspaces whose log has entries and no seal."""
        heads = [(team, await self.head(team)) for team in await self.teams()]
        return [team for team, head in heads if head.count and not head.seal]

    async def reseal(self) -> None:
        """Seal all logs that are sealed with another key with the key in use."""
        for team in await self.on_old_keys():
            raw, head = await self._read_head(team)
            if head.sealed_by(team, self._keys) is not None:
                await self._replace_head(team, raw, self._sealed(team, head))

    async def adopt(self, team: str) -> bool:
        """Seal a log whose seal is missing or cannot be checked, as it is now, by the operator's order.

        Without keys, remove a seal that cannot be checked. What was noticed before is forgotten, but
        entries that do not follow the one before still show. Return whether the log was adopted.
        """
        while True:
            known = await self._checked_head(team)
            head = known.head
            if not head.broken_at and known.is_checkable and known.is_sealed == bool(self._keys):
                return False
            stream = self._keys_of(team)[0]
            oldest = await self._page(team, "-", 1)
            _, newest = await self._newest(team)
            size = await self._redis.call("XLEN", stream)
            anchor = oldest[0][1]["previous"] if oldest else head.hash
            last = _own_hash(newest) if newest else anchor
            count = max(head.count, head.trimmed + size)  # no process sees the log become shorter
            found = AuditHead(
                count=count, hash=last, trimmed=count - size, anchor=anchor, unsealed=count
            )
            if await self._replace_head(team, known.raw, self._sealed(team, found)):
                self._heads.pop(team, None)
                return True

    async def erase(self, team: str) -> None:
        """Delete all entries of a workspace's log. Its head stays, and says that they have gone."""
        while True:
            raw, head = await self._read_head(team)
            keys = [*self._keys_of(team), self._pending_key(team)]
            if not raw and not head.count:
                await self._redis.call("DEL", *keys)
                return
            is_unsealed = not head.seal and bool(head.count) and bool(self._keys)
            gone = head.model_copy(update={"trimmed": head.count, "anchor": head.hash})
            new = gone if is_unsealed else self._sealed(team, gone)
            args = (raw, new.model_dump_json(), self._seconds)
            if await self._redis.script("audit_erase", keys, *args):
                self._heads.pop(team, None)
                return

    async def _replace_head(self, team: str, raw: str, new: AuditHead) -> bool:
        """Store `new` if the head is still `raw`. Return whether it was."""
        key = self._redis.key("audit-head", team)
        args = (raw, new.model_dump_json(), self._seconds)
        return bool(await self._redis.script("compare_and_set", [key], *args))

    def _sealed(self, team: str, head: AuditHead) -> AuditHead:
        return head.sealed(team, self._keys[self._keyring.in_use :])

    async def _chain(self, team: str, texts: Sequence[str]) -> None:
        async with self._turns[team]:  # without it, concurrent writers would retry again and again
            known = self._heads.get(team)
            while True:
                # The head first: what somebody else moves afterwards makes `_add` fail, not repeat it.
                known = known or await self._checked_head(team)
                pending = await self._pending(team, _PENDING_AT_ONCE)
                has_more = len(pending) == _PENDING_AT_ONCE
                every = [text.decode() for text in pending] + ([] if has_more else [*texts])
                if not every:
                    return
                if not known.is_checkable:
                    await self._wait(team, texts)
                    return
                known = await self._add(team, known, every, len(pending))
                if known and not has_more:
                    break
            await self._trim(team)

    async def _pending(self, team: str, count: int) -> list[bytes]:
        """Return the first `count` pending entries, with -1 all."""
        last = count - 1 if count > 0 else -1
        return list(await self._redis.call("LRANGE", self._pending_key(team), 0, last))

    async def _wait(self, team: str, texts: Sequence[str]) -> None:
        """Put entries behind the pending ones, for a process that can check the seal."""
        if texts:
            args = (self._seconds, MOST, *texts)
            await self._redis.script("audit_wait", [self._pending_key(team)], *args)

    async def _add(
        self, team: str, known: _Head, texts: Sequence[str], pending_count: int
    ) -> _Head | None:
        """Append `texts`, the first `pending_count` of which were pending, to the `known` head.

        Return the new head, or None if the head was no longer the known one.
        """
        head = known.head
        parts, last = list[str](), head.hash
        for text in texts:
            own = chained(last, text)
            parts += [last, own, text]
            last = own
        count = head.count + len(texts)
        unsealed = head.unsealed if known.is_sealed else count
        grown = {"count": count, "hash": last, "unsealed": unsealed, "seal": ""}
        new = head.model_copy(update=grown)
        new = self._sealed(team, new) if known.is_sealed else new
        last_id = await self._redis.script(
            "audit_append",
            [*self._keys_of(team), self._pending_key(team)],
            known.raw,
            new.model_dump_json(),
            self._seconds,
            pending_count,
            *parts,
        )
        if not last_id:
            return None
        self._heads[team] = added = _Head(
            new.model_dump_json(), new, True, known.is_sealed, last_id.decode()
        )
        return added

    async def _checked_head(self, team: str) -> _Head:
        """Return the head to append to. If somebody else changed it, it records that from now on."""
        while True:
            raw, head = await self._read_head(team)
            continues = await self._continues_known(team, head)
            newest, _ = await self._newest(team)
            if raw == (await self._read_head(team))[0]:
                break
        is_new = not raw and not head.count
        has_key = head.sealed_by(team, self._keys) is not None
        if head.seal and not has_key:
            return _Head(raw, head, is_checkable=False, is_sealed=True)
        is_sealed = bool(self._keys) and (is_new or has_key)
        known = self._heads.get(team)
        lost_seal = bool(self._keys and known and known.is_sealed and not is_sealed)
        is_changed = not continues or lost_seal or (not raw and head.count > 0)
        is_changed |= bool(self._keys and raw and not head.count)  # no empty log has a head
        if is_changed and not head.broken_at:
            log.error("The audit log of %s was changed, or put back to an older copy", team)
            head = _broken(head)
        return _Head(raw, head, True, is_sealed, newest)

    async def _continues_known(self, team: str, head: AuditHead) -> bool:
        """Return whether the log still has the last entry that this process knows, at its place."""
        known = self._heads.get(team)
        if known is None or not known.head.count:
            return True
        if head.count <= known.head.count:
            return (head.count, head.hash) == (known.head.count, known.head.hash)
        if head.trimmed >= known.head.count:
            return True
        page = await self._page(team, known.last_id or "-", 1)
        return (
            bool(page) and page[0][0] == known.last_id and _own_hash(page[0][1]) == known.head.hash
        )

    async def _newest(self, team: str) -> tuple[str, dict[str, str]]:
        """Return the last entry of the stream, with its id, ("", {}) without one."""
        newest = await self._redis.call("XREVRANGE", self._keys_of(team)[0], "+", "-", "COUNT", 1)
        return _decoded(newest)[0] if newest else ("", {})

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
        _, newest = await self._newest(team)
        count = await self._redis.call("XLEN", stream)
        last = raw or newest["hash"]
        return raw, AuditHead(
            count=count, hash=last, anchor=oldest[0][1]["previous"], unsealed=count
        )

    async def _page(
        self, team: str, after: str, count: int = _PAGE
    ) -> list[tuple[str, dict[str, str]]]:
        """Return up to `count` entries from the stream id `after` on, each with its id and fields."""
        stream = self._keys_of(team)[0]
        return _decoded(await self._redis.call("XRANGE", stream, after, "+", "COUNT", count))

    async def _trim(self, team: str) -> None:
        """Remove expired entries, at most once an hour, and count them in the head."""
        now = time.time()
        if now - self._trimmed_at.get(team, 0.0) < _TRIM_SECONDS:
            return
        self._trimmed_at[team] = now
        await self._redis.call("EXPIRE", self._keys_of(team)[0], self._seconds)
        cutoff = now - self._seconds
        while True:
            known = self._heads[team]
            head = new = known.head
            page = await self._page(team, "-")
            for entry_id, fields in page:
                is_whole = fields["previous"] == new.anchor and fields["hash"] == _own_hash(fields)
                entry = _named(fields["entry"].encode(), {}) if is_whole else None
                # Its own time, which nobody else can change: a forged id makes no entry expire.
                at = entry.at.timestamp() if entry else float(entry_id.split("-")[0]) / 1_000
                if at >= cutoff and head.count - new.trimmed <= MOST:
                    break
                new = new if is_whole or new.broken_at else _broken(new)
                cut = {"trimmed": new.trimmed + 1, "anchor": _own_hash(fields)}
                new, last_id = new.model_copy(update=cut), entry_id
            if new == head:
                return
            new = self._sealed(team, new) if known.is_sealed else new
            args = (known.raw, new.model_dump_json(), self._seconds, last_id)
            if not await self._redis.script("audit_trim", self._keys_of(team), *args):
                return
            self._heads[team] = replace(known, raw=new.model_dump_json(), head=new)

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

    async def pseudonym(self, who: str) -> str:
        """Return the pseudonym of a person."""
        if not who:  # an entry without a person
            return ""
        key = person_key(self._redis, who)
        name = await self._redis.call("GETEX", key, "EX", self._seconds)
        if name is None:
            made = ("SET", key, new_id("person"), "NX", "EX", self._seconds)
            _, name = await self._redis.together(made, ("GET", key))
        return str(name.decode())

    async def _names(self) -> dict[str, str]:
        """Return user ids by pseudonym."""
        start, cursor, people = self._redis.key("audit-person", ""), -1, dict[str, str]()
        while cursor:
            cursor, keys = await self._redis.call("SCAN", max(cursor, 0), "MATCH", f"{start}*")
            names = await self._redis.call("MGET", *keys) if keys else []
            pairs = zip(names, keys, strict=True)
            people |= {n.decode(): k.decode().removeprefix(start) for n, k in pairs if n}
        return people


def _anonymous(entry: AuditEntry, pseudonym: str) -> AuditEntry:
    return entry.model_copy(update={"who": pseudonym})


def _text(entry: AuditEntry) -> str:
    return entry.model_dump_json(exclude_defaults=True)


def _own_hash(fields: Mapping[str, str]) -> str:
    """Return the hash of an entry as stored, whatever hash is stored with it."""
    return chained(fields.get("previous", ""), fields.get("entry", ""))


def _decoded(page: Sequence[Any]) -> list[tuple[str, dict[str, str]]]:
    return [
        (entry_id.decode(), {k.decode(): v.decode("utf-8", "replace") for k, v in fields.items()})
        for entry_id, fields in page
    ]


def _broken(head: AuditHead) -> AuditHead:
    """Return `head`, which records that somebody else changed the log before now."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return head.model_copy(update={"broken_at": now})


def _named(raw: bytes, names: dict[str, str]) -> AuditEntry | None:
    try:
        entry = decode(AuditEntry, raw)
    except CorruptValue:
        return None
    return entry.model_copy(update={"who": names.get(entry.who, entry.who)})
