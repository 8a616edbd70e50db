"""The modal in which an admin changes the settings of one channel."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from bot.agent.limits import Limits
from bot.core.budgets import Cap
from bot.core.errors import MalformedPayload
from bot.core.findings import EvidenceMode
from bot.model import ModelChoices
from bot.runs.policy.budgets import Budgets
from bot.runs.policy.channels import ChannelSettings, Confirm, DuringRun, Follow
from bot.slack.edge.payloads import SLACKBOT, chosen, element
from bot.slack.intake.home.model_field import chosen_model, model_field
from bot.slack.ui import approval_words, home_words, words
from bot.slack.ui.modals import FormErrors
from bot.slack.ui.parts import Block, shortened, text_object
from bot.text.translation import Text

CHANNEL_FORM = "channel_settings"
RESET = "channel_reset"

_INSTRUCTIONS, _TOOLS, _PEOPLE, _FOLLOW = "instructions", "tools", "people", "follow"
_DURING_RUN = "during_run"
_CONFIRM, _EVIDENCE, _EVERYWHERE = "confirm", "evidence", "everywhere"
_OTHERS, _TURNS, _COST = "others", "turns", "cost"
_DAY, _MONTH = "day", "month"
_GUESTS, _EXTERNAL = "allow_guests", "allow_external"
_MAX_TITLE = 24


class Target(BaseModel):
    """The channel of a modal, stored in its metadata.

    `shown` are hashes of the settings with which it was opened, by name.
    """

    channel: str
    shown: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class GeneralSettings:
    """The settings that apply where a channel sets nothing."""

    limits: Limits
    budgets: Budgets
    confirm: Confirm
    models: ModelChoices
    evidence: EvidenceMode

    @property
    def numbers(self) -> dict[str, float | None]:
        """Return the values for the number fields of the form, by their block id."""
        caps = {_DAY: self.budgets.channel_day, _MONTH: self.budgets.channel_month}
        dollars = {name: _dollars(cap) for name, cap in caps.items()}
        return {_TURNS: self.limits.turns, _COST: self.limits.cost, **dollars}


def channel_form(
    channel: str, place: str, settings: ChannelSettings, general: GeneralSettings
) -> Block:
    """Return the modal, filled in with the settings that differ in this channel.

    An empty field means the general setting; its hint shows that value.
    """
    defaults = general.numbers
    confirm = _labels(home_words.CONFIRM, general.confirm)
    evidence = _labels(home_words.EVIDENCE, general.evidence)
    return {
        "type": "modal",
        "callback_id": CHANNEL_FORM,
        "private_metadata": Target(channel=channel, shown=_hashes(settings)).model_dump_json(),
        "title": text_object(shortened(place, _MAX_TITLE)),
        "submit": text_object(home_words.SAVE()),
        "close": text_object(words.CLOSE()),
        "blocks": [
            _text(
                _INSTRUCTIONS, home_words.CHANNEL_INSTRUCTIONS(), settings.instructions, lines=True
            ),
            _text(
                _TOOLS,
                home_words.CHANNEL_TOOLS(),
                ", ".join(settings.tools or ()),
                home_words.TOOLS_HINT(),
            ),
            _people(settings.people or ()),
            _choice(
                _FOLLOW,
                home_words.CHANNEL_FOLLOW(),
                _labels(home_words.FOLLOW),
                get_args(Follow),
                settings.follow,
            ),
            _choice(
                _DURING_RUN,
                home_words.CHANNEL_DURING_RUN(),
                _labels(home_words.DURING_RUN),
                get_args(DuringRun),
                settings.during_run,
            ),
            _choice(
                _CONFIRM,
                home_words.CHANNEL_CONFIRM(),
                confirm,
                tuple(confirm),
                settings.confirm or _EVERYWHERE,
            ),
            _choice(
                _EVIDENCE,
                home_words.CHANNEL_EVIDENCE(),
                evidence,
                tuple(evidence),
                settings.evidence or _EVERYWHERE,
            ),
            *model_field(
                general.models,
                settings.model,
                label=home_words.CHANNEL_MODEL(),
                general=home_words.MODEL_AS_EVERYWHERE(model=general.models.configured[0]),
                hint=home_words.CHANNEL_MODEL_HINT(),
            ),
            _others(settings),
            _number(_TURNS, home_words.CHANNEL_TURNS(), settings.limits.get("turns"), defaults),
            _number(_COST, home_words.CHANNEL_COST(), settings.limits.get("cost"), defaults),
            _number(
                _DAY, home_words.CHANNEL_DAY(), _dollars(settings.budgets.get("day")), defaults
            ),
            _number(
                _MONTH,
                home_words.CHANNEL_MONTH(),
                _dollars(settings.budgets.get("month")),
                defaults,
            ),
            {"type": "actions", "elements": [_reset()]},
        ],
    }


def reset_done(place: str) -> Block:
    """Return the modal that confirms a reset.

    The form cannot show the reset values, because Slack keeps the old input of a field.
    """
    return {
        "type": "modal",
        "title": text_object(shortened(place, _MAX_TITLE)),
        "close": text_object(approval_words.SHOW_ALL_CLOSE()),
        "blocks": [{"type": "section", "text": text_object(home_words.CHANNEL_RESET_DONE())}],
    }


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
    before: ChannelSettings,
    is_tool: Callable[[str], bool],
    models: ModelChoices,
    *,
    is_priced: bool,
    bot: str,
) -> ChannelSettings:
    """Return the settings `before`, changed by the input of the form.

    What the admin left as it was shown stays as it is now: others may have changed it since.

    `is_priced` says that the model's price is known; without it, limits in dollars are refused.
    `bot` is the bot's user id, which may not be among the people.

    Raises FormErrors for invalid input, and MalformedPayload for values that the form does not
    offer.
    """
    tools = [each.strip() for each in _value(view, _TOOLS).split(",") if each.strip()]
    if unknown := [each for each in tools if not is_tool(each)]:
        raise FormErrors({_TOOLS: home_words.NO_SUCH_TOOL(names=", ".join(unknown))})
    money = [each for each in (_COST, _DAY, _MONTH) if _value(view, each)]
    if money and not is_priced:
        raise FormErrors(dict.fromkeys(money, home_words.NO_PRICE()))
    people = element(view, _PEOPLE).get("selected_users") or None
    if {bot, SLACKBOT} & {*(people or ())}:
        raise FormErrors({_PEOPLE: home_words.ONLY_PEOPLE()})
    others = {each.get("value") for each in element(view, _OTHERS).get("selected_options") or ()}
    changed = before.model_copy(
        update={
            "instructions": _value(view, _INSTRUCTIONS),
            "tools": tuple(tools) or None,
            "people": tuple(people) if people else None,
            "follow": chosen(view, _FOLLOW),
            "during_run": chosen(view, _DURING_RUN),
            "confirm": _own(chosen(view, _CONFIRM)),
            "evidence": _own(chosen(view, _EVIDENCE)),
            "model": chosen_model(view, models, before.model),
            "allow_guests": _checkbox(_GUESTS in others, before.allow_guests),
            "allow_external": _checkbox(_EXTERNAL in others, before.allow_external),
            "limits": _limits(view, before.limits),
            "budgets": _budgets(view, before),
        }
    )
    try:
        wanted = ChannelSettings.model_validate(changed.model_dump())
    except ValidationError:
        raise MalformedPayload("settings that the form does not offer") from None
    left = _hashes(wanted).items() & _target(view).shown.items()
    return wanted.model_copy(update={name: getattr(before, name) for name, _ in left})


def _hashes(settings: ChannelSettings) -> dict[str, str]:
    """Return a short hash of each setting."""
    values = settings.model_dump(mode="json")
    return {
        name: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]
        for name, value in values.items()
    }


def _checkbox(checked: bool, before: bool | None) -> bool | None:
    """Return None, the general setting, if the box is not checked and was never set."""
    return None if before is None and not checked else checked


def _own(choice: str) -> str | None:
    """Return the channel's own choice, None for the general setting."""
    return None if choice == _EVERYWHERE else choice


