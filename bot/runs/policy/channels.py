"""What is different in one channel: how the bot behaves there, who may ask, with which tools.

Operators write it under `[channels.<id>]` of bot.toml; what an admin changes in Slack is kept
beside it and counts instead, field by field.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict, Field, field_validator

from bot.agent.limits import Limits
from bot.core.budgets import Budget, Cap
from bot.core.errors import CorruptValue

log = logging.getLogger(__name__)

DEFAULT = "default"

Follow = Literal["alone", "always", "never"]
"""When the bot takes a reply in its thread for a question without being mentioned: while one person
talks with it alone, always, or never."""


DuringRun = Literal["steer", "queue"]
"""What becomes of what somebody writes while their question is worked on: it is taken into the run
at its next turn, or waits and is answered by itself."""

Confirm = Literal["never", "sensitive", "always"]
"""Which calls wait for a person's yes: none, those of sensitive tools, or every change as well."""


class ChannelSettings(BaseModel):
    """What differs in a channel; what is not set is as everywhere.

    `instructions` are told to the model in addition. `tools` are the names or groups of the only
    tools it has there (`*` stands for any letters). `people` are ids of the only users who may ask.
    `limits` replaces single fields of `[limits]`; `budgets` bounds what is spent there in a day and
    in a month (UTC), in the place of `channel_day` and `channel_month` of `[budgets]`. `extra` is
    for your own tools, which find it in `current_request().extra`: a project, a region.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: int = 1
    instructions: str = Field(default="", max_length=3_000)
    tools: tuple[str, ...] | None = None
    people: tuple[str, ...] | None = None
    allow_guests: bool | None = None
    allow_external: bool | None = None
    follow: Follow = "alone"
    during_run: DuringRun = "steer"
    confirm: Confirm | None = None
    limits: Mapping[str, float | None] = {}
    budgets: Mapping[Literal["day", "month"], Cap] = {}
    extra: Mapping[str, str | int | float | bool] = {}

    @field_validator("limits")
    @classmethod
    def _are_limits(cls, given: Mapping[str, float | None]) -> Mapping[str, float | None]:
        Limits.model_validate(given)
        return given

    def limited(self, everywhere: Limits) -> Limits:
        """The bounds on a run here."""
        return Limits.model_validate(everywhere.model_dump() | dict(self.limits))

    def cap(self, budget: Budget) -> Cap | None:
        """What bounds that budget of the channel; None where that is as everywhere."""
        match budget:
            case Budget.CHANNEL_DAY:
                return self.budgets.get("day")
            case Budget.CHANNEL_MONTH:
                return self.budgets.get("month")
            case _:
                return None

    def edits_of(self, wanted: ChannelSettings) -> ChannelSettings:
        """What has to be set beside these so that they become `wanted`."""
        changed = {
            name: getattr(wanted, name)
            for name in type(self).model_fields
            if getattr(wanted, name) != getattr(self, name)
        }
        return ChannelSettings(**changed)

    def changed_by(self, edits: ChannelSettings) -> ChannelSettings:
        """These, with what `edits` sets in their place."""
        return self.model_copy(
            update={name: getattr(edits, name) for name in edits.model_fields_set}
        )


class Edits(Protocol):
    """What admins changed in Slack; a name is of a workspace and a channel."""

    async def load(self, name: str, kind: type[ChannelSettings]) -> ChannelSettings | None:
        """The changes there, if there are any."""

    async def save(self, name: str, value: ChannelSettings) -> None:
        """Keep the changes in the place of those before."""

    async def forget(self, name: str) -> None:
        """Take them back."""

    async def names(self, team: str) -> list[str]:
        """Of all changes in a workspace; some may have expired."""


@dataclass(frozen=True, slots=True)
class Channels:
    """The settings of every channel; under `default` what holds where a channel sets nothing. What
    admins change holds in their own workspace: a shared channel has the same id in each."""

    configured: Mapping[str, ChannelSettings]
    edits: Edits

    async def of(self, team: str, channel: str) -> ChannelSettings:
        """How the bot of `team` behaves in `channel`. Raises StoreUnavailable."""
        settings = self._configured(channel)
        try:
            edits = await self.edits.load(f"{team}:{channel}", ChannelSettings)
        except CorruptValue:
            log.exception("what admins changed is lost", extra={"channel": channel})
            return settings
        return settings.changed_by(edits) if edits else settings

    async def change(self, team: str, channel: str, wanted: ChannelSettings) -> None:
        """Have `channel` be as `wanted`; what is so configured anyway is not kept as a change."""
        edits = self._configured(channel).edits_of(wanted)
        if not edits.model_fields_set:
            await self.reset(team, channel)
            return
        await self.edits.save(f"{team}:{channel}", edits)

    async def changed(self, team: str) -> list[str]:
        """The channels that admins of `team` made different."""
        return [name.partition(":")[2] for name in await self.edits.names(team)]

    async def special(self, team: str) -> list[str]:
        """The channels that differ from the others, by configuration or by a change."""
        configured = [channel for channel in self.configured if channel != DEFAULT]
        return [*configured, *await self.changed(team)]

    async def reset(self, team: str, channel: str) -> None:
        """Have `channel` be as it is configured."""
        await self.edits.forget(f"{team}:{channel}")

    def _configured(self, channel: str) -> ChannelSettings:
        everywhere = self.configured.get(DEFAULT, ChannelSettings())
        here = self.configured.get(channel)
        return everywhere.changed_by(here) if here else everywhere
