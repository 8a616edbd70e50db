"""Requests that wait for their run: a list per thread, and the one truth about what is to do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any

from redis.exceptions import ResponseError

from bot.core.errors import CorruptValue
from bot.core.request import Again, Request
from bot.store.connection import Connection, Retention
from bot.store.values import decode, load, set_aside

_ITS_TURN = "turn"
_AT_ONCE = 500  # mailboxes counted in one go, so that Redis serves others in between


def request_key(redis: Connection, request_id: str) -> str:
    """Where a request is kept, until it expires: longer than it waits, so that it can be tried
    again from a button."""
    return redis.key("request", request_id)


def mailbox_keys(redis: Connection, thread_key: str) -> list[str]:
    """The thread's list of request ids, and the set of threads that have one."""
    return [redis.key("mailbox", thread_key), redis.key("threads")]


def run_of_key(redis: Connection, request_id: str) -> str:
    """Where it is kept which run works on a request."""
    return redis.key("run-of", request_id)


def begun_key(redis: Connection, request_id: str) -> str:
    """The attempts to run a request that began since its run's last save point and have not ended."""
    return redis.key("begun", request_id)


def taking(
    redis: Connection, thread_key: str, run_id: str, ids: Sequence[str], seconds: int
) -> list[tuple[Any, ...]]:
    """The commands that make waiting requests part of a run, for `Lease.write`."""
    mailbox, _ = mailbox_keys(redis, thread_key)
    removed = [("LREM", mailbox, 1, each) for each in ids]
    named = [("SET", run_of_key(redis, each), run_id, "EX", seconds) for each in ids]
    return [*removed, *named]


def returning(
    redis: Connection, thread_key: str, ids: Sequence[str], seconds: int
) -> list[tuple[Any, ...]]:
    """The commands that let the requests of a run wait again, in their order, for `Lease.write`."""
    if not ids:
        return []
    mailbox, threads = mailbox_keys(redis, thread_key)
    return [
        ("DEL", *(run_of_key(redis, each) for each in ids)),
        *(("INSERT", mailbox, request_key(redis, ""), each) for each in ids),
        ("EXPIRE", mailbox, seconds),
        ("SADD", threads, thread_key),
        ("EXPIRE", threads, seconds),
    ]


def event_claim(redis: Connection, team: str, event_id: str) -> str:
    """Where it is kept which request an event asked."""
    return redis.key("claim", "event", team, event_id)


def message_claim(redis: Connection, team: str, channel: str, ts: str) -> str:
    """Where it is kept which request a message asked."""
    return redis.key("claim", "message", team, channel, ts)


def parked_key(redis: Connection, thread_key: str) -> str:
    """Set while the thread's head waits, for a person or its turn, and needs no ticket."""
    return redis.key("parked", thread_key)


def _submitted_key(redis: Connection, request: Request) -> str:
    return redis.key("submitted", request.team, request.channel, request.ts)


class Seen(IntEnum):
    """How an event meets what was taken in before; the numbers are those of the script."""

    NEW = 0
    OTHER_EVENT = 1
    """Slack sends two events for a mention."""
    REPEATED = 2


