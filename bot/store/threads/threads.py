"""Threads: who asked there, what they build on, and those whose status line may be stale.

Each direct message outside threads has a conversation of its own with the model; an index of the person's recent runs leads to
the exchanges before it. It holds ids only: the texts stay with the requests and runs, and are deleted
with them.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from bot.core.request import Request
from bot.store.connection import Connection, Retention
from bot.store.values import Command, Names, TimedSet

_MOST_RUNS = 50
_FORGOTTEN = "forgotten"
"""The member of the index that stands for the last time at which the person had a memory forgotten."""

_STALE_SECONDS = 3_600
"""How long clearing a status is retried: what Slack refuses for an hour it will keep refusing."""
_STALE_AT_ONCE = 20

_DIRECT_SECONDS = 63 * 86_400  # longer than any budget account of the channel is kept


class Threads:
    """The store of thread participants. An entry expires when its thread is no longer used."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def join(self, thread_key: str, user: str) -> None:
        """Record that the bot takes part in the thread, asked by `user`."""
        await self._redis.together(*self.joining(thread_key, user))

    def joining(self, thread_key: str, user: str) -> list[Command]:
        """Return the commands that do what `join` does."""
        key = self._key(thread_key)
        return Names(self._redis, key, self._retention.thread).adding(user)

    async def join_direct(self, team: str, channel: str, user: str) -> None:
        """Record that `channel` is the direct message of `user`, so that an erase of `user` finds it.

        The record outlives everything that is stored under the channel's id.
        """
        seconds = max(_DIRECT_SECONDS, self._retention.thread)
        await Names(self._redis, self._key(f"{team}:{channel}"), seconds).add([user])

    async def participants(self, thread_key: str) -> frozenset[str]:
        """Return the users who asked something in the thread."""
        members = await self._redis.call("SMEMBERS", self._key(thread_key))
        return frozenset(user.decode() for user in members)

    async def first_notice(self, team: str, channel: str, ts: str) -> bool:
        """Claim the notice for a message that is answered without a run. Return True the first time."""
        key = self._notice_key(team, channel, ts)
        return bool(await self._redis.call("SET", key, "1", "NX", "EX", self._retention.claims))

    async def forget_notice(self, team: str, channel: str, ts: str) -> None:
        """Give back a claim of `first_notice` for a notice that nobody got."""
        await self._redis.call("DEL", self._notice_key(team, channel, ts))

    async def was_noticed(self, team: str, channel: str, ts: str) -> bool:
        """Return whether `first_notice` was called for the message."""
        claim = self._notice_key(team, channel, ts)
        return bool(await self._redis.call("EXISTS", claim, self._redis.nameless_claim(claim)))

    def _notice_key(self, team: str, channel: str, ts: str) -> str:
        return self._redis.key("claim", "notice", team, channel, ts)

    def _key(self, thread_key: str) -> str:
        return self._redis.key("participants", thread_key)


class DirectMessages:
    """The store of recent runs, one sorted set per person by the time of the question."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    def remembering(self, request: Request, run_id: str) -> list[Command]:
        """Return the commands that add the run of a request to the index, for `Lease.write`."""
        key = _recent_key(self._redis, f"{request.team}:{request.user}")
        earlier = earlier_threads_key(self._redis, request.thread_key)
        return [
            ("ZADD", key, request.received_at.timestamp(), run_id),
            ("ZREMRANGEBYRANK", key, 0, -_MOST_RUNS - 1),
            ("EXPIRE", key, self._retention.request),
            ("EXPIRE", earlier, self._retention.thread),
        ]

    async def recent(self, request: Request, seconds: float) -> list[str]:
        """Return the runs of the person's questions since `seconds` before `request`, newest first.

        Questions from before the person had a memory forgotten are left out.
        """
        key = _recent_key(self._redis, f"{request.team}:{request.user}")
        since = request.received_at.timestamp() - seconds
        runs = await TimedSet(self._redis, key, self._retention.request).between(since)
        runs.reverse()
        return runs[: runs.index(_FORGOTTEN)] if _FORGOTTEN in runs else runs

    def building_on(self, thread_key: str, threads: Iterable[str]) -> list[Command]:
        """Return the commands that record whose exchanges a thread was given, for `Lease.write`."""
        key = earlier_threads_key(self._redis, thread_key)
        return Names(self._redis, key, self._retention.thread).adding(*sorted(threads))


class StaleStatuses:
    """Threads whose status line or session may still show a run that has ended, by due time."""

    def __init__(self, redis: Connection) -> None:
        self._redis = redis
        key = redis.key("stale-statuses")
        self._threads = TimedSet(redis, key, 2 * _STALE_SECONDS)  # `after` counts as well

    async def add(self, thread_key: str, *, after: float = 0.0) -> None:
        """Add a thread whose status must be cleared, in `after` seconds at the earliest."""
        await self._threads.add(thread_key, time.time() + after)

    async def due(self) -> list[str]:
        """Return the threads that are due, the oldest first, at most 20 of them."""
        now = time.time()
        return await self._threads.between(now - _STALE_SECONDS, now, most=_STALE_AT_ONCE)

    async def remove(self, thread_key: str) -> None:
        """Remove a thread whose status was cleared."""
        await self._threads.remove(thread_key)

    async def take_turn(self, seconds: float) -> bool:
        """Return whether this process renews the statuses of waiting threads now.

        One process of the deployment does so every `seconds`.
        """
        key = self._redis.key("line-renewed")
        return bool(await self._redis.call("SET", key, "1", "NX", "PX", int(seconds * 1_000)))


def earlier_threads_key(redis: Connection, thread_key: str) -> str:
    """Return the key of the set of threads whose exchanges a thread was given."""
    return redis.key("earlier-threads", thread_key)


def forgetting(redis: Connection, person: str, seconds: int) -> list[Command]:
    """Return the commands after which no exchange of `person` ("team:user") up to now is recent."""
    key = _recent_key(redis, person)
    return [("DEL", key), ("ZADD", key, time.time(), _FORGOTTEN), ("EXPIRE", key, seconds)]


def _recent_key(redis: Connection, person: str) -> str:
    return redis.key("recent-runs", person)
