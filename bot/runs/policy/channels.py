"""Settings of single channels: how the bot behaves there, who may ask, and with which tools.

Operators set them under `[channels.<id>]` in bot.toml. Changes that an admin makes in Slack are
stored separately and override those settings, field by field. A profile holds some of these
settings under a name, for any number of channels: what is set for a channel is its profile, and
what differs from that.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from bot.agent.limits import Limits
from bot.core.budgets import Budget, Cap
from bot.core.errors import CorruptValue
from bot.runs.policy.preferences import MAX_STYLE
from bot.text.invisible_text import without_invisible

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


MAX_TITLE = 60

PROFILE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,29}")


def _one_line(text: str) -> str:
    return " ".join(without_invisible(text).split())


class ProfileFields(BaseModel):
    """What a profile may say, and a channel for itself: how the bot answers, and with what.

    Only what permits nothing is here. Who may ask, what needs approval, what may be spent, and the
    values of own tools, which may name a customer's data, are settings of a channel alone.

    `title` is what people read of who answered. `instructions` are added to the model's
    instructions, `style` says how answers should be written. `tools` are the names or groups of the
    only tools available (`*` matches any letters). `model` is the name of a model choice, "" for the
    configured model.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, AfterValidator(_one_line)] = Field(default="", max_length=MAX_TITLE)
    instructions: str = Field(default="", max_length=3_000)
    style: str = Field(default="", max_length=MAX_STYLE)
    tools: tuple[str, ...] | None = None
    model: str = ""


class Profile(ProfileFields):
    """A profile: `[profiles.<name>]` in bot.toml, or made by an admin in the Home tab.

    The class of all fields, `bot.settings.ProfileTable`, has those of rooms, too.
    """

    def titled(self, name: str) -> str:
        """Return what people read of the profile called `name`."""
        return self.title or name


class TeamProfiles(BaseModel):
    """What the admins of a workspace have set of profiles.

    `profiles` are those that they made. `channels` and `direct` are the names of the profiles for
    channels without one and for direct messages: "" for none, None for what bot.toml says.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    profiles: Mapping[str, Profile] = {}
    channels: str | None = None
    direct: str | None = None


class ChannelSettings(ProfileFields):
    """The settings of one channel; a field that is not set has the general value.

    `profile` is the name of the channel's profile, "" for none. `people` are ids of the only users
    who may ask. `limits` replaces single fields of `[limits]`; `budgets` limits the spending there
    per day and per month (UTC), instead of `channel_day` and `channel_month` of `[budgets]`. `extra`
    holds values for your own tools, such as a project or a region; they read it from
    `current_request().extra`. The class of all settings, `bot.settings.ChannelTable`, has those of
    rooms, too.
    """

    version: int = 1
    profile: str = ""
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

    def with_profile(self, name: str, profile: Profile) -> ChannelSettings:
        """Return these settings with the fields that `profile`, called `name`, sets replaced.

        Of the tools that are available already it only selects some.
        """
        names = type(profile).model_fields.keys() & profile.model_fields_set
        update = {field: getattr(profile, field) for field in names}
        update["title"] = profile.titled(name)
        if "tools" in names:
            update["tools"] = _tools_of_both(self.tools, profile.tools)
        return self.model_copy(update=update)

    @property
    def own_profile(self) -> str | None:
        """The name of the profile that is set here; None if nothing is said of one."""
        return self.profile if "profile" in self.model_fields_set else None


def _tools_of_both(
    first: tuple[str, ...] | None, second: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return patterns for the tools that match one of `first` and one of `second`."""
    if first is None or second is None:
        return first if second is None else second
    return tuple(f"{one}&{other}" for one in first for other in second)


