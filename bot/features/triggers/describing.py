"""A rule in plain words, as people and operators read it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from bot.features.triggers import words
from bot.features.triggers.rules import Rule, RuleState
from bot.features.triggers.store import Used
from bot.slack.ui.blocks import Block, plain_section, section, shortened
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import cut_text
from bot.slack.ui.words import LABELLED, OR
from bot.text.locales import money
from bot.text.translation import Text, reader_locale

_SHORT = 300  # characters of an instruction in a sentence
_MOST = 5  # people, apps or words that a sentence names
_MAX_SECTION, _MAX_NAME = 3_000, 30

AppNames = Mapping[str, str]
"""Names of apps by their ids, as far as they are known."""

NO_NAMES: AppNames = MappingProxyType({})


def sentence(rule: Rule, apps: AppNames = NO_NAMES) -> str:
    """Return the rule as a sentence in mrkdwn; it names a few of many people, apps and words."""
    return words.SAYS(
        who=_who(rule, apps),
        what=what_of(rule, _safe),
        channel=f"<#{rule.channel}>",
        instruction=_safe(shortened(" ".join(rule.instruction.split()), _SHORT)),
    )


def what_of(rule: Rule, shown: Callable[[str], str] = str) -> str:
    """Return what is posted, "“error” or “outage”"; each text as it is `shown`."""
    named = OR().join(words.QUOTED(text=shown(word)) for word in rule.words[:_MOST])
    named += " …" if len(rule.words) > _MOST else ""
    matching = words.MATCHING(pattern=f"`{shown(rule.pattern)}`") if rule.pattern else ""
    if named and matching:
        return words.BOTH(words=named, matching=matching)
    return named or matching or words.SOMETHING()


def state_of(rule: Rule) -> str:
    """Return what the rule does now, and why it rests."""
    if rule.state is RuleState.PAUSED and rule.rest:
        return words.RESTS[rule.rest]()
    return words.STATES[rule.state]()


def whole(
    rule: Rule, apps: AppNames, used: Used | None = None, *, with_state: bool = True
) -> list[Block]:
    """Return all that a rule says, and nothing shortened, as whoever approves it reads it."""
    also = [
        text()
        for text, holds in ((words.REPLIES, rule.replies), (words.AGAIN, rule.again))
        if holds
    ]
    limits = words.LIMITED(
        hour=rule.runs_per_hour,
        day=rule.runs_per_day,
        dollars=dollars(rule.daily_dollars),
        minutes=rule.age_minutes,
    )
    lines = [
        _line(words.QUESTION, _safe(rule.question)) if rule.question else "",
        _line(words.ALSO, ", ".join(also)) if also else "",
        _line(words.LIMITS, limits),
        _line(words.OWNER, f"<@{rule.owner}>"),
        _line(words.STATE, state_of(rule)) if with_state else "",
        _line(words.TODAY, words.USED(used.day, dollars=dollars(used.dollars))) if used else "",
    ]
    says = sentence(rule, apps)
    is_cut = (
        len(says) > _MAX_SECTION
        or len(rule.instruction) > _SHORT
        or max(map(len, (rule.people, rule.apps, rule.words))) > _MOST
    )
    return [
        section(shortened(says, _MAX_SECTION)),
        *(_at_length(rule, apps) if is_cut else []),
        section("\n".join(filter(None, lines))),
    ]


def _at_length(rule: Rule, apps: AppNames) -> list[Block]:
    """Return what the sentence about a rule may leave out."""
    named = [f"{shortened(apps.get(app, ''), _MAX_NAME)} ({app})".strip() for app in rule.apps]
    people = ", ".join(f"<@{user}>" for user in rule.people)
    texts = (
        (words.APPS, ", ".join(named)),
        (words.WORDS, ", ".join(rule.words)),
        (words.PATTERN, rule.pattern),
        (words.INSTRUCTION, rule.instruction),
    )
    return [
        *([section(_line(words.PEOPLE, people))] if people else []),
        *(
            plain_section(piece)
            for label, text in texts
            if text
            for piece in cut_text(LABELLED(label=label(), value=text), _MAX_SECTION)
        ),
    ]


def dollars(amount: float) -> str:
    """Return an amount of money in the reader's language."""
    return money(amount, reader_locale())


def _who(rule: Rule, apps: AppNames) -> str:
    people = [words.ANYBODY()] if rule.anyone else [f"<@{user}>" for user in rule.people]
    named = [words.APP(name=_safe(apps.get(app, app))) for app in rule.apps]
    every = [*people, *named]
    return OR().join(every[:_MOST]) + (" …" if len(every) > _MOST else "")


def _line(label: Text, value: str) -> str:
    return LABELLED(label=f"*{label()}*", value=value)


def _safe(text: str) -> str:
    """Return text that people wrote as mrkdwn without links, mentions and code."""
    return LinkGate().mrkdwn(text).replace("`", "ˋ")
