"""The forms of rules: a new one or a change, one that is open, and what a dry run found."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.errors import MalformedPayload
from bot.features.triggers import words
from bot.features.triggers.describing import NO_NAMES, AppNames, dollars, whole
from bot.features.triggers.rules import Rest, Rule, RuleState
from bot.features.triggers.settings import LONGEST_AGE, TriggerSettings
from bot.features.triggers.store import Used
from bot.slack.edge.payloads import SLACKBOT, element
from bot.slack.ui.blocks import (
    Block,
    FormErrors,
    actions,
    boxes_input,
    button,
    channel_input,
    choice_input,
    digits,
    field,
    modal,
    number_input,
    people_input,
    plain_section,
    text_input,
    with_confirmation,
)
from bot.slack.ui.parts import context
from bot.slack.ui.trials import written
from bot.slack.ui.words import CLOSE, CLOSE_ONLY

FORM = "rule_form"
PAUSE, RESUME, REMOVE, LOOK = "rule_pause", "rule_resume", "rule_remove", "rule_look"
CHANGE, APPROVE, DECLINE, ASK = "rule_change", "rule_approve", "rule_decline", "rule_ask"

_CHANNEL, _WHO, _PEOPLE, _APPS, _WORDS = "channel", "who", "people", "apps", "words"
_PATTERN, _QUESTION, _INSTRUCTION, _ALSO = "pattern", "question", "instruction", "also"
_MINUTES, _HOUR, _DAY, _DOLLARS = "age_minutes", "runs_per_hour", "runs_per_day", "daily_dollars"
_REPLIES, _AGAIN, _OWNER = "replies", "again", "owner"
_ANYBODY, _THESE, _ONLY_APPS = "anybody", "these", "apps"
_MAX_TEXT, _MAX_LINE, _MAX_PATTERN = 3_000, 1_000, 500  # characters
APP_ID = re.compile(r"[AB][A-Z0-9]{5,29}")
"""Ids of apps, and as bots those of integrations that are no apps."""


class RuleTarget(BaseModel):
    """The rule of a modal, stored in its metadata, as it was when the modal was opened; "" for a new one."""

    model_config = ConfigDict(frozen=True)

    id: str = ""
    revision: int = 0

    @classmethod
    def of(cls, text: str) -> RuleTarget:
        """Return that of a modal or button. Raises MalformedPayload for what is not ours."""
        try:
            return cls.model_validate_json(text)
        except ValidationError:
            raise MalformedPayload("a modal or button of a rule that is not ours") from None

    @classmethod
    def value(cls, rule: Rule) -> str:
        """Return what a modal or button of the rule carries."""
        return cls(id=rule.id, revision=rule.revision).model_dump_json()


def rule_form(
    rule: Rule | None,
    limits: TriggerSettings,
    apps: AppNames = NO_NAMES,
    *,
    with_owner: bool = False,
) -> Block:
    """Return the form of a rule, filled in; of a new one without `rule`. `with_owner` its owner can be
    replaced, too."""
    people = people_input(rule.people if rule else ())
    named = ", ".join(apps.get(app, app) for app in (rule.apps if rule else ()))
    quoted = ", ".join(rule.words) if rule else ""
    pattern = text_input(rule.pattern if rule else "", lines=False, longest=_MAX_PATTERN)
    question = text_input(rule.question if rule else "", lines=False, longest=500)
    instruction = text_input(rule.instruction if rule else "", longest=_MAX_TEXT)
    also = {_REPLIES: words.REPLIES(), _AGAIN: words.AGAIN()}
    checked = [name for name in also if rule and getattr(rule, name)]
    channel = field(_CHANNEL, words.CHANNEL(), channel_input(), optional=False)
    owner = people_input([rule.owner] if rule else ()) | {"max_selected_items": 1}

    def line(name: str, label: str, value: str, hint: str) -> Block:
        return field(name, label, text_input(value, lines=False, longest=_MAX_LINE), hint=hint)

    return modal(
        words.TITLE() if rule else words.NEW_TITLE(),
        [
            *([] if rule else [channel]),
            field(_WHO, words.WHO(), choice_input(_choices(), _who(rule)), optional=False),
            field(_PEOPLE, words.PEOPLE(), people),
            line(_APPS, words.APPS(), named, words.APPS_HINT()),
            line(_WORDS, words.WORDS(), quoted, words.WORDS_HINT()),
            field(_PATTERN, words.PATTERN(), pattern, hint=words.PATTERN_HINT()),
            field(_QUESTION, words.QUESTION(), question, hint=words.QUESTION_HINT()),
            field(
                _INSTRUCTION,
                words.INSTRUCTION(),
                instruction,
                hint=words.INSTRUCTION_HINT(),
                optional=False,
            ),
            field(_ALSO, words.ALSO(), boxes_input(also, checked)),
            *(_number(name, rule, limits) for name in _NUMBERS),
            *([field(_OWNER, words.OWNER(), owner, hint=words.OWNER_HINT())] if with_owner else []),
        ],
        callback=FORM,
        metadata=RuleTarget.value(rule) if rule else RuleTarget().model_dump_json(),
        submit=words.CHECK_SUBMIT(),
        close=CLOSE(),
    )


def fields_of(view: Mapping[str, Any], bot: str) -> dict[str, Any]:
    """Return the fields of a rule as the form has them; `apps` as they were written.

    `bot` is the bot's user id. Raises FormErrors, and MalformedPayload for values that the form does not
    offer.
    """
    who = str((element(view, _WHO).get("selected_option") or {}).get("value") or "")
    if who not in _choices():
        raise MalformedPayload("a choice that the form does not offer")
    people, apps = tuple(element(view, _PEOPLE).get("selected_users") or ()), _parted(view, _APPS)
    if people and who != _THESE:  # else the rule would be for more people than somebody meant
        raise FormErrors({_WHO: words.NAMED_PEOPLE(these=words.FROM_THESE())})
    if (who == _THESE and not people and not apps) or (who == _ONLY_APPS and not apps):
        raise FormErrors({_WHO: words.NOBODY()})
    if {bot, SLACKBOT} & {*people}:
        raise no_people()
    boxes = element(view, _ALSO).get("selected_options") or ()
    checked = {str(option.get("value")) for option in boxes}
    return {
        "anyone": who == _ANYBODY,
        "people": people,
        "apps": apps,
        "words": _parted(view, _WORDS),
        "pattern": written(view, _PATTERN, _MAX_PATTERN).strip(),
        "question": written(view, _QUESTION, 500).strip(),
        "instruction": _instruction(view),
        "replies": _REPLIES in checked,
        "again": _AGAIN in checked,
        **{name: _amount(view, name) for name in _NUMBERS if written(view, name, 20)},
    }


def channel_of(view: Mapping[str, Any]) -> str:
    """Return the channel that was chosen for a new rule."""
    return str(element(view, _CHANNEL).get("selected_conversation") or "")


def owner_of(view: Mapping[str, Any]) -> str:
    """Return the new owner that was chosen; "" without one."""
    state = view["state"]["values"].get(_OWNER, {}).get(_OWNER) or {}
    return str(next(iter(state.get("selected_users") or ()), ""))


def no_such_app(names: Sequence[str], there: AppNames) -> FormErrors:
    """Return the error for apps that are not `there`, among those that posted in the channel."""
    known = ", ".join(sorted(set(there.values())))
    error = words.NO_SUCH_APP(names=", ".join(names))
    return FormErrors({_APPS: f"{error} {words.APPS_THERE(names=known)}" if known else error})


def not_possible(why: str, where: str, *, is_new: bool) -> FormErrors:
    """Return the error for a rule that may not be, at the field `where` if the form has that."""
    if where not in (_APPS, _PATTERN):
        where = _CHANNEL if is_new else _INSTRUCTION
    return FormErrors({where: why})


def no_people() -> FormErrors:
    """Return the error for apps among the people."""
    return FormErrors({_PEOPLE: words.ONLY_PEOPLE()})


def rule_view(
    rule: Rule,
    *above: Block,
    apps: AppNames,
    used: Used | None,
    may_approve: bool,
    can_look: bool = True,
    can_ask: bool = True,
    is_looked_at: bool = False,
) -> Block:
    """Return a rule that is open to its owner or to somebody who may approve it, with what they can do,
    and `above`, such as what a dry run found."""
    return modal(
        words.TITLE(),
        [
            *above,
            *whole(rule, apps, used),
            *([context(_costs(rule, used)).block] if rule.question and can_look else []),
            actions(*_buttons(rule, may_approve, can_look, can_ask, is_looked_at)),
        ],
        metadata=RuleTarget.value(rule),
        close=CLOSE_ONLY(),
    )


def done(sentence: str) -> Block:
    """Return the modal that says what was done."""
    return modal(words.TITLE(), [plain_section(sentence)], close=CLOSE_ONLY())


def decide_row(rule: Rule) -> Block:
    """Return the buttons with which somebody decides about a rule."""
    value = RuleTarget.value(rule)
    return actions(
        button(words.CARD_APPROVE(), APPROVE, value, style="primary"),
        button(words.CARD_DECLINE(), DECLINE, value, style="danger"),
    )


def _costs(rule: Rule, used: Used | None) -> str:
    left = max(0.0, rule.daily_dollars - (used.dollars if used else 0.0))
    return words.LOOK_COSTS(dollars=dollars(left))


def _buttons(
    rule: Rule, may_approve: bool, can_look: bool, can_ask: bool, is_looked_at: bool
) -> list[Block]:
    """Return the buttons; the one that comes next stands out."""
    value, waits = RuleTarget.value(rule), rule.state is RuleState.WAITING
    look, go_on = ("", "primary") if is_looked_at or not waits else ("primary", "")
    row = [button(words.LOOK(), LOOK, value, style=look)] if can_look else []
    if waits and may_approve:
        row.append(button(words.SWITCH_ON(), APPROVE, value, style=go_on))
    elif waits and can_ask:
        row.append(button(words.ASK_APPROVAL(), ASK, value, style=go_on))
    row.append(button(words.CHANGE(), CHANGE, value))
    if rule.state is RuleState.ON:
        row.append(button(words.PAUSE(), PAUSE, value))
    if rule.state is RuleState.PAUSED and (may_approve or rule.rest is not Rest.ADMIN):
        row.append(button(words.RESUME(), RESUME, value))
    return [*row, _remove_button(value)]


def _remove_button(value: str) -> Block:
    return with_confirmation(
        button(words.REMOVE(), REMOVE, value, style="danger"),
        words.REMOVE_RULE(),
        words.REMOVE_SURE(),
        yes=words.REMOVE(),
        no=words.KEEP(),
    )


_NUMBERS = {
    _MINUTES: words.MINUTES,
    _HOUR: words.PER_HOUR,
    _DAY: words.PER_DAY,
    _DOLLARS: words.DOLLARS,
}


def _number(name: str, rule: Rule | None, limits: TriggerSettings) -> Block:
    value: float = getattr(rule or limits, name)
    most = LONGEST_AGE if name == _MINUTES else max(value, getattr(limits, name))
    number = number_input(value, whole=name != _DOLLARS) | {"max_value": digits(most)}
    hint = words.MOST(most=dollars(most) if name == _DOLLARS else most)
    return field(name, _NUMBERS[name](), number, hint=hint)


def _choices() -> dict[str, Block | str]:
    return {
        _ANYBODY: words.FROM_ANYBODY(),
        _THESE: words.FROM_THESE(),
        _ONLY_APPS: words.FROM_APPS(),
    }


def _who(rule: Rule | None) -> str:
    if rule is None or rule.anyone:
        return _ANYBODY
    return _THESE if rule.people else _ONLY_APPS


def _instruction(view: Mapping[str, Any]) -> str:
    instruction = written(view, _INSTRUCTION, _MAX_TEXT).strip()
    if not instruction:
        raise FormErrors({_INSTRUCTION: words.NO_INSTRUCTION()})
    return instruction


def _amount(view: Mapping[str, Any], name: str) -> float:
    """Return the number in a field. Raises MalformedPayload."""
    try:
        return float(written(view, name, 20)) if name == _DOLLARS else int(written(view, name, 20))
    except ValueError:
        raise MalformedPayload("a field for numbers without one") from None


def _parted(view: Mapping[str, Any], name: str) -> tuple[str, ...]:
    parts = (part.strip() for part in re.split(r"[,，、\n]", written(view, name, _MAX_LINE)))
    return tuple(dict.fromkeys(filter(None, parts)))
