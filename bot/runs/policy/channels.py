"""Settings of single channels: how the bot behaves there, who may ask, and with which tools.

Operators set them under `[channels.<id>]` in bot.toml. Changes that an admin makes in Slack are
stored separately and override those settings, field by field.
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
"""When the bot answers a reply in its thread that does not mention it: while only one person is
talking to it, always, or never."""


DuringRun = Literal["steer", "queue"]
"""What happens to messages that the asker writes during a run: they join it at its next turn
("steer"), or wait for a run of their own ("queue")."""

Confirm = Literal["never", "sensitive", "always"]
"""Which calls wait for an approval: none, calls of sensitive tools, or also every change."""


class ChannelSettings(BaseModel):
    """The settings of one channel; a field that is not set has the general value.

    `instructions` are added to the model's instructions. `tools` are the names or groups of the
    only tools available there (`*` matches any letters). `people` are ids of the only users who may
    ask. `limits` replaces single fields of `[limits]`; `budgets` limits the spending there per day
    and per month (UTC), instead of `channel_day` and `channel_month` of `[budgets]`. `model` is the
    name of a model choice, "" for the configured model. `extra` holds values for your own tools,
    such as a project or a region; they read it from `current_request().extra`. The class of all
    settings, `bot.settings.ChannelTable`, has those of rooms, too.
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
    model: str = ""
    limits: Mapping[str, float | None] = {}
    budgets: Mapping[Literal["day", "month"], Cap] = {}
    extra: Mapping[str, str | int | float | bool] = {}

    @field_validator("limits")
    @classmethod
    def _are_limits(cls, given: Mapping[str, float | None]) -> Mapping[str, float | None]:
        Limits.model_validate(given)
        return given

    def limited(self, everywhere: Limits) -> Limits:
        """Return the limits of a run in this channel."""
        return Limits.model_validate(everywhere.model_dump() | dict(self.limits))

    def cap(self, budget: Budget) -> Cap | None:
        """Return the channel's own cap of that budget; None where the general cap applies."""
        match budget:
            case Budget.CHANNEL_DAY:
                return self.budgets.get("day")
            case Budget.CHANNEL_MONTH:
                return self.budgets.get("month")
            case _:
                return None

    def edits_of(self, wanted: ChannelSettings) -> ChannelSettings:
        """Return the edits that turn these settings into `wanted`."""
        changed = {
            name: getattr(wanted, name)
            for name in type(self).model_fields
            if getattr(wanted, name) != getattr(self, name)
        }
        return type(self)(**changed)

    def changed_by(self, edits: ChannelSettings) -> ChannelSettings:
        """Return these settings with the fields that `edits` sets replaced."""
        return self.model_copy(
            update={name: getattr(edits, name) for name in edits.model_fields_set}
        )


class ChannelEdits(Protocol):
    """The store of settings that admins changed in Slack, by "team:channel"."""

    async def load(self, name: str, kind: type[ChannelSettings]) -> ChannelSettings | None:
        """Return the changes of a channel, if there are any."""

    async def save(self, name: str, value: ChannelSettings) -> None:
        """Store the changes of a channel, replacing earlier ones."""

    async def forget(self, name: str) -> None:
        """Delete the changes of a channel."""

    async def names(self, team: str) -> list[str]:
        """Return the names of all changes in a workspace; some may have expired."""


@dataclass(frozen=True, slots=True)
class Channels:
    """The settings of every channel; those of `default` apply where a channel sets nothing.

    Changes by admins apply in their own workspace only: a shared channel has the same id in each.
    `kind` is the class of the settings that are stored.
    """

    configured: Mapping[str, ChannelSettings]
    edits: ChannelEdits
    kind: type[ChannelSettings] = ChannelSettings

    async def of(self, team: str, channel: str) -> ChannelSettings:
        """Return the settings of `channel` in the workspace `team`. Raises StoreUnavailable."""
        settings = self._configured(channel)
        try:
            edits = await self.edits.load(f"{team}:{channel}", self.kind)
        except CorruptValue:
            log.exception("the settings that admins changed are lost", extra={"channel": channel})
            return settings
        return settings.changed_by(edits) if edits else settings

    async def change(self, team: str, channel: str, wanted: ChannelSettings) -> None:
        """Change the settings of `channel` to `wanted`, storing only what differs from bot.toml."""
        edits = self._configured(channel).edits_of(wanted)
        if not edits.model_fields_set:
            await self.reset(team, channel)
            return
        await self.edits.save(f"{team}:{channel}", edits)

    async def changed(self, team: str) -> list[str]:
        """Return the channels whose settings admins of `team` have changed."""
        return [name.partition(":")[2] for name in await self.edits.names(team)]

    async def special(self, team: str) -> list[str]:
        """Return the channels with settings of their own, from bot.toml or changed by admins."""
        configured = [channel for channel in self.configured if channel != DEFAULT]
        return [*configured, *await self.changed(team)]

    async def reset(self, team: str, channel: str) -> None:
        """Reset `channel` to bot.toml."""
        await self.edits.forget(f"{team}:{channel}")

    def _configured(self, channel: str) -> ChannelSettings:
        default = self.configured.get(DEFAULT, self.kind())
        own = self.configured.get(channel)
        return default.changed_by(own) if own else default