def _limits(view: Mapping[str, Any], before: Mapping[str, float | None]) -> dict[str, float | None]:
    limits = {name: each for name, each in before.items() if name not in (_TURNS, _COST)}
    for name in (_TURNS, _COST):
        if given := _value(view, name):
            limits[name] = _amount(given)
    return limits


def _budgets(view: Mapping[str, Any], before: ChannelSettings) -> dict[str, Cap]:
    """Return the budgets: dollars from the form, and tokens, which the form omits, as before."""
    found = {}
    for name, old in ((_DAY, before.budgets.get("day")), (_MONTH, before.budgets.get("month"))):
        cost, tokens = _value(view, name), old.tokens if old else None
        if cost or tokens:
            found[name] = Cap(cost=_amount(cost) if cost else None, tokens=tokens)
    return found


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


def _value(view: Mapping[str, Any], name: str) -> str:
    return str(element(view, name).get("value") or "").strip()


def _text(name: str, label: str, value: str, hint: str = "", *, lines: bool = False) -> Block:
    field: Block = {
        "type": "plain_text_input",
        "action_id": name,
        "multiline": lines,
        "max_length": 3_000,
    }
    if value:
        field["initial_value"] = value
    return _optional(name, label, field) | ({"hint": text_object(hint)} if hint else {})


