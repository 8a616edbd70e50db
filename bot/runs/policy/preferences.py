"""What people set for their own questions, in the Home tab."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from bot.core.errors import CorruptValue
from bot.core.request import Redacted

log = logging.getLogger(__name__)

MAX_STYLE = 1_000


class Preferences(BaseModel):
    """One person's. `style` says how they want to be answered, and goes to the model with each of
    their questions. With `only_me`, what they ask about a message is answered to them alone unless
    they choose otherwise."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    style: Redacted = Field(default="", max_length=MAX_STYLE)
    only_me: bool = False


class Keeps(Protocol):
    """Where they are kept, by "team:user"."""

    async def load(self, name: str, kind: type[Preferences]) -> Preferences | None:
        """What somebody set, if anything."""

    async def save(self, name: str, value: Preferences) -> None:
        """Keep it in the place of what was there."""


@dataclass(frozen=True, slots=True)
class PreferenceBook:
    """Everybody's."""

    kept: Keeps

    async def of(self, team: str, user: str) -> Preferences:
        """What somebody set; as for everybody where that is nothing, or cannot be read. Raises
        StoreUnavailable."""
        try:
            return await self.kept.load(f"{team}:{user}", Preferences) or Preferences()
        except CorruptValue:
            log.exception("what somebody set for themself is lost", extra={"user": user})
            return Preferences()

    async def change(self, team: str, user: str, wanted: Preferences) -> None:
        """Have it so from now on."""
        await self.kept.save(f"{team}:{user}", wanted)
