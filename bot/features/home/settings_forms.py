"""Forms of settings in the Home tab: those of a channel, for admins, and those of a person."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from bot.agent.limits import Limits
from bot.core.budgets import Cap
from bot.core.errors import MalformedPayload
from bot.core.ids import new_id
from bot.features.home import home_words
from bot.features.home.view import CHANNEL, SETTINGS
from bot.model import ModelChoices
from bot.runs.policy.budgets import Budgets
from bot.runs.policy.channels import ChannelLayers, ChannelSettings, Confirm
from bot.runs.policy.preferences import MAX_STYLE, Preferences
from bot.slack.edge.payloads import SLACKBOT, chosen, element
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_part import ChannelChoice
from bot.slack.ui import approval_words, words
from bot.slack.ui.blocks import (
    MAX_INPUT,
    MOST_OPTIONS,
    Block,
    FormErrors,
    actions,
    boxes_input,
    button,
    choice_input,
    digits,
    field,
    menu_input,
    modal,
    number_input,
    people_input,
    plain_section,
    shortened,
    text_input,
    with_confirmation,
)
from bot.slack.ui.links import escape_mrkdwn
from bot.slack.ui.parts import context

if TYPE_CHECKING:
    from bot.features.home.home_tab import HomeTab
    from bot.slack.intake.slack_app import SlackApp

CHANNEL_FORM, PERSONAL_FORM = "channel_settings", "personal_settings"
RESET = "channel_reset"

_EVERYWHERE = "everywhere"
_CHOICES = (
    ChannelChoice("follow", home_words.CHANNEL_FOLLOW, home_words.FOLLOW),
    ChannelChoice("during_run", home_words.CHANNEL_DURING_RUN, home_words.DURING_RUN),
)
_CONFIRM = ChannelChoice("confirm", home_words.CHANNEL_CONFIRM, home_words.CONFIRM)
_NUMBERS = {
    "turns": home_words.CHANNEL_TURNS,
    "cost": home_words.CHANNEL_COST,
    "day": home_words.CHANNEL_DAY,
    "month": home_words.CHANNEL_MONTH,
}
"""The numbers: limits of a run, and budgets of the channel in dollars."""
_LIMITS, _MONEY = ("turns", "cost"), ("cost", "day", "month")
_INSTRUCTIONS, _TOOLS, _PEOPLE, _OTHERS = "instructions", "tools", "people", "others"
_STYLE, _WHERE, _MODEL, _PROFILE = "style", "where", "model", "profile"
_INHERITED = (_INSTRUCTIONS, _TOOLS, _MODEL)
"""The fields of the form that a profile may set."""
_BLOCKS = {"limits": "turns", "budgets": "day", **dict.fromkeys(home_words.OTHERS, _OTHERS)}
"""The fields of settings that are not named as these."""
_THREAD, _ONLY_ME = "thread", "me"
_GENERAL, _CHOICE = "general", "choice:"  # values of the options for models


def register(app: SlackApp, home: HomeTab) -> None:
    """Listen to the buttons and menus that open the forms, to the forms, and to the reset."""
    _listen_to_channel_form(app, home)
    models = home.config.models

    @app.button(SETTINGS)
    async def open_personal_form(press: Press) -> None:
        current = await home.preferences.of(app.team, press.user)
        await press.open(personal_form(current, models))

    @app.modal(PERSONAL_FORM)
    async def change_preferences(form: Submitted) -> None:
        before = await home.preferences.of(app.team, form.user)
        changed = preferences_of(form.view, before, models)
        await home.preferences.change(app.team, form.user, changed)
        home.refresh(form.user)


def _listen_to_channel_form(app: SlackApp, home: HomeTab) -> None:
    admin = app.admin

    async def place_of(channel: str) -> str:
        return await app.access.place(channel, otherwise=home_words.CHANNEL_UNSEEN())

    @app.button(CHANNEL)
    async def open_channel_form(press: Press) -> None:
        channel = press.value
        if not channel:
            return
        layers, place, below = await asyncio.gather(
            admin.channel(press.user, channel), place_of(channel), home.below_channel_form(channel)
        )
        await press.open(channel_form(channel, place, layers, home.general, below))
        home.refresh(press.user, choice=new_id("choice"))

    @app.modal(CHANNEL_FORM)
    async def change_channel(form: Submitted) -> None:
        channel = target(form.view)
        settings = settings_of(
            form.view,
            await admin.channel(form.user, channel),
            home.config.is_tool,
            home.general,
            is_priced=home.config.is_priced,
            bot=app.identity.user,
        )
        await admin.change_channel(form.user, channel, settings)
        home.refresh(form.user, choice=new_id("choice"))

    @app.button(RESET)
    async def reset_channel(press: Press) -> None:
        channel = target(press.view)
        await admin.reset_channel(press.user, channel)
        await press.update(reset_done(await place_of(channel)))
        home.refresh(press.user, choice=new_id("choice"))


class Target(BaseModel):
    """The channel of a modal, stored in its metadata.

    `shown` are hashes of the settings with which it was opened, by name.
    """

    channel: str
    shown: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class GeneralSettings:
    """The settings that apply where a channel sets nothing. `more` are the choices of features."""

    limits: Limits
    budgets: Budgets
    confirm: Confirm
    models: ModelChoices
    more: Sequence[ChannelChoice] = ()

    @property
    def choices(self) -> list[ChannelChoice]:
        """The settings that are one of several words."""
        return [*_CHOICES, replace(_CONFIRM, usual=self.confirm), *self.more]

    @property
    def numbers(self) -> dict[str, float | None]:
        """Return the values for the number fields of the form, by their block id."""
        day, month = self.budgets.channel_day, self.budgets.channel_month
        dollars = {"day": _dollars(day), "month": _dollars(month)}
        return {"turns": self.limits.turns, "cost": self.limits.cost, **dollars}


def channel_form(
    channel: str,
    place: str,
    layers: ChannelLayers,
    general: GeneralSettings,
    below: Sequence[Block] = (),
) -> Block:
    """Return the modal, filled in with the settings that differ in this channel, and `below` it what
    features show there.

    An empty field means the general setting, or that of the channel's profile; its hint shows that.
    """
    usual, settings = general.numbers, layers.settings
    numbers: dict[str, float | None] = dict(settings.limits)
    numbers |= {name: _dollars(cap) for name, cap in settings.budgets.items()}
    tools = text_input(_tools_shown(layers), lines=False)
    others = {name: text() for name, text in home_words.OTHERS.items()}
    allowed = [name for name in others if getattr(settings, name)]
    instructions_hint = profile_hint(layers, _INSTRUCTIONS)
    tools_hint = profile_hint(layers, _TOOLS) or home_words.TOOLS_EMPTY()
    return modal(
        place,
        [
            *profile_field(layers),
            field(
                _INSTRUCTIONS,
                home_words.CHANNEL_INSTRUCTIONS(),
                text_input(settings.instructions),
                hint=instructions_hint,
            ),
            field(
                _TOOLS,
                home_words.CHANNEL_TOOLS(),
                tools,
                hint=f"{home_words.TOOLS_HINT()} {tools_hint}",
            ),
            field(
                _PEOPLE,
                home_words.CHANNEL_PEOPLE(),
                people_input(settings.people or ()),
                hint=home_words.PEOPLE_HINT(),
            ),
            *(_choice(choice, settings) for choice in general.choices),
            *_channel_model(layers, general.models),
            field(_OTHERS, home_words.CHANNEL_OTHERS(), boxes_input(others, allowed)),
            *(_number(name, numbers.get(name), usual[name]) for name in _NUMBERS),
            *below,
            actions(_reset_button()),
        ],
        callback=CHANNEL_FORM,
        metadata=Target(channel=channel, shown=_hashes_of(layers)).model_dump_json(),
        submit=home_words.SAVE(),
        close=words.CLOSE(),
    )


def profile_field(layers: ChannelLayers) -> list[Block]:
    """Return the field in which an admin chooses the channel's profile, with a note if the one that
    was chosen is gone; no field if there is none to choose."""
    missing = layers.missing_profile
    note = [context(escape_mrkdwn(home_words.PROFILE_GONE(profile=missing))).block]
    if not layers.profiles:
        return note if missing else []
    titles = {"": home_words.NO_PROFILE()}
    titles |= {name: profile.titled(name) for name, profile in layers.profiles.items()}
    elsewhere = layers.profile_without_edits
    is_own = layers.configured is not None and layers.configured.own_profile is not None
    usual = home_words.PROFILE_OF_FILE if is_own else home_words.PROFILE_ELSEWHERE
    titles[elsewhere] = usual(profile=titles[elsewhere])
    names = dict.fromkeys((elsewhere, layers.profile, *titles))
    options = {f"{_PROFILE}:{name}": titles[name] for name in islice(names, MOST_OPTIONS)}
    menu = menu_input(options, f"{_PROFILE}:{layers.profile}")
    hint = home_words.CHANNEL_PROFILE_HINT()
    shown = field(_PROFILE, home_words.CHANNEL_PROFILE(), menu, hint=hint, optional=False)
    return [shown, *(note if missing else [])]


def profile_hint(layers: ChannelLayers, name: str) -> str:
    """Return whether the channel differs from its profile in a field; "" if that does not set it."""
    profile = layers.profiles.get(layers.profile)
    if profile is None or name not in profile.model_fields_set:
        return ""
    is_same = getattr(layers.settings, name) == getattr(layers.of_profile, name)
    hint = home_words.AS_IN_PROFILE if is_same else home_words.DIFFERS_FROM_PROFILE
    return hint(profile=profile.titled(layers.profile))


def _channel_model(layers: ChannelLayers, models: ModelChoices) -> list[Block]:
    """Return the field of the channel's model, whose first option is that of the profile if it sets
    one."""
    current, profile = layers.settings.model, layers.profiles.get(layers.profile)
    general = home_words.MODEL_AS_EVERYWHERE(model=models.configured[0])
    if profile and profile.model:
        title, model = profile.titled(layers.profile), models.label_of(profile.model)
        general = home_words.MODEL_AS_PROFILE(profile=title, model=model)
        current = "" if current == profile.model else current
    label, hint = home_words.CHANNEL_MODEL(), home_words.CHANNEL_MODEL_HINT()
    return model_field(models, current, label=label, general=general, hint=hint)


def reset_done(place: str) -> Block:
    """Return the modal that confirms a reset.

    The form cannot show the reset values, because Slack keeps the old input of a field.
    """
    done = plain_section(home_words.CHANNEL_RESET_DONE())
    return modal(place, [done], close=approval_words.SHOW_ALL_CLOSE())


def target(view: Mapping[str, Any]) -> str:
    """Return the channel of the modal. Raises MalformedPayload for metadata of another origin."""
    return _target(view).channel


def _target(view: Mapping[str, Any]) -> Target:
    try:
        return Target.model_validate_json(view.get("private_metadata") or "")
    except ValidationError:
        raise MalformedPayload("a modal with metadata that is not ours") from None


def settings_of(
    view: Mapping[str, Any],
    layers: ChannelLayers,
    is_tool: Callable[[str], bool],
    general: GeneralSettings,
    *,
    is_priced: bool,
    bot: str,
) -> ChannelSettings:
    """Return the settings of the channel, changed by the input of the form.

    What the admin left as it was shown stays as it is now, or becomes what another profile says:
    others may have changed it since. What both changed is told at its field. An empty field is what the
    profile says.

    `is_priced` says that the model's price is known; without it, limits in dollars are refused.
    `bot` is the bot's user id, which may not be among the people.

    Raises FormErrors for invalid input, and MalformedPayload for values that the form does not
    offer.
    """
    profile = _chosen_profile(view, layers)
    before, inherited = layers.with_profile(profile), layers.without_edits(profile)
    of_profile = layers.profiles[profile].model_fields_set if profile in layers.profiles else ()
    empty = {name: getattr(inherited, name) if name in of_profile else None for name in _INHERITED}
    tools, shown = _tool_names(_typed(view, _TOOLS)), _target(view).shown
    has_same_tools = _hash(tools) == shown.get(_TOOLS)
    known = {*(layers.settings.tools or ()), *(before.tools or ())}
    unknown = [name for name in tools if name not in known and not is_tool(name)]
    if unknown and not has_same_tools:
        raise FormErrors({_TOOLS: home_words.NO_SUCH_TOOL(names=", ".join(unknown))})
    money = [name for name in _MONEY if _typed(view, name)]
    if money and not is_priced:
        raise FormErrors(dict.fromkeys(money, home_words.NO_PRICE()))
    people = element(view, _PEOPLE).get("selected_users") or ()
    if {bot, SLACKBOT} & {*people}:
        raise FormErrors({_PEOPLE: home_words.ONLY_PEOPLE()})
    boxes = element(view, _OTHERS).get("selected_options") or ()
    checked = {option.get("value") for option in boxes}
    values = {
        "profile": profile,
        "instructions": _typed(view, _INSTRUCTIONS) or empty[_INSTRUCTIONS] or "",
        "tools": before.tools if has_same_tools else tools or empty[_TOOLS],
        "people": tuple(people) or None,
        **{choice.name: _own(chosen(view, choice.name)) for choice in general.choices},
        "model": chosen_model(view, general.models, before.model) or empty[_MODEL] or "",
        **{name: _checkbox(name in checked, getattr(before, name)) for name in home_words.OTHERS},
        "limits": _limits(view, before.limits),
        "budgets": _budgets(view, before),
    }
    try:
        wanted = type(before).model_validate(before.model_copy(update=values).model_dump())
    except ValidationError:
        raise MalformedPayload("settings that the form does not offer") from None
    hashes, now = _hashes(wanted), _hashes_of(layers)
    if has_same_tools:
        hashes[_TOOLS] = shown[_TOOLS]
    unchanged = hashes.items() & shown.items()
    twice = [
        name for name, was in shown.items() if len({was, hashes.get(name), now.get(name)}) == 3
    ]
    if twice:
        blocks = [_BLOCKS.get(name, name) for name in twice]
        raise FormErrors(dict.fromkeys(blocks, home_words.CHANGED_MEANWHILE()))
    return wanted.model_copy(update={name: getattr(before, name) for name, _ in unchanged})


def _chosen_profile(view: Mapping[str, Any], layers: ChannelLayers) -> str:
    """Return the name of the profile that was chosen; the one that applies if the form has no such
    field, and if the admin left it as it was shown. Raises MalformedPayload for an unknown one."""
    if _PROFILE not in view["state"]["values"]:
        return layers.profile
    value = chosen(view, _PROFILE)
    name = value.removeprefix(f"{_PROFILE}:")
    if value == name or not (name == "" or name in layers.profiles):
        raise MalformedPayload("a profile that the form does not offer")
    return layers.profile if _hash(name) == _target(view).shown.get(_PROFILE) else name


def _tools_shown(layers: ChannelLayers) -> str:
    """Return the channel's own tools as the form shows them; "" if they are those of its profile, which
    joined with the general ones may be longer than any field."""
    tools = layers.settings.tools or ()
    profile = layers.profiles.get(layers.profile)
    if profile and _TOOLS in profile.model_fields_set and tools == layers.of_profile.tools:
        return ""
    return shortened(", ".join(tools), MAX_INPUT)


def _tool_names(typed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in typed.split(",") if name.strip())


def _hashes_of(layers: ChannelLayers) -> dict[str, str]:
    """Return a short hash of each setting; of the tools that of the names in the form."""
    return _hashes(layers.settings) | {_TOOLS: _hash(_tool_names(_tools_shown(layers)))}


def _hashes(settings: ChannelSettings) -> dict[str, str]:
    """Return a short hash of each setting."""
    return {name: _hash(value) for name, value in settings.model_dump(mode="json").items()}


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def _checkbox(checked: bool, before: bool | None) -> bool | None:
    """Return None, the general setting, if the box is not checked and was never set."""
    return None if before is None and not checked else checked


def _own(choice: str) -> str | None:
    """Return the channel's own choice, None for the general setting."""
    return None if choice == _EVERYWHERE else choice


