"""Earlier versions of profiles, so that an admin can go back to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from bot.core.errors import CorruptValue
from bot.runs.policy.channels import Profile
from bot.store import Connection, Stores
from bot.store.values import decode

MOST = 10


class ProfileVersion(BaseModel):
    """A profile as it was saved at a time. Who saved it is in the audit log alone."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ProfileVersions:
    """The newest versions of each profile of a workspace. A deleted profile keeps them for as long."""

    redis: Connection
    seconds: int

    @classmethod
    def of(cls, stores: Stores) -> ProfileVersions:
        """Return the store in the Redis of `stores`."""
        return cls(stores.redis, stores.retention.settings)

    async def add(self, team: str, name: str, profile: Profile) -> None:
        """Add a version that was saved now, and drop the oldest beyond MOST."""
        key, version = self._key(team, name), ProfileVersion(fields=_fields(profile))
        await self.redis.together(
            ("LPUSH", key, version.model_dump_json()),
            ("LTRIM", key, 0, MOST - 1),
            ("EXPIRE", key, self.seconds),
        )

    async def earlier(self, team: str, name: str, now: Profile | None) -> Sequence[ProfileVersion]:
        """Return the versions that differ from the profile as it is `now`, newest first."""
        versions = list[ProfileVersion]()
        for raw in await self.redis.call("LRANGE", self._key(team, name), 0, -1):
            try:
                versions.append(decode(ProfileVersion, raw))
            except CorruptValue:
                continue
        current = _fields(now) if now else None
        return [version for version in versions if version.fields != current]

    def _key(self, team: str, name: str) -> str:
        return self.redis.key("profile-versions", team, name)


def _fields(profile: Profile) -> dict[str, Any]:
    return profile.model_dump(mode="json", exclude_unset=True)