class Mailbox:
    """Per thread in the order of the messages; the head stays until its run is delivered."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def submit(self, request: Request, *, event_id: str) -> bool:
        """Take the request in, all or nothing (reliability 1).

        False when this event, or this message, was taken in before as another request.
        """
        keys = [
            event_claim(self._redis, request.team, event_id),
            message_claim(self._redis, request.team, request.channel, request.ts),
            request_key(self._redis, request.id),
            *mailbox_keys(self._redis, request.thread_key),
        ]
        new = await self._redis.script(
            "submit",
            keys,
            *(request.id, request.model_dump_json(), request.thread_key),
            *(self._retention.claims, self._retention.request, request_key(self._redis, "")),
        )
        return bool(new)

    async def note_submitted(self, request: Request) -> None:
        """Keep that all was done that taking in the message of `request` needs."""
        key = _submitted_key(self._redis, request)
        await self._redis.call("SET", key, 1, "EX", self._retention.claims)

    async def seen(self, request: Request, event_id: str) -> Seen:
        """Return whether the message of `request` was taken in, with nothing left to do about it, and
        then whether this very event comes again; keep that it came."""
        keys = [
            _submitted_key(self._redis, request),
            event_claim(self._redis, request.team, event_id),
        ]
        return Seen(await self._redis.script("seen_again", keys, self._retention.claims))

    async def head(self, thread_key: str) -> Request | None:
        """The oldest request of the thread; it stays where it is.

        Raises CorruptValue for one that cannot be read; it is set aside, and the next call gives
        the one behind it.
        """
        keys = mailbox_keys(self._redis, thread_key)
        found = await self._redis.script("head", keys, request_key(self._redis, ""), thread_key)
        if not found:
            return None
        request_id, raw = found
        try:
            return decode(Request, raw)
        except CorruptValue:
            await set_aside(self._redis, request_key(self._redis, request_id.decode()))
            raise

    async def get(self, request_id: str) -> Request | None:
        """A request by its id, waiting or not, None when it has expired.

        Raises CorruptValue when it cannot be read.
        """
        return await load(self._redis, request_key(self._redis, request_id), Request)

    async def find(self, team: str, channel: str, ts: str) -> str | None:
        """The id of the request that the message asked, None when it asked none."""
        raw = await self._redis.call("GET", message_claim(self._redis, team, channel, ts))
        return raw.decode() if raw else None

    async def was_taken(self, team: str, channel: str, ts: str) -> bool:
        """Whether the message asked something, be it erased since."""
        claim = message_claim(self._redis, team, channel, ts)
        return bool(await self._redis.call("EXISTS", claim, self._redis.nameless_claim(claim)))

    async def repetitions(self, team: str, request_id: str) -> list[Request]:
        """What was asked with the buttons under the answer to a request."""
        keys = [event_claim(self._redis, team, how.event_id(request_id)) for how in Again]
        found = await self._redis.call("MGET", *keys)
        return await self.kept([each.decode() for each in found if each])

    async def claim_again(self, request: Request, ts: str) -> None:
        """From now on `find` gives `request` for the message `ts`."""
        key = message_claim(self._redis, request.team, request.channel, ts)
        await self._redis.call("SET", key, request.id, "EX", self._retention.claims)

    async def rewrite(self, request: Request) -> None:
        """Replace what is kept of a request, if it is kept still."""
        key = request_key(self._redis, request.id)
        text, seconds = request.model_dump_json(), self._retention.request
        await self._redis.call("SET", key, text, "XX", "EX", seconds)

    async def put_back(self, request: Request) -> None:
        """Have a request that was answered before wait again in its place, as it is given, if it is kept
        still. Safe to repeat until it is its turn."""
        keys = [
            *mailbox_keys(self._redis, request.thread_key),
            request_key(self._redis, request.id),
            run_of_key(self._redis, request.id),
        ]
        text, prefix = request.model_dump_json(), request_key(self._redis, "")
        seconds = self._retention.request
        await self._redis.script(
            "put_back", keys, request.id, text, request.thread_key, seconds, prefix
        )

    async def pop(self, thread_key: str, request_id: str) -> None:
        """Take the request off if it is the head; harmless when it is not."""
        keys = mailbox_keys(self._redis, thread_key)
        await self._redis.script("pop", keys, request_id, thread_key)

    async def all_of(self, thread_key: str) -> list[Request]:
        """The requests of the thread in their order, the one that runs first; without those that
        cannot be read."""
        ids = await self._redis.call("LRANGE", mailbox_keys(self._redis, thread_key)[0], 0, -1)
        return await self.kept([each.decode() for each in ids])

    async def kept(self, ids: Sequence[str]) -> list[Request]:
        """The requests of these ids, without those that have expired or cannot be read."""
        keys = [request_key(self._redis, each) for each in ids]
        found = await self._redis.call("MGET", *keys) if keys else []
        requests = []
        for raw in filter(None, found):
            with suppress(CorruptValue):
                requests.append(decode(Request, raw))
        return requests

    async def behind(self, request: Request, most: int) -> list[Request]:
        """The first `most` requests that wait behind `request` while it is the head, in their order,
        up to one that cannot be read or is to be stopped."""
        mailbox = mailbox_keys(self._redis, request.thread_key)[0]
        head, *ids = await self._redis.call("LRANGE", mailbox, 0, most) or [b""]
        if head.decode() != request.id or not ids:
            return []
        names = [each.decode() for each in ids]
        keys = [request_key(self._redis, each) for each in names]
        stops = [self._redis.key("cancelled", each) for each in names]
        found = await self._redis.call("MGET", *keys, *stops)
        waiting = []
        for raw, stop in zip(found[: len(ids)], found[len(ids) :], strict=True):
            try:
                waiting.append(decode(Request, raw if raw and not stop else b""))
            except CorruptValue:
                break
        return waiting

    async def gone(self, requests: Sequence[Request]) -> list[Request]:
        """Those that were taken back or edited since, or have expired."""
        left = {each.id for each in await self.kept([each.id for each in requests]) if each.counts}
        return [each for each in requests if each.id not in left]

    async def waiting(self, thread_key: str) -> int:
        """How many requests the thread has, the one that runs included."""
        return int(await self._redis.call("LLEN", mailbox_keys(self._redis, thread_key)[0]))

    async def waiting_anywhere(self) -> int:
        """How many requests are in all mailboxes together, at about this time."""
        keys = [mailbox_keys(self._redis, each)[0] for each in await self.threads()]
        found = 0
        for start in range(0, len(keys), _AT_ONCE):
            lengths = [("LLEN", key) for key in keys[start : start + _AT_ONCE]]
            found += sum(map(int, await self._redis.together(*lengths)))
        return found

    async def threads(self) -> list[str]:
        """Keys of the threads that have requests."""
        return [
            key.decode() for key in await self._redis.call("SMEMBERS", self._redis.key("threads"))
        ]

    async def is_parked(self, thread_key: str) -> bool:
        """Whether the thread's head waits, for a person or its turn."""
        return bool(await self._redis.call("EXISTS", parked_key(self._redis, thread_key)))

    async def rest(self, request: Request, seconds: float) -> bool:
        """Have the thread wait for the turn of its head, `request`, at most so long; False when that
        is to be stopped, for which it has to run."""
        keys = [
            self._redis.key("cancelled", request.id),
            parked_key(self._redis, request.thread_key),
        ]
        return bool(await self._redis.script("rest", keys, _ITS_TURN, math.ceil(seconds)))

    async def is_waiting_for_people(self, thread_key: str) -> bool:
        """Return whether the thread's head waits for a person, and not for its turn."""
        why = await self._redis.call("GET", parked_key(self._redis, thread_key))
        return why is not None and why != _ITS_TURN.encode()

    async def end_rest(self, thread_key: str) -> None:
        """Its turn has come; bring it tickets. One that waits for a person goes on waiting."""
        await self._redis.script("unlock", [parked_key(self._redis, thread_key)], _ITS_TURN)

    async def forget_if_empty(self, thread_key: str) -> bool:
        """Take the thread off `threads` if nothing waits there any more."""
        return bool(
            await self._redis.script(
                "forget_if_empty", mailbox_keys(self._redis, thread_key), thread_key
            )
        )

    async def deaths(self, request_id: str) -> int:
        """Return how many workers died under the request since its run's last save point: attempts
        that began and never ended."""
        try:
            return int(await self._redis.call("SCARD", begun_key(self._redis, request_id)))
        except ResponseError:  # not a set: the next attempt sets it aside
            return 0

    async def begin_attempt(self, request_id: str, attempt: str) -> int:
        """Keep that an attempt to run the request begins. Return the `deaths` before it."""
        key = begun_key(self._redis, request_id)
        count = ("SADD", key, attempt), ("SCARD", key), ("EXPIRE", key, self._retention.request)
        try:
            _, begun, _ = await self._redis.together(*count)
        except ResponseError:  # not a set
            await set_aside(self._redis, key)
            _, begun, _ = await self._redis.together(*count)
        return int(begun) - 1

    async def end_attempt(self, request_id: str, attempt: str) -> None:
        """Keep that an attempt ended, whatever came of it."""
        with suppress(ResponseError):  # not a set: the next attempt sets it aside
            await self._redis.call("SREM", begun_key(self._redis, request_id), attempt)

    async def count_failure(self, request_id: str) -> int:
        """Count one more attempt that raised an error; return how many did."""
        key = self._redis.key("attempts", request_id)
        count = ("INCR", key), ("EXPIRE", key, self._retention.request)
        try:
            failures, _ = await self._redis.together(*count)
        except ResponseError:  # not a number
            await set_aside(self._redis, key)
            failures, _ = await self._redis.together(*count)
        return int(failures)
