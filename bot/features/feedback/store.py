"""The stores of ratings and of rated questions: a value for each, and their names by time."""

from __future__ import annotations

from bot.features.feedback.ratings import Feedback, RatedQuestion
from bot.store import Stores
from bot.store.connection import Connection
from bot.store.values import Names, TimedSet, Value, get_many

MOST = 500  # rated questions kept for each workspace; the oldest go first


class Ratings:
    """One rating per person and run."""

    def __init__(self, redis: Connection, seconds: int) -> None:
        self._redis = redis
        self._seconds = seconds
        self._names = TimedSet(redis, redis.key("feedback"), seconds)

    @classmethod
    def of(cls, stores: Stores) -> Ratings:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention.feedback)

    async def save(self, feedback: Feedback) -> None:
        """Store a rating, replacing an earlier one of the same person for the same run."""
        name = f"{feedback.run_id}:{feedback.user}"
        value = Value(self._redis, self._key(name), Feedback, self._seconds)
        adding = self._names.adding(name, feedback.at.timestamp())
        await self._redis.together(value.setting(feedback), *adding)

    async def latest(self, limit: int) -> list[Feedback]:
        """Return up to `limit` ratings, newest first; skip damaged ones."""
        keys = [self._key(name) for name in await self._names.newest(limit)]
        return await get_many(self._redis, Feedback, keys)

    def _key(self, name: str) -> str:
        return self._redis.key("feedback", name)


class RatedQuestions:
    """The questions of answers that were rated bad with a comment, a bounded number per workspace."""

    def __init__(self, redis: Connection, seconds: int) -> None:
        self._redis = redis
        self._seconds = seconds
        self._teams = Names(redis, redis.key("lesson-teams"), seconds)

    @classmethod
    def of(cls, stores: Stores) -> RatedQuestions:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention.feedback)

    async def comment(self, rated: RatedQuestion, user: str, comment: str) -> None:
        """Store what a person wrote about the answer to a question, which may be stored already."""

        def commented(stored: RatedQuestion | None) -> RatedQuestion:
            return (stored or rated).with_comment(user, comment, rated.question)

        names, team = self._names(rated.team), rated.team
        adding = names.adding(rated.name, rated.at.timestamp(), keep_first=True)
        await self._redis.together(*adding, *self._teams.adding(team))
        await self._value(team, rated.name).change(commented)
        for name in await self._redis.call("ZRANGE", names.key, 0, -MOST - 1):
            await self._remove(team, name.decode())

    async def all(self) -> list[RatedQuestion]:
        """Return those of all workspaces, newest first within each; skip damaged ones."""
        keys = [
            self._key(team, name)
            for team in await self._teams.all()
            for name in await self._names(team).newest(MOST)
        ]
        return await get_many(self._redis, RatedQuestion, keys)

    async def forget_message(self, team: str, channel: str, thread: str, ts: str) -> None:
        """Delete the questions that may come from a message that was edited or deleted."""
        for name in await self._names(team).between(float("-inf")):
            if name.startswith(f"{channel}:{thread}:"):
                rated = await self._value(team, name).get_readable()
                if rated is None or rated.is_from(ts):
                    await self._remove(team, name)

    async def _remove(self, team: str, name: str) -> None:
        removing = ("ZREM", self._names(team).key, name)
        await self._redis.together(("DEL", self._key(team, name)), removing)

    def _value(self, team: str, name: str) -> Value[RatedQuestion]:
        return Value(self._redis, self._key(team, name), RatedQuestion, self._seconds)

    def _names(self, team: str) -> TimedSet:
        return TimedSet(self._redis, self._redis.key("lessons", team), self._seconds)

    def _key(self, team: str, name: str) -> str:
        return self._redis.key("lesson", team, name)
