"""The audit log: one stream a workspace, only ever added to, each entry bound to the one before.

People stand in it under pseudonyms, so that erasing somebody does not rewrite it: then nobody knows
any more whose they were.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass

from bot.core.audit import AuditEntry, AuditKind, chained
from bot.core.errors import CorruptValue
from bot.core.ids import new_id
from bot.store.connection import Connection, Retention
from bot.store.values import decode

MOST = 1_000_000  # entries of a workspace
MOST_REFUSALS = 100  # of one person in an hour; more say nothing new, and would push out the rest
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Kept:
    """An entry as it is kept; None when it cannot be read. `whole` is False where the log does not
    go on from the entry before: something was changed or taken out."""

    entry: AuditEntry | None
    whole: bool


@dataclass(frozen=True, slots=True)
class Beside:
    """An entry that a script keeps in the same step as what it tells of: it appends `text` to the
    list `key`, from where it comes into the log (`AuditLog.settle`), whoever is killed meanwhile."""

    team: str
    key: str
    text: str


class AuditLog:
    """Raises StoreUnavailable: what cannot be put on record is not done."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.audit
        self._heads: dict[str, str] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def append(self, entries: Sequence[AuditEntry], *, of_known: bool = False) -> None:
        """Keep entries of one workspace, in their order. Those `of_known` people make nobody known
        again who was erased meanwhile."""
        if not entries:
            return
        people = {entry.who for entry in entries}
        who = {each: await self._pseudonym(each, new=not of_known) for each in people}
        kept = [each for each in entries if not await self._is_too_much(each, who[each.who])]
        await self._chain(entries[0].team, [_text(each, who[each.who]) for each in kept])

    async def beside(self, entry: AuditEntry) -> Beside:
        """For a script that does what `entry` tells of."""
        text = _text(entry, await self._pseudonym(entry.who))
        return Beside(entry.team, self._beside(entry.team), text)

    async def settle(self, team: str) -> None:
        """Bring into the log what scripts have put beside it. Every `append` does as well."""
        await self._chain(team, [])

    async def teams(self) -> list[str]:
        """The workspaces that have a log."""
        start, cursor, found = self._redis.key("audit", ""), -1, set[str]()
        while cursor:
            cursor, keys = await self._redis.call("SCAN", max(cursor, 0), "MATCH", f"{start}*")
            found |= {key.decode().removeprefix(start) for key in keys}
        return sorted(found)

    async def read(self, team: str) -> AsyncGenerator[Kept]:
        """A workspace's log, oldest first, with people's ids where they are still known."""
        await self.settle(team)
        names, last, after = await self._names(), None, "-"
        while True:
            page = await self._redis.call(
                "XRANGE", self._redis.key("audit", team), after, "+", "COUNT", _PAGE
            )
            for entry_id, fields in page:
                after = f"({entry_id.decode()}"
                text, previous = fields[b"entry"].decode(), fields[b"previous"].decode()
                own = chained(previous, text)
                whole = own == fields[b"hash"].decode() and last in (None, previous)
                last = own
                yield Kept(_named(fields[b"entry"], names), whole)
            if len(page) < _PAGE:
                return

    async def _chain(self, team: str, texts: Sequence[str]) -> None:
        async with self._turns[team]:  # or all that write at once would try again and again
            while True:
                head = self._heads.get(team, "")  # of before what is read next, which follows on it
                beside = await self._redis.call("LRANGE", self._beside(team), 0, -1)
                every = [*(each.decode() for each in beside), *texts]
                if not every or await self._add(team, head, every, len(beside)):
                    return

    async def _add(self, team: str, head: str, texts: Sequence[str], beside: int) -> bool:
        """Keep `texts`, the first `beside` of which stood beside the log; False when others have
        written since `head`."""
        pairs, before = list[str](), head
        for text in texts:
            before = chained(before, text)
            pairs += [before, text]
        oldest = int((time.time() - self._seconds) * 1000)
        keys = [
            self._redis.key("audit", team),
            self._redis.key("audit-head", team),
            self._beside(team),
        ]
        now = await self._redis.script(
            "audit_append", keys, head, self._seconds, MOST, f"{oldest}-0", beside, *pairs
        )
        self._heads[team] = now.decode() or before
        return not now

    async def _is_too_much(self, entry: AuditEntry, who: str) -> bool:
        if entry.kind is not AuditKind.REFUSED:
            return False
        key = self._redis.key("audit-refusals", entry.team, who)
        _, count = await self._redis.together(("SET", key, 0, "NX", "EX", 3_600), ("INCR", key))
        return int(count) > MOST_REFUSALS

    def _beside(self, team: str) -> str:
        return self._redis.key("audit-beside", team)

    async def _pseudonym(self, who: str, *, new: bool = True) -> str:
        """That of a person: unless it is to be `new`, one that is kept nowhere if they have none."""
        if not who:  # nobody
            return ""
        key, fresh = self._redis.key("audit-person", who), new_id("person")
        made = [("SET", key, fresh, "NX", "EX", self._seconds)] if new else []
        *_, name = await self._redis.together(*made, ("GETEX", key, "EX", self._seconds))
        return str(name.decode()) if name else fresh

    async def _names(self) -> dict[str, str]:
        """Who is behind each pseudonym."""
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
