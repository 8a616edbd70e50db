"""Lessons from feedback: a key for each lesson, and an index by time for each workspace."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from bot.core.errors import CorruptValue
from bot.core.lessons import Lesson
from bot.store.connection import Connection, Retention
from bot.store.values import decode

MOST = 500  # lessons kept for each workspace; the oldest go first

Change = Callable[[Lesson], Lesson]
"""Returns the changed lesson. May be called again when another process changed it meanwhile."""


class LessonStore:
    """The store of lessons. A lesson that was deleted is never stored again by a change to it."""

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.feedback

    async def add(self, lesson: Lesson) -> None:
        """Store a new lesson. An existing one of the same request stays as it is."""
        index, at = self._index(lesson.team), lesson.at.timestamp()
        teams = self._redis.key("lesson-teams")
        await self._redis.together(
            ("SET", self._key(lesson), lesson.model_dump_json(), "NX", "EX", self._seconds),
            ("ZADD", index, "NX", at, lesson.name),
            ("ZREMRANGEBYSCORE", index, "-inf", at - self._seconds),
            ("EXPIRE", index, self._seconds),
            ("SADD", teams, lesson.team),
            ("EXPIRE", teams, self._seconds),
        )
        names = await self._redis.call("ZRANGE", index, 0, -MOST - 1)
        for name in names:
            await self._remove(lesson.team, name.decode())

    async def change(self, team: str, name: str, change: Change) -> Lesson | None:
        """Change a lesson and keep it from now on as long as a new one; None when it is gone."""
        key = self._redis.key("lesson", team, name)
        while raw := await self._redis.call("GET", key):
            changed = change(decode(Lesson, raw))
            new = changed.model_dump_json()
            if await self._redis.script("compare_and_set", [key], raw, new, self._seconds):
                return changed
        return None

    async def get(self, team: str, name: str) -> Lesson | None:
        """Return a lesson by its name; None when it is gone. Raises CorruptValue."""
        raw = await self._redis.call("GET", self._redis.key("lesson", team, name))
        return decode(Lesson, raw) if raw else None

    async def latest(self, team: str, limit: int = MOST) -> list[Lesson]:
        """Return up to `limit` lessons of a workspace, newest first; skip damaged ones."""
        names = await self._redis.call("ZREVRANGE", self._index(team), 0, limit - 1)
        keys = [self._redis.key("lesson", team, name.decode()) for name in names]
        found = []
        for raw in filter(None, await self._redis.call("MGET", *keys) if keys else ()):
            with suppress(CorruptValue):
                found.append(decode(Lesson, raw))
        return found

    async def all(self) -> list[Lesson]:
        """Return the lessons of all workspaces, newest first within each."""
        teams = await self._redis.call("SMEMBERS", self._redis.key("lesson-teams"))
        return [each for team in sorted(teams) for each in await self.latest(team.decode())]

    async def remove(self, lesson: Lesson) -> None:
        """Delete a lesson."""
        await self._remove(lesson.team, lesson.name)

    async def forget_message(self, team: str, channel: str, thread: str, ts: str) -> None:
        """Delete the lessons whose question may come from a message that was edited or deleted."""
        prefix = f"{channel}:{thread}:".encode()
        for name in await self._redis.call("ZRANGE", self._index(team), 0, -1):
            if name.startswith(prefix):
                with suppress(CorruptValue):
                    lesson = await self.get(team, name.decode())
                    if lesson is None or not lesson.is_about(ts):
                        continue
                await self._remove(team, name.decode())

    async def _remove(self, team: str, name: str) -> None:
        await self._redis.together(
            ("DEL", self._redis.key("lesson", team, name)), ("ZREM", self._index(team), name)
        )

    def _index(self, team: str) -> str:
        return self._redis.key("lessons", team)

    def _key(self, lesson: Lesson) -> str:
        return self._redis.key("lesson", lesson.team, lesson.name)
