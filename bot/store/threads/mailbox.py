"""Mailboxes: per thread, the ordered list of its requests. Workers take work from nowhere else."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from enum import IntEnum
from typing import Any

from redis.exceptions import ResponseError

from bot.core.errors import CorruptValue
from bot.core.request import RepeatReason, Request
from bot.store.connection import Connection, Retention
from bot.store.values import Command, Value, decode, get_many, set_aside

_DEFERRED = "turn"
_AT_ONCE = 500  # mailboxes counted in one transaction, so that Redis can serve others in between


def request_key(redis: Connection, request_id: str) -> str:
    """Return the key of a request. It outlives the wait, so that a button can retry the request."""
    return redis.key("request", request_id)


def mailbox_keys(redis: Connection, thread_key: str) -> list[str]:
    """Return two keys: the thread's list of request ids, and the set of threads with such a list."""
    return [redis.key("mailbox", thread_key), redis.key("threads")]


def run_of_key(redis: Connection, request_id: str) -> str:
    """Return the key that has the id of a request's run."""
    return redis.key("run-of", request_id)


def begun_key(redis: Connection, request_id: str) -> str:
    """Return the key of the attempts begun since the run's last save point that have not ended."""
    return redis.key("begun", request_id)


def taking(
    redis: Connection, thread_key: str, run_id: str, ids: Sequence[str], seconds: int
) -> list[tuple[Any, ...]]:
    """Return the commands that make waiting requests part of a run, for `Lease.write`."""
    if not ids:
        return []
    mailbox, _ = mailbox_keys(redis, thread_key)
    removed = [("LREM", mailbox, 1, request_id) for request_id in ids]
    named = [("SET", run_of_key(redis, request_id), run_id, "EX", seconds) for request_id in ids]
    return [*removed, *named]


def returning(
    redis: Connection, thread_key: str, ids: Sequence[str], seconds: int
) -> list[tuple[Any, ...]]:
    """Return the commands that put requests of a run back in the mailbox, for `Lease.write`."""
    if not ids:
        return []
    mailbox, threads = mailbox_keys(redis, thread_key)
    return [
        ("DEL", *(run_of_key(redis, request_id) for request_id in ids)),
        *(("INSERT", mailbox, request_key(redis, ""), request_id) for request_id in ids),
        ("EXPIRE", mailbox, seconds),
        ("SADD", threads, thread_key),
        ("EXPIRE", threads, seconds),
    ]


def event_claim(redis: Connection, team: str, event_id: str) -> str:
    """Return the key that has the id of the request that an event caused."""
    return redis.key("claim", "event", team, event_id)


def message_claim(redis: Connection, team: str, channel: str, ts: str) -> str:
    """Return the key that has the id of the request that a message asked."""
    return redis.key("claim", "message", team, channel, ts)


def parked_key(redis: Connection, thread_key: str) -> str:
    """Return the key that is set while the thread's head is parked and needs no ticket.

    The head then waits for a person's decision or for its turn.
    """
    return redis.key("parked", thread_key)


def _submitted_key(redis: Connection, request: Request) -> str:
    return redis.key("submitted", request.team, request.channel, request.claim)


class Seen(IntEnum):
    """Whether an event is new. The numbers are those of the script `seen_again.lua`."""

    NEW = 0
    OTHER_EVENT = 1
    """Slack sends two events for a mention."""
    REPEATED = 2