def _number(
    name: str, label: str, value: float | None, defaults: Mapping[str, float | None]
) -> Block:
    decimal, default = name != _TURNS, defaults[name]
    field: Block = {
        "type": "number_input",
        "action_id": name,
        "is_decimal_allowed": decimal,
        "min_value": "0.01" if decimal else "1",
    }
    if value is not None:
        field["initial_value"] = _digits(value)
    empty = home_words.NO_BOUND() if default is None else _digits(default)
    return _optional(name, label, field) | {"hint": text_object(home_words.EMPTY_IS(usual=empty))}


def _digits(value: float) -> str:
    """Format a number without trailing zeros: Slack refuses a decimal point for integers."""
    return f"{value:f}".rstrip("0").rstrip(".")


def _people(people: tuple[str, ...]) -> Block:
    field: Block = {"type": "multi_users_select", "action_id": _PEOPLE}
    if people:
        field["initial_users"] = list(people)
    return _optional(_PEOPLE, home_words.CHANNEL_PEOPLE(), field)


def _labels(texts: Mapping[str, Text], general: str = "") -> dict[str, str]:
    """Return the labels of choices; that of the general setting, "everywhere", names it."""
    labels = {value: text() for value, text in texts.items()}
    if general:
        labels[_EVERYWHERE] = words.LABELLED(label=labels[_EVERYWHERE], value=labels[general])
    return labels


def _choice(
    name: str, label: str, texts: Mapping[str, str], values: Iterable[str], selected: str
) -> Block:
    options = {value: _option(texts[value], value) for value in values}
    field = {
        "type": "radio_buttons",
        "action_id": name,
        "options": list(options.values()),
        "initial_option": options[selected],
    }
    return _input(name, label, field)


def _others(settings: ChannelSettings) -> Block:
    options = {name: _option(home_words.OTHERS[name](), name) for name in (_GUESTS, _EXTERNAL)}
    chosen = [option for name, option in options.items() if getattr(settings, name)]
    field: Block = {"type": "checkboxes", "action_id": _OTHERS, "options": list(options.values())}
    if chosen:
        field["initial_options"] = chosen
    return _optional(_OTHERS, home_words.CHANNEL_OTHERS(), field)


def _reset() -> Block:
    return {
        "type": "button",
        "action_id": RESET,
        "text": text_object(home_words.CHANNEL_RESET()),
        "confirm": {
            "title": text_object(home_words.CHANNEL_RESET()),
            "text": text_object(home_words.CHANNEL_RESET_SURE()),
            "confirm": text_object(home_words.RESET()),
            "deny": text_object(words.CLOSE()),
        },
    }


def _option(text: str, value: str) -> Block:
    return {"text": text_object(text), "value": value}


def _optional(block_id: str, label: str, field: Block) -> Block:
    return _input(block_id, label, field) | {"optional": True}


def _input(block_id: str, label: str, field: Block) -> Block:
    return {"type": "input", "block_id": block_id, "label": text_object(label), "element": field}
