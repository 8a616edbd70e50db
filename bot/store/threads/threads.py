"""Threads that the bot takes part in, and the people who asked it something there."""

from __future__ import annotations

from bot.store.connection import Connection, Retention

_DIRECT_SECONDS = 63 * 86_400  # longer than any budget account of the channel is kept


class Threads:
    """The store of thread participants. An entry expires when its thread is no longer used."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._retention = retention

    async def join(self, thread_key: str, user: str) -> None:
        """Record that the bot takes part in the thread, asked by `user`."""
        key = self._key(thread_key)
        await self._redis.call("SADD", key, user)
        await self._redis.call("EXPIRE", key, self._retention.thread)

    async def join_direct(self, team: str, channel: str, user: str) -> None:
        """Record that `channel` is the direct message of `user`, so that an erase of `user` finds it.

        The record outlives everything that is stored under the channel's id.
        """
        key = self._key(f"{team}:{channel}")
        seconds = max(_DIRECT_SECONDS, self._retention.thread)
        await self._redis.together(("SADD", key, user), ("EXPIRE", key, seconds))

    async def participants(self, thread_key: str) -> frozenset[str]:
        """Return the users who asked something in the thread."""
        members = await self._redis.call("SMEMBERS", self._key(thread_key))
        return frozenset(user.decode() for user in members)

    async def first_notice(self, team: str, channel: str, ts: str) -> bool:
        """Claim the notice for a message that is answered without a run. Return True the first time."""
        key = self._notice_key(team, channel, ts)
        return bool(await self._redis.call("SET", key, "1", "NX", "EX", self._retention.claims))

    async def was_noticed(self, team: str, channel: str, ts: str) -> bool:
        """Return whether `first_notice` was called for the message."""
        claim = self._notice_key(team, channel, ts)
        return bool(await self._redis.call("EXISTS", claim, self._redis.nameless_claim(claim)))

    def _notice_key(self, team: str, channel: str, ts: str) -> str:
        return self._redis.key("claim", "notice", team, channel, ts)

    def _key(self, thread_key: str) -> str:
        return self._redis.key("participants", thread_key)