class Mailbox:
    """The store of requests. A mailbox is in the order of the messages.

    The head of a mailbox stays there until its run is delivered.
    """

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def submit(self, request: Request, *, event_id: str) -> bool:
        """Store a request and add it to its mailbox, atomically.

        Return False when the event or the message has already caused another request.
        """
        keys = [
            event_claim(self._redis, request.team, event_id),
            message_claim(self._redis, request.team, request.channel, request.claim),
            request_key(self._redis, request.id),
            *mailbox_keys(self._redis, request.thread_key),
        ]
        new = await self._redis.script(
            "submit",
            keys,
            request.id,
            request.model_dump_json(),
            request.thread_key,
            self._retention.claims,
            self._retention.request,
            request_key(self._redis, ""),
        )
        return bool(new)

    async def note_submitted(self, request: Request, *also: Command) -> None:
        """Run the commands `also`, and record that the message of `request` needs no more work at
        intake."""
        key = _submitted_key(self._redis, request)
        await self._redis.together(*also, ("SET", key, 1, "EX", self._retention.claims))

    async def has_caused(self, team: str, event_id: str) -> bool:
        """Return whether an event has caused a request already."""
        return bool(await self._redis.call("EXISTS", event_claim(self._redis, team, event_id)))

    async def seen(self, request: Request, event_id: str) -> Seen:
        """Return whether the message of `request` was fully submitted, and by which event.

        Also record the event.
        """
        keys = [
            _submitted_key(self._redis, request),
            event_claim(self._redis, request.team, event_id),
        ]
        return Seen(await self._redis.script("seen_again", keys, self._retention.claims))

    async def head(self, thread_key: str) -> Request | None:
        """Return the oldest request of the thread, None without one. The request stays there.

        Raises CorruptValue for a request that cannot be read; it is set aside, and the next call
        returns the one behind it.
        """
        keys = mailbox_keys(self._redis, thread_key)
        head = await self._redis.script("head", keys, request_key(self._redis, ""), thread_key)
        if not head:
            return None
        request_id, raw = head
        try:
            return decode(Request, raw)
        except CorruptValue:
            await set_aside(self._redis, request_key(self._redis, request_id.decode()))
            raise

    async def get(self, request_id: str) -> Request | None:
        """Return a request by id, None when it has expired. Raises CorruptValue for a damaged one."""
        return await self._value(request_id).get()

    async def find(self, team: str, channel: str, ts: str) -> str | None:
        """Return the id of the request that a message asked, None without one."""
        raw = await self._redis.call("GET", message_claim(self._redis, team, channel, ts))
        return raw.decode() if raw else None

    async def was_taken(self, team: str, channel: str, ts: str) -> bool:
        """Return whether a message asked something, even if the request has been erased."""
        claim = message_claim(self._redis, team, channel, ts)
        return bool(await self._redis.call("EXISTS", claim, self._redis.nameless_claim(claim)))

    async def repetitions(self, team: str, request_id: str) -> list[Request]:
        """Return the requests made with the buttons under the answer to a request."""
        keys = [event_claim(self._redis, team, how.event_id(request_id)) for how in RepeatReason]
        ids = await self._redis.call("MGET", *keys)
        return await self.get_many([request_id.decode() for request_id in ids if request_id])

    async def claim_again(self, request: Request, ts: str) -> None:
        """Make `find` return `request` for the message `ts`."""
        key = message_claim(self._redis, request.team, request.channel, ts)
        await self._redis.call("SET", key, request.id, "EX", self._retention.claims)

    async def claim_for_nothing(self, team: str, channel: str, ts: str) -> None:
        """Claim a message that has asked nothing yet, so that `submit` refuses it from now on."""
        key = message_claim(self._redis, team, channel, ts)
        await self._redis.call("SET", key, "", "NX", "EX", self._retention.claims)

    async def rewrite(self, request: Request) -> None:
        """Replace a stored request, if it has not expired."""
        await self._redis.call(*self._value(request.id).setting(request), "XX")

    async def keep_private(self, request: Request) -> Request:
        """Make a stored request private, and return it. Other changes since are kept."""
        private = {"private": True, "kept_private": True}
        stored = await self._value(request.id).change(
            lambda before: before and before.model_copy(update=private)
        )
        return stored or request.model_copy(update=private)

    async def put_back(self, request: Request) -> None:
        """Put an answered request back in its place in the mailbox, if it has not expired.

        Safe to repeat until the request's turn comes.
        """
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
        """Remove a request from the mailbox if it is the head; otherwise do nothing."""
        keys = mailbox_keys(self._redis, thread_key)
        await self._redis.script("pop", keys, request_id, thread_key)

    async def all_of(self, thread_key: str) -> list[Request]:
        """Return the requests of the thread in order, the running one first; skip damaged ones."""
        ids = await self._redis.call("LRANGE", mailbox_keys(self._redis, thread_key)[0], 0, -1)
        return await self.get_many([request_id.decode() for request_id in ids])

    async def get_many(self, ids: Sequence[str]) -> list[Request]:
        """Return the requests with these ids that have not expired and can be read."""
        keys = [request_key(self._redis, request_id) for request_id in ids]
        return await get_many(self._redis, Request, keys)

    def counting(self, thread_key: str) -> Command:
        """Return the command that counts the requests of a thread, for `Lease.write`."""
        return "LLEN", mailbox_keys(self._redis, thread_key)[0]

    async def waiting_behind(self, request: Request, most: int) -> list[Request]:
        """Return up to `most` requests that wait behind `request`, in order, if it is the head.

        The list ends before a request that cannot be read or that somebody wants stopped.
        """
        mailbox = mailbox_keys(self._redis, request.thread_key)[0]
        head, *ids = await self._redis.call("LRANGE", mailbox, 0, most) or [b""]
        if head.decode() != request.id or not ids:
            return []
        names = [request_id.decode() for request_id in ids]
        keys = [request_key(self._redis, name) for name in names]
        stops = [self._redis.key("cancelled", name) for name in names]
        values = await self._redis.call("MGET", *keys, *stops)
        waiting = []
        for raw, stop in zip(values[: len(ids)], values[len(ids) :], strict=True):
            try:
                waiting.append(decode(Request, raw if raw and not stop else b""))
            except CorruptValue:
                break
        return waiting

    async def obsolete(self, requests: Sequence[Request]) -> list[Request]:
        """Return the requests that were withdrawn or edited since, or have expired."""
        current = {
            request.id
            for request in await self.get_many([request.id for request in requests])
            if request.is_current
        }
        return [request for request in requests if request.id not in current]

    async def waiting(self, thread_key: str) -> int:
        """Return how many requests the thread has, including the running one."""
        return int(await self._redis.call("LLEN", mailbox_keys(self._redis, thread_key)[0]))

    async def waiting_anywhere(self) -> int:
        """Return roughly how many requests all mailboxes have now."""
        keys = [mailbox_keys(self._redis, thread)[0] for thread in await self.threads()]
        total = 0
        for start in range(0, len(keys), _AT_ONCE):
            lengths = [("LLEN", key) for key in keys[start : start + _AT_ONCE]]
            total += sum(map(int, await self._redis.together(*lengths)))
        return total

    async def threads(self) -> list[str]:
        """Return the keys of the threads that have requests."""
        return [
            key.decode() for key in await self._redis.call("SMEMBERS", self._redis.key("threads"))
        ]

    async def is_parked(self, thread_key: str) -> bool:
        """Return whether the thread's head waits for a person or for its turn."""
        return bool(await self._redis.call("EXISTS", parked_key(self._redis, thread_key)))

    async def defer(self, request: Request, seconds: float) -> bool:
        """Park the thread for at most `seconds` until the turn of its head, `request`.

        Return False, and do not park it, when somebody wants the request stopped: that needs a run.
        """
        keys = [
            self._redis.key("cancelled", request.id),
            parked_key(self._redis, request.thread_key),
        ]
        return bool(await self._redis.script("defer", keys, _DEFERRED, math.ceil(seconds)))

    async def keep(self, thread_key: str) -> None:
        """Keep the requests of a thread, which wait, as long from now on as when they were submitted."""
        mailbox, threads = mailbox_keys(self._redis, thread_key)
        persisted = [mailbox, threads, *await self._request_keys(mailbox)]
        renewed = [("EXPIRE", key, self._retention.request) for key in persisted]
        claims = [
            (
                "EXPIRE",
                message_claim(self._redis, request.team, request.channel, ts),
                self._retention.claims,
            )
            for request in await self.all_of(thread_key)
            for ts in {request.claim, request.message or request.claim}
        ]
        await self._redis.together(*renewed, *claims)

    async def _request_keys(self, mailbox: str) -> list[str]:
        ids = await self._redis.call("LRANGE", mailbox, 0, -1)
        return [request_key(self._redis, request_id.decode()) for request_id in ids]

    async def unpark(self, thread_key: str) -> None:
        """Unpark a thread, whatever it waits for; its run asks again for what it needs."""
        await self._redis.call("DEL", parked_key(self._redis, thread_key))

    async def is_waiting_for_people(self, thread_key: str) -> bool:
        """Return whether the thread's head waits for a person, and not for its turn."""
        why = await self._redis.call("GET", parked_key(self._redis, thread_key))
        return why is not None and why != _DEFERRED.encode()

    async def undefer(self, thread_key: str) -> None:
        """Unpark a thread whose turn has come; the caller must queue a ticket for it.

        A thread that waits for a person stays parked.
        """
        await self._redis.script("unlock", [parked_key(self._redis, thread_key)], _DEFERRED)

    async def forget_if_empty(self, thread_key: str) -> bool:
        """Remove the thread from `threads` if its mailbox is empty. Return whether it was removed."""
        return bool(
            await self._redis.script(
                "forget_if_empty", mailbox_keys(self._redis, thread_key), thread_key
            )
        )

    async def deaths(self, request_id: str) -> int:
        """Return how many workers died while running the request since its run's last save point."""
        try:
            return int(await self._redis.call("SCARD", begun_key(self._redis, request_id)))
        except ResponseError:  # not a set: the next attempt sets it aside
            return 0

    async def begin_attempt(self, request_id: str, attempt: str) -> int:
        """Record that an attempt to run the request started. Return the `deaths` before it."""
        key = begun_key(self._redis, request_id)
        count = ("SADD", key, attempt), ("SCARD", key), ("EXPIRE", key, self._retention.request)
        try:
            _, begun, _ = await self._redis.together(*count)
        except ResponseError:  # not a set
            await set_aside(self._redis, key)
            _, begun, _ = await self._redis.together(*count)
        return int(begun) - 1

    async def end_attempt(self, request_id: str, attempt: str) -> None:
        """Record the end of an attempt, successful or not."""
        with suppress(ResponseError):  # not a set: the next attempt sets it aside
            await self._redis.call("SREM", begun_key(self._redis, request_id), attempt)

    async def count_failure(self, request_id: str) -> int:
        """Count an attempt that raised an error. Return the count."""
        key = self._redis.key("attempts", request_id)
        count = ("INCR", key), ("EXPIRE", key, self._retention.request)
        try:
            failures, _ = await self._redis.together(*count)
        except ResponseError:  # not a number
            await set_aside(self._redis, key)
            failures, _ = await self._redis.together(*count)
        return int(failures)

    def _value(self, request_id: str) -> Value[Request]:
        key = request_key(self._redis, request_id)
        return Value(self._redis, key, Request, self._retention.request)