@dataclass(frozen=True, slots=True)
class ChannelLayers:
    """What the settings of a channel are made of.

    `general` applies to all channels, then the channel's profile, then `configured`, which bot.toml
    says of the channel, then the `edits` of admins. `usual` are the names of profiles for channels
    that name none, the first counts: "" for no profile, None where nothing is said.
    """

    general: ChannelSettings
    configured: ChannelSettings | None
    edits: ChannelSettings | None
    profiles: Mapping[str, Profile]
    usual: tuple[str | None, ...]

    @property
    def profile(self) -> str:
        """The name of the profile that applies, "" for none. One that is gone counts as unsaid."""
        return self._first(*self._own, *self.usual)

    @property
    def profile_without_edits(self) -> str:
        """The name of the profile that applies without the edits of admins."""
        return self._first(*self._own[1:], *self.usual)

    @property
    def missing_profile(self) -> str:
        """The name of a profile that was chosen for the channel and is gone; "" if there is none."""
        return self._missing(*self._own)

    @property
    def missing_default(self) -> str:
        """The same for channels that name none."""
        return self._missing(*self.usual)

    @property
    def settings(self) -> ChannelSettings:
        """The settings of the channel."""
        return self.with_profile(self.profile)

    @property
    def of_profile(self) -> ChannelSettings:
        """The general settings, with those of the channel's profile."""
        return self._of_profile(self.profile)

    def with_profile(self, name: str) -> ChannelSettings:
        """Return what the settings would be with the profile `name`; `profile` is the one that
        applies now."""
        settings = self._without_edits(name)
        settings = settings.changed_by(self.edits) if self.edits else settings
        return settings.model_copy(update={"profile": self.profile})

    def without_edits(self, name: str) -> ChannelSettings:
        """Return what the settings would be with the profile `name` and without edits."""
        update = {"profile": self.profile_without_edits}
        return self._without_edits(name).model_copy(update=update)

    def _of_profile(self, name: str) -> ChannelSettings:
        profile = self.profiles.get(name)
        return self.general.with_profile(name, profile) if profile else self.general

    def _without_edits(self, name: str) -> ChannelSettings:
        settings = self._of_profile(name)
        return settings.changed_by(self.configured) if self.configured else settings

    @property
    def _own(self) -> tuple[str | None, str | None]:
        edits, configured = self.edits, self.configured
        return edits.own_profile if edits else None, configured.own_profile if configured else None

    def _missing(self, *names: str | None) -> str:
        chosen = next((name for name in names if name is not None), "")
        return "" if chosen in self.profiles else chosen

    def _first(self, *names: str | None) -> str:
        known = (name for name in names if name in self.profiles or name == "")
        return next(known, "") or ""


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


class TeamProfileStore(Protocol):
    """The store of what admins set of profiles, by team."""

    async def load(self, name: str, kind: type[TeamProfiles]) -> TeamProfiles | None:
        """Return what the admins of a workspace have set, if they have set anything."""


@dataclass(frozen=True, slots=True)
class Profiles:
    """All profiles: those of bot.toml, `configured`, and those that admins made in a workspace.

    `direct` is the name of the profile for direct messages: "" for none, None for that of channels.
    `kind` is the class of what is stored.
    """

    configured: Mapping[str, Profile]
    direct: str | None
    store: TeamProfileStore
    kind: type[TeamProfiles] = TeamProfiles

    async def of(self, team: str) -> TeamProfiles:
        """Return those of a workspace and of bot.toml, which count before namesakes."""
        own = await self.own(team)
        direct = self.direct if own.direct is None else own.direct
        profiles = {**self.configured, **own.profiles, **self.configured}
        update = {"profiles": profiles, "direct": direct}
        return own.model_copy(update=update)

    def made(self, fields: Mapping[str, Any]) -> Profile:
        """Return a profile with these fields. Raises ValidationError for wrong ones."""
        return self.kind.model_validate({"profiles": {"": fields}}).profiles[""]

    async def own(self, team: str) -> TeamProfiles:
        """Return what the admins of a workspace have set."""
        try:
            return await self.store.load(team, self.kind) or self.kind()
        except CorruptValue:
            log.exception("the profiles that admins made are lost", extra={"team": team})
            return self.kind()


@dataclass(frozen=True, slots=True)
class Channels:
    """The settings of every channel; those of `default` apply where a channel sets nothing.

    Changes by admins apply in their own workspace only: a shared channel has the same id in each.
    `kind` is the class of the settings that are stored.
    """

    configured: Mapping[str, ChannelSettings]
    edits: ChannelEdits
    kind: type[ChannelSettings] = ChannelSettings
    profiles: Profiles | None = None

    async def of(self, team: str, channel: str) -> ChannelSettings:
        """Return the settings of `channel` in the workspace `team`. Raises StoreUnavailable."""
        return (await self.layers(team, channel)).settings

    async def layers(self, team: str, channel: str) -> ChannelLayers:
        """Return what the settings of `channel` are made of. Raises StoreUnavailable."""
        known = self.profiles.of(team) if self.profiles else _no_profiles()
        profiles, edits = await asyncio.gather(known, self._edits(team, channel))
        general = self.configured.get(DEFAULT, self.kind())
        direct = [profiles.direct] if channel.startswith("D") else []
        return ChannelLayers(
            general=general,
            configured=self.configured.get(channel),
            edits=edits,
            profiles=profiles.profiles,
            usual=(*direct, profiles.channels, general.own_profile),
        )

    async def change(self, team: str, channel: str, wanted: ChannelSettings) -> None:
        """Change the settings of `channel` to `wanted`, storing only what differs from bot.toml and
        from the profile."""
        layers = await self.layers(team, channel)
        edits = layers.without_edits(wanted.profile).edits_of(wanted)
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

    async def _edits(self, team: str, channel: str) -> ChannelSettings | None:
        try:
            return await self.edits.load(f"{team}:{channel}", self.kind)
        except CorruptValue:
            log.exception("the settings that admins changed are lost", extra={"channel": channel})
            return None


async def _no_profiles() -> TeamProfiles:
    return TeamProfiles()
