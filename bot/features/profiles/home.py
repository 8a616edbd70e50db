"""The profiles of a workspace in the Home tab, for admins. Each press checks the right again."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from pydantic import ValidationError
from typing_extensions import override

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import MalformedPayload, NotPermitted
from bot.core.ids import new_id
from bot.features.profiles import words
from bot.features.profiles.forms import (
    CHOICE_FORM,
    DELETE,
    FORM,
    ProfileConfig,
    ProfileTarget,
    changed_meanwhile,
    choice_form,
    choices_of,
    deleted,
    digest,
    fields_of,
    name_taken,
    new_name,
    profile_form,
    too_many,
)
from bot.features.profiles.versions import ProfileVersions
from bot.runs.audit_trail import refused
from bot.runs.policy.access import Person
from bot.runs.policy.channels import ChannelLayers, Channels, Profile, Profiles, TeamProfiles
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui.blocks import (
    MOST_OPTIONS,
    Block,
    actions,
    button,
    menu_input,
    section,
    shortened,
    text_object,
)
from bot.slack.ui.links import escape_mrkdwn

log = logging.getLogger(__name__)

NEW, CHANGE, CHOOSE = "profile_new", "profile_change", "profile_choose"
MOST = 50
"""Profiles of a workspace that its admins may make."""
_MAX_LISTED, _MAX_CHANNELS = 20, 10  # in the Home tab
_MAX_SECTION = 3_000


async def uses_of(channels: Channels, team: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the channels that have each profile, by its name, and the name that each channel without
    the profile that was chosen for it should have. Only channels with settings of their own count."""
    names = list(dict.fromkeys(await channels.special(team)))
    layers = await asyncio.gather(*(channels.layers(team, channel) for channel in names))
    used, missing = defaultdict[str, list[str]](list), dict[str, str]()
    for channel, of_channel in zip(names, layers, strict=True):
        if of_channel.profile:
            used[of_channel.profile].append(channel)
        if of_channel.missing_profile:
            missing[channel] = of_channel.missing_profile
    return used, missing


