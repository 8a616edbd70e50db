"""Skills that admins write in Slack, with their versions: what is stored, and what the model is told."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field

from bot.features.skills.library import note, title_of
from bot.store import Connection, Retention, Stores
from bot.store.families import Family
from bot.store.values import Command, Hash, Names
from bot.toolkit.skill import Skill

STORED = (
    Family("written-skills", "hash"),
    Family("skill-versions", "hash"),
    Family("skill-teams", "set"),
)

MOST = 50
"""Skills of a workspace."""
_MOST_VERSIONS = 20


class WrittenSkill(BaseModel):
    """One version of a skill that an admin wrote; `number` counts them. Who wrote it is in the audit log."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    name: str
    description: str
    text: str
    number: int = 0
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of what it says."""
        said = "\n".join((self.name, self.description, self.text))
        return hashlib.sha256(said.encode()).hexdigest()

    def skill(self) -> Skill:
        """Return it as the model is told it. It names no tools and has no files."""
        return Skill(
            name=self.name,
            description=self.description,
            text=note(self.name, self.text),
            digest=self.digest,
            title=title_of(self.name),
            origin=f"Home, version {self.number}",
        )


@dataclass(frozen=True, slots=True)
class WrittenSkills:
    """The store of these skills: for each workspace the current ones, and for each skill its versions."""

    redis: Connection
    retention: Retention

    @classmethod
    def of(cls, stores: Stores) -> WrittenSkills:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention)

    async def all(self, team: str) -> list[WrittenSkill]:
        """Return the current skills of a workspace by name; skip damaged ones."""
        skills = await self._current(team).all()
        return sorted(skills.values(), key=lambda skill: skill.name)

    def keeping(self, team: str) -> Command:
        """Return the command that keeps the current skills of a workspace for longer."""
        current = self._current(team)
        return "EXPIRE", current.key, current.seconds

    async def teams(self) -> list[str]:
        """Return the workspaces that have had such skills."""
        return sorted(await self._teams.all())

    async def names(self) -> frozenset[str]:
        """Return the names of these skills in all workspaces."""
        skills = [await self.all(team) for team in await self.teams()]
        return frozenset(skill.name for of_team in skills for skill in of_team)

    async def get(self, team: str, name: str) -> WrittenSkill | None:
        """Return the current version of a skill; None without one."""
        return await self._current(team).get(name)

    async def versions(self, team: str, name: str) -> list[WrittenSkill]:
        """Return the versions of a skill, the newest first."""
        versions = await self._versions(team, name).all(renew=True)
        return sorted(versions.values(), key=lambda skill: -skill.number)

    async def numbered(self, team: str, skill: WrittenSkill) -> WrittenSkill:
        """Store a skill as the next version, which is not current before `apply`, and return that."""
        versions, current = self._versions(team, skill.name), await self.get(team, skill.name)
        is_new = False
        while not is_new:
            stored = await self.versions(team, skill.name)
            last = max([*(version.number for version in stored), current.number if current else 0])
            skill = skill.model_copy(update={"number": last + 1})
            adding = ("HSETNX", versions.key, str(skill.number), skill.model_dump_json())
            is_new, *_ = await self.redis.together(
                adding, ("EXPIRE", versions.key, versions.seconds)
            )
        return skill

    async def apply(self, team: str, skill: WrittenSkill, *, after: int) -> bool:
        """Make a version the current one in the place of the version `after`, 0 for none. The oldest of
        many versions go.

        Return False, and drop the version, if another one is current by now: somebody else saved theirs.
        """

        def change(current: WrittenSkill | None) -> WrittenSkill | None:
            number = current.number if current else 0
            return skill if number in (after, skill.number) else None

        await self._teams.add([team])
        versions = await self.versions(team, skill.name)
        old = [str(version.number) for version in versions[_MOST_VERSIONS:]]
        is_applied = await self._current(team).change(skill.name, change) is not None
        if not is_applied:
            old = [str(skill.number)]
        await self._versions(team, skill.name).remove(*old)
        return is_applied

    async def put(self, team: str, skills: Sequence[WrittenSkill]) -> None:
        """Store skills as the current ones of a workspace that has none, without versions."""
        current = self._current(team)
        commands = [command for skill in skills for command in current.putting(skill.name, skill)]
        if commands:
            await self.redis.together(*commands)

    async def delete(self, team: str, name: str) -> None:
        """Delete a skill with its versions."""
        deleting = ("HDEL", self._current(team).key, name)
        await self.redis.together(deleting, ("DEL", self._versions(team, name).key))

    @property
    def _teams(self) -> Names:
        return Names(self.redis, self.redis.key("skill-teams"), self.retention.settings)

    def _current(self, team: str) -> Hash[WrittenSkill]:
        key = self.redis.key("written-skills", team)
        return Hash(self.redis, key, WrittenSkill, self.retention.settings)

    def _versions(self, team: str, name: str) -> Hash[WrittenSkill]:
        key = self.redis.key("skill-versions", team, name)
        return Hash(self.redis, key, WrittenSkill, self.retention.settings)
