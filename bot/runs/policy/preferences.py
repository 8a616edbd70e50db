"""Preferences that people set for their own questions in the Home tab."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from bot.core.errors import CorruptValue
from bot.core.request import Redacted

log = logging.getLogger(__name__)

MAX_STYLE = 1_000


class Preferences(BaseModel):
    """The preferences of one person.

    `style` describes the answers that they want, and is sent to the model with each of their
    questions. With `only_me`, answers to their questions about a message are visible only to them by
    default. `model` is the name of their model choice, "" for that of the channel.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    style: Redacted = Field(default="", max_length=MAX_STYLE)
    only_me: bool = False
    model: str = ""


class PreferenceStore(Protocol):
    """The store of preferences, by "team:user"."""

    async def load(self, name: str, kind: type[Preferences]) -> Preferences | None:
        """Return the preferences of a person, if they have set any."""

    async def save(self, name: str, value: Preferences) -> None:
        """Store the preferences of a person, replacing earlier ones."""

    async def change(
        self,
        name: str,
        kind: type[Preferences],
        change: Callable[[Preferences | None], Preferences | None],
    ) -> None:
        """Store what `change` makes of the preferences as they are now; None leaves them."""


@dataclass(frozen=True, slots=True)
class PreferenceBook:
    """The preferences of all people."""

    kept: PreferenceStore

    async def of(self, team: str, user: str) -> Preferences:
        """Return a person's preferences; the defaults if none are set or they are unreadable.

        Raises StoreUnavailable.
        """
        try:
            return await self.kept.load(f"{team}:{user}", Preferences) or Preferences()
        except CorruptValue:
            log.exception("the preferences of a user are lost", extra={"user": user})
            return Preferences()

    async def change(self, team: str, user: str, wanted: Preferences) -> None:
        """Store a person's new preferences."""
        await self.kept.save(f"{team}:{user}", wanted)

    async def restyle(self, team: str, user: str, restyled: Callable[[str], str]) -> None:
        """Store what `restyled` makes of a person's style; it may be called again, and may raise."""

        def change(before: Preferences | None) -> Preferences:
            before = before or Preferences()
            return before.model_copy(update={"style": restyled(before.style)})

        await self.kept.change(f"{team}:{user}", Preferences, change)