class ProfilesHome(SlackPart):
    """The profiles of one workspace."""

    def __init__(self, config: ProfileConfig, app: SlackApp) -> None:
        self._app, self._config = app, config
        self._versions = ProfileVersions.of(app.stores)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(NEW)(self._new)
        app.button(CHANGE)(self._opened)
        app.button(CHOOSE)(self._choose)
        app.button(DELETE)(self._deleted)
        app.modal(FORM)(self._saved)
        app.modal(CHOICE_FORM)(self._chosen)

    @override
    async def admin_home(self, user: str) -> Sequence[Block]:
        channels, team = self._app.gate.channels, self._app.team
        known, own = await self._profiles.of(team), await self._profiles.own(team)
        used, missing = await uses_of(channels, team)
        lines = [
            _line(name, profile, used.get(name, ()), is_ours=name not in self._profiles.configured)
            for name, profile in [*known.profiles.items()][:_MAX_LISTED]
        ]
        usual, direct = await channels.layers(team, ""), await channels.layers(team, "D")
        has_choice = known.profiles or usual.missing_default or direct.missing_default
        if has_choice:
            lines += [
                "• " + words.FOR_CHANNELS(profile=_default(known.profiles, usual)),
                "• " + words.FOR_DIRECT(profile=_default(known.profiles, direct)),
            ]
        if missing:
            listed = (f"<#{channel}> ({name})" for channel, name in missing.items())
            lines.append(words.GONE(channels=", ".join([*listed][:_MAX_CHANNELS])))
        buttons = [button(words.NEW(), NEW, NEW)]
        changeable = {
            name: profile.titled(name)
            for name, profile in [*own.profiles.items()][:MOST_OPTIONS]
            if name not in self._profiles.configured
        }
        if changeable:
            menu = {"action_id": CHANGE, "placeholder": text_object(words.CHANGE())}
            buttons.append(menu_input(changeable) | menu)
        if has_choice:
            buttons.append(button(words.CHOOSE(), CHOOSE, CHOOSE))
        text = "\n".join([words.HOME_PROFILES(), *lines])
        # A new id empties the menu: Slack shows the last choice, and does not report it twice.
        row = actions(*buttons) | {"block_id": new_id("menu")}
        return [section(shortened(text, _MAX_SECTION)), row]

    @property
    def _profiles(self) -> Profiles:
        profiles = self._app.gate.channels.profiles
        assert profiles is not None  # noqa: S101 - those of a workspace always have them
        return profiles

    async def _new(self, press: Press) -> None:
        await self._admin(press.user)
        empty = self._profiles.made({})
        await press.open(profile_form("", empty, self._config.models, ()))

    async def _opened(self, press: Press) -> None:
        await self._admin(press.user)
        name = press.value
        profile = (await self._profiles.own(self._app.team)).profiles.get(name)
        self._app.refresh_home(press.user)  # which empties the menu
        if profile is not None:
            earlier = await self._versions.earlier(self._app.team, name, profile)
            await press.open(profile_form(name, profile, self._config.models, earlier))

    async def _saved(self, form: Submitted) -> None:
        person, target = await self._admin(form.user), ProfileTarget.of(form.view)
        name = target.name or new_name(form.view)
        own = await self._profiles.own(self._app.team)
        before = own.profiles.get(name) or self._profiles.made({})
        earlier = await self._versions.earlier(self._app.team, name, before)
        try:
            profile = self._profiles.made(fields_of(form.view, before, self._config, earlier))
        except ValidationError:
            raise MalformedPayload("a profile that the form does not offer") from None
        self._check(own, name, target)
        changed = [
            field
            for field in type(profile).model_fields
            if getattr(profile, field) != getattr(before, field)
        ]
        await self._note(person, f"profile {name}: {', '.join(sorted(changed)) or 'nothing'}")

        def with_profile(now: TeamProfiles) -> TeamProfiles:
            self._check(now, name, target)
            return now.model_copy(update={"profiles": {**now.profiles, name: profile}})

        await self._change(with_profile)
        await self._versions.add(self._app.team, name, profile)
        self._app.refresh_home(form.user)

    def _check(self, own: TeamProfiles, name: str, target: ProfileTarget) -> None:
        """Raise FormErrors for a new profile that cannot be, and for one that has changed since its
        form was opened."""
        if target.name:
            if digest(self._changeable(own, name)) != target.shown:
                raise changed_meanwhile()
        elif name in own.profiles or name in self._profiles.configured:
            raise name_taken()
        elif len(own.profiles) >= MOST:
            raise too_many(MOST)

    def _changeable(self, own: TeamProfiles, name: str) -> Profile:
        """Return a profile. Raises NotPermitted for one that is gone or the operator's."""
        profile = own.profiles.get(name)
        if profile is None or name in self._profiles.configured:
            raise NotPermitted(words.NOT_CHANGEABLE())
        return profile

    async def _deleted(self, press: Press) -> None:
        person, name = await self._admin(press.user), ProfileTarget.of(press.view).name
        profile = self._changeable(await self._profiles.own(self._app.team), name)
        await self._note(person, f"profile {name}: deleted")

        def without_profile(now: TeamProfiles) -> TeamProfiles:
            profiles = {other: profile for other, profile in now.profiles.items() if other != name}
            return now.model_copy(update={"profiles": profiles})

        await self._change(without_profile)
        await press.update(deleted(profile.titled(name)))
        self._app.refresh_home(press.user)

    async def _choose(self, press: Press) -> None:
        await self._admin(press.user)
        team = self._app.team
        own, known = await self._profiles.own(team), await self._profiles.of(team)
        await press.open(choice_form(own, known.profiles))

    async def _chosen(self, form: Submitted) -> None:
        person = await self._admin(form.user)
        known = await self._profiles.of(self._app.team)
        channels, direct = choices_of(form.view, known.profiles)
        chosen = {"channels": channels, "direct messages": direct}
        said = ", ".join(
            f"{place} {'as in bot.toml' if name is None else name or 'none'}"
            for place, name in chosen.items()
        )
        await self._note(person, f"profiles for all: {said}")
        await self._change(
            lambda now: now.model_copy(update={"channels": channels, "direct": direct})
        )
        self._app.refresh_home(form.user)

    async def _change(self, change: Callable[[TeamProfiles], TeamProfiles]) -> None:
        """Change what is stored of the workspace, as it is when it is written."""
        kind = self._profiles.kind
        await self._app.stores.profiles.change(
            self._app.team, kind, lambda now: change(now or kind())
        )

    async def _note(self, person: Person, what: str) -> None:
        """Record a change in the audit log, before it is made."""
        entry = AuditEntry(
            kind=AuditKind.ADMINISTERED, team=self._app.team, who=person.id, what=what
        )
        await self._app.record([entry])
        log.info("Changed by %s: %s", person.id, what)

    async def _admin(self, user: str) -> Person:
        """Return the admin. Raises NotPermitted, and records the refusal, for other people."""
        try:
            return await self._app.gate.admin(user)
        except NotPermitted:
            await self._app.record([refused(self._app.team, user, "profiles")])
            raise


def _line(name: str, profile: Profile, channels: Sequence[str], *, is_ours: bool) -> str:
    listed = ", ".join(f"<#{channel}>" for channel in channels[:_MAX_CHANNELS])
    where = words.IN_CHANNELS(len(channels), channels=listed) if channels else words.IN_NO_CHANNEL()
    origin = "" if is_ours else f" ({words.OF_OPERATOR()})"
    return f"• *{escape_mrkdwn(profile.titled(name))}*{origin}: {where}"


def _default(profiles: Mapping[str, Profile], layers: ChannelLayers) -> str:
    """Return the title of a default profile, and the name of one that was chosen and is gone."""
    profile = profiles.get(layers.profile)
    title = escape_mrkdwn(profile.titled(layers.profile)) if profile else words.NONE()
    missing = layers.missing_default
    return words.INSTEAD_OF(profile=title, gone=missing) if missing else title