def _limits(view: Mapping[str, Any], before: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the limits: those of the form, and others, which the form omits, as before."""
    typed = {name: _amount(_typed(view, name)) for name in _LIMITS if _typed(view, name)}
    return {name: limit for name, limit in before.items() if name not in _LIMITS} | typed


def _budgets(view: Mapping[str, Any], before: ChannelSettings) -> dict[str, Cap]:
    """Return the budgets: dollars from the form, and tokens, which the form omits, as before."""
    budgets = {}
    caps = {"day": before.budgets.get("day"), "month": before.budgets.get("month")}
    for name, cap in caps.items():
        cost, tokens = _typed(view, name), cap.tokens if cap else None
        if cost or tokens:
            budgets[name] = Cap(cost=_amount(cost) if cost else None, tokens=tokens)
    return budgets


def _dollars(cap: Cap | None) -> float | None:
    return cap.cost if cap else None


def _amount(typed: str) -> float:
    """Return the number in a number field, as int if it is whole. Raises MalformedPayload."""
    try:
        number = float(typed)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise MalformedPayload("a field for numbers without one")
    return int(number) if number.is_integer() else number


def _typed(view: Mapping[str, Any], name: str) -> str:
    return str(element(view, name).get("value") or "").strip()


def _choice(choice: ChannelChoice, settings: ChannelSettings) -> Block:
    """Return the field of a choice; the option for the general setting names that."""
    options: dict[str, Block | str] = {}
    if choice.usual is not None:
        usual = choice.options[choice.usual]()
        options[_EVERYWHERE] = words.LABELLED(label=home_words.AS_ELSEWHERE(), value=usual)
    options |= {value: text() for value, text in choice.options.items()}
    element = choice_input(options, getattr(settings, choice.name) or _EVERYWHERE)
    return field(choice.name, choice.label(), element, optional=False)


def _number(name: str, value: float | None, usual: float | None) -> Block:
    empty = home_words.NO_BOUND() if usual is None else digits(usual)
    element = number_input(value, whole=name == "turns")
    return field(name, _NUMBERS[name](), element, hint=home_words.EMPTY_IS(usual=empty))


def _reset_button() -> Block:
    return with_confirmation(
        button(home_words.CHANNEL_RESET(), RESET),
        home_words.CHANNEL_RESET(),
        home_words.CHANNEL_RESET_SURE(),
        yes=home_words.RESET(),
        no=words.CLOSE(),
        style="",
    )


def personal_form(current: Preferences, models: ModelChoices) -> Block:
    """Return the modal in which people set how the bot answers them, filled in with `current`."""
    style = text_input(current.style, longest=MAX_STYLE, placeholder=home_words.STYLE_EXAMPLE())
    places: dict[str, Block | str] = {_THREAD: words.IN_THREAD(), _ONLY_ME: words.ONLY_ME()}
    where = choice_input(places, _ONLY_ME if current.only_me else _THREAD)
    return modal(
        home_words.PERSONAL_TITLE(),
        [
            field(_STYLE, home_words.STYLE_LABEL(), style, hint=home_words.STYLE_HINT()),
            field(
                _WHERE,
                home_words.PERSONAL_WHERE(),
                where,
                hint=home_words.DRAFTS_HINT(),
                optional=False,
            ),
            *model_field(
                models,
                current.model,
                label=home_words.PERSONAL_MODEL(),
                general=home_words.MODEL_AS_CHANNEL(),
            ),
        ],
        callback=PERSONAL_FORM,
        submit=home_words.SAVE(),
        close=words.CLOSE(),
    )


def preferences_of(
    view: Mapping[str, Any], before: Preferences, models: ModelChoices
) -> Preferences:
    """Return the preferences `before`, changed by the input of the form.

    Raises MalformedPayload for a model that the form does not offer.
    """
    return Preferences(
        style=_typed(view, _STYLE)[:MAX_STYLE],
        only_me=chosen(view, _WHERE) == _ONLY_ME,
        model=chosen_model(view, models, before.model),
    )


def model_field(
    models: ModelChoices, current: str, *, label: str, general: str, hint: str = ""
) -> list[Block]:
    """Return the field in which people choose a model from the operator's list, with the choice
    `current`; no field if there is nothing to choose.

    `general` is the text of the first option, for people who choose nothing.
    """
    if not models.choices:
        return []
    options: dict[str, Block | str] = {_GENERAL: general}
    options |= {_CHOICE + choice.name: choice.label for choice in models.choices}
    first = models.first_of(current)
    element = choice_input(options, _CHOICE + first if first else _GENERAL)
    return [field(_MODEL, label, element, hint=hint, optional=False)]


def chosen_model(view: Mapping[str, Any], models: ModelChoices, before: str) -> str:
    """Return the name of the submitted choice, "" for none; `before` if the form had no such field.

    Raises MalformedPayload for a choice that the operator does not offer.
    """
    if _MODEL not in view["state"]["values"]:
        return before
    value = chosen(view, _MODEL)
    name = value.removeprefix(_CHOICE)
    if value == _GENERAL:
        return ""
    if value == name or not models.first_of(name):
        raise MalformedPayload("a model that the form does not offer")
    return name


def shown_model(models: ModelChoices, choice: str) -> str:
    """Return a person's choice for the Home tab; "" where there is nothing to choose."""
    labels = {offered.name: offered.label for offered in models.choices}
    return labels.get(choice, home_words.MODEL_AS_CHANNEL()) if labels else ""
