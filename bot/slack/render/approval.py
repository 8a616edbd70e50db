"""The card on which people decide about a call: drawn by code, from exactly what would be done."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from babel.lists import format_list
from pydantic import BaseModel, ConfigDict

from bot.core.approvals import Approval, Asked, Decision, Made, Verdict
from bot.core.redaction import redacted
from bot.core.schedule import cron_in_words, is_said_whole
from bot.core.time_zones import day_and_time
from bot.slack.progress import Progress, Step, StepStatus
from bot.slack.render import words
from bot.slack.render.buttons import APPROVE, APPROVE_THREAD, DENY, SHOW_ALL, named, stop_button
from bot.slack.render.links import LinkGate
from bot.slack.render.parts import Block, Part, context, shortened
from bot.slack.render.progress import plan
from bot.slack.render.times import local_time, local_time_element
from bot.slack.text import clean

_CHANNEL = re.compile(r"#?\b(C[A-Z0-9]{8,})\b")
_NAME = re.compile(r"[\w.$@:/ -]{1,60}")  # of an argument, that says nothing else
_SHOWN = 1_200  # characters of one argument on the card
_ONE_LINE = 60  # characters of a value that stands beside its name
_MOST_FIELDS = 12
_MODAL_TEXT = 2_900
_MODAL_BLOCKS = 100


class Shown(BaseModel):
    """What the buttons carry: the question as it was shown."""

    model_config = ConfigDict(frozen=True)

    id: str
    sha256: str


def approval_part(asked: Asked) -> Part:
    """The card: what would be done, and the buttons, or what was decided."""
    approval, decision, made = asked.approval, asked.decision, asked.made
    values = [each for each in _values(approval) if not _is_named(each, approval.title)]
    blocks = [_section(_headline(approval, decision))]
    blocks += [_argument(each) for each in values[:_MOST_FIELDS]]
    if decision is None:
        blocks.append(_buttons(approval, cut=_is_cut(values)))
        blocks.append(context(_terms(approval)).block)
    else:
        blocks.append(context(_verdict(decision, made)).block)
    spoken = words.SETTLED[decision.verdict] if decision else words.APPROVAL_NEEDED
    return Part(blocks, spoken.format(title=_plain(redacted(approval.title))))


def yes_typed(pending: Sequence[Approval], user: str) -> str:
    """What is said to somebody who typed a yes where these wait for one; "" where it is none of
    theirs."""
    if any(user in each.approvers for each in pending):
        return words.YES_TYPED
    asked = [each for each in pending if each.requester == user]
    return words.ONLY_THEY_MAY.format(people=_people(asked[0].approvers)) if asked else ""


def waits_behind(pending: Sequence[Approval], user: str) -> str:
    """What is said to somebody who asks something where these wait first."""
    decides = any(user in each.approvers for each in pending)
    return words.WAITS_FOR_YOUR_DECISION if decides else words.WAITS_BEHIND


def approval_modal(approval: Approval) -> Block:
    """All of what would be done, however long it is."""
    blocks: list[Block] = []
    for kind, label, text in _values(approval):
        pieces = [text[i : i + _MODAL_TEXT] for i in range(0, len(text), _MODAL_TEXT)] or [""]
        blocks += [_rich(kind, "" if n else label, piece) for n, piece in enumerate(pieces)]
    return {
        "type": "modal",
        "title": {"type": "plain_text", "text": words.SHOW_ALL_TITLE},
        "close": {"type": "plain_text", "text": words.SHOW_ALL_CLOSE},
        "blocks": blocks[:_MODAL_BLOCKS] or [_section(words.NO_ARGUMENTS)],
    }


def parked_part(progress: Progress, approvals: Sequence[Approval], *, thread_key: str) -> Part:
    """The message of a run that waits for people."""
    people = _people(dict.fromkeys(user for each in approvals for user in each.approvers))
    waits = words.WAITS_FOR.format(people=people)
    if all(map(_is_between_two, approvals)):
        waits = words.WAITS_FOR_YOU
    asked = (Step(each.id, redacted(each.title), StepStatus.WAITING) for each in approvals)
    blocks = [
        plan(replace(progress, steps=(*progress.steps, *asked)), words.PARKED),
        context(waits).block,
        stop_button(thread_key),
    ]
    return Part(blocks, words.PARKED)


class _Value(NamedTuple):
    """An argument: its name where it is one of our tools', whose meaning we know, what people call
    it, and its value."""

    kind: str
    label: str
    text: str


def _values(approval: Approval) -> list[_Value]:
    is_of_server = "__" in approval.tool  # where a cron's 0 may be a Monday
    arguments = json.loads(approval.arguments)
    if not all(map(_NAME.fullmatch, arguments)):  # made up by the model, where a server takes any
        return [_Value("", words.DETAILS, redacted(json.dumps(arguments, indent=1)))]
    return [
        _Value("" if is_of_server else name, _label(name), redacted(_as_text(value)))
        for name, value in arguments.items()
        if value is not None
    ]


def _is_named(value: _Value, title: str) -> bool:
    """Whether the headline says it, letter by letter: it is not said twice."""
    return value.kind == "channel" and value.text in title.split()


def _label(name: str) -> str:
    """`post_at` as "Post at"."""
    if name in words.ARGUMENTS:
        return words.ARGUMENTS[name]
    words_of_it = name.replace("_", " ").strip()
    return words_of_it[:1].upper() + words_of_it[1:]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _is_cut(values: Sequence[_Value]) -> bool:
    return len(values) > _MOST_FIELDS or any(len(each.text) > _SHOWN for each in values)


def _headline(approval: Approval, decision: Decision | None) -> str:
    named = _CHANNEL.sub(r"<#\1>", _plain(redacted(approval.title)))
    title = f"*{named}*"
    if decision is not None:
        return title
    if _is_between_two(approval):
        return words.APPROVAL_ASKED_DIRECT.format(title=title)
    return words.APPROVAL_ASKED.format(people=_people(approval.approvers), title=title)


def _is_between_two(approval: Approval) -> bool:
    """Whether the card stands where only the person reads it who is asked."""
    in_direct = approval.thread_key.split(":", 2)[1].startswith("D")
    return in_direct and approval.approvers == (approval.requester,)


def _argument(value: _Value) -> Block:
    size = words.CUT_AT.format(count=len(value.text)) if len(value.text) > _SHOWN else ""
    return _rich(value.kind, f"{value.label}{size}", value.text[:_SHOWN])


def _rich(kind: str, label: str, value: str) -> Block:
    """A value as it stands: nothing in it becomes a link, a mention or a format. What cannot be seen
    is left out, and that is said. Before it, or instead where that says all, as people know it."""
    seen = clean(value)
    hidden = words.HAS_HIDDEN if len(seen) < len(value.strip()) else ""
    elements: list[Block] = [{"type": "text", "text": f"{label}{hidden} ", "style": {"bold": True}}]
    reading, whole = _reading(kind, value)
    if reading:
        elements += [reading, {"type": "text", "text": " "}]
    text: Block = {"type": "text", "text": seen or words.EMPTY_VALUE}
    short = len(seen) <= _ONE_LINE and "\n" not in seen
    if short and not whole:
        elements.append(text | {"style": {"code": True}})
    blocks: list[Block] = [{"type": "rich_text_section", "elements": elements}]
    if not short:
        blocks.append({"type": "rich_text_preformatted", "elements": [text]})
    return {"type": "rich_text", "elements": blocks}


def _reading(kind: str, value: str) -> tuple[Block | None, bool]:
    """A value as people know it: a channel by its name, a time by their own clock; and whether that
    says all. It does not where it is unknown what the argument is: there the same letters may be
    somebody's text, of which each counts."""
    if channel := _CHANNEL.fullmatch(value):
        return {"type": "channel", "channel_id": channel[1]}, kind == "channel"
    if when := _moment(value):
        whole = kind == "at" and _is_usual(when, value)
        if when.tzinfo is None:
            return {"type": "text", "text": day_and_time(when)}, whole
        return local_time_element(int(when.timestamp())), whole
    if kind == "cron" and (said := cron_in_words(value)) != value:
        return {"type": "text", "text": said}, is_said_whole(value)
    return None, False


def _is_usual(when: datetime, value: str) -> bool:
    """Whether a day and a time say all of it: it is a whole minute, and written in the usual way."""
    usual = {when.isoformat(timespec="minutes"), when.isoformat(timespec="seconds")}
    return value.replace("Z", "+00:00") in usual and when == when.replace(second=0, microsecond=0)


def _moment(value: str) -> datetime | None:
    """A moment that clients can work out."""
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    return when if 1970 < when.year < 9999 else None


def _buttons(approval: Approval, *, cut: bool) -> Block:
    value = Shown(id=approval.id, sha256=approval.sha256).model_dump_json()
    elements = [
        _button(words.APPROVE, APPROVE, value, "primary"),
        _button(words.DENY, DENY, value, "danger"),  # beside it on the narrowest phone
    ]
    if approval.standing:
        elements.append(_button(words.APPROVE_THREAD, APPROVE_THREAD, value))
    if cut:
        elements.append(_button(words.SHOW_ALL, SHOW_ALL, value))
    title = clean(redacted(approval.title))
    return {"type": "actions", "elements": [named(button, title) for button in elements]}


def _button(label: str, action: str, value: str, style: str = "") -> Block:
    button: Block = {
        "type": "button",
        "action_id": action,
        "text": {"type": "plain_text", "text": label},
        "value": value,
    }
    return button | ({"style": style} if style else {})


def _terms(approval: Approval) -> str:
    until = local_time(approval.expires)
    who = words.ONLY_MAY.format(people=_people(approval.approvers), until=until)
    if _is_between_two(approval):
        who = words.YOU_MAY.format(until=until)
    if approval.approvers != (approval.requester,):
        who = words.ASKED_FOR.format(person=_people([approval.requester])) + who
    if not approval.standing:
        return who
    same = (
        words.STANDING_SAME.format(fields=_listed(approval.fixed))
        if approval.fixed
        else words.STANDING_ANY
    )
    covers = words.STANDING.format(
        tool=_plain(approval.tool.replace("_", " ")),
        same=same,
        person=_people([approval.requester]),
        hours=words.counted(f"{approval.standing_hours:g}", "hour"),
    )
    return f"{who} {covers}"


def _listed(names: Sequence[str]) -> str:
    return format_list([_plain(_label(name)).lower() for name in names], locale="en_GB")


def _verdict(decision: Decision, made: Made | None) -> str:
    sentence = words.VERDICTS[decision.verdict]
    if decision.allows:
        mark, came_of_it = words.MADE[made or Made.BEGUN]
        sentence = f"{mark} {sentence}{came_of_it}"
    if decision.verdict is Verdict.DENIED and not decision.by:
        sentence = words.DENIED_BY_ITSELF
    by = _people([decision.by]) if decision.by else ""
    said = sentence.format(by=by, why=_plain(decision.comment))
    return f"{said} · {local_time(decision.at)}"


def _people(users: Sequence[str] | dict[str, None]) -> str:
    return words.OR.join(f"<@{user}>" for user in users)


def _plain(text: str) -> str:
    """`text` as mrkdwn in which nothing is special."""
    return LinkGate().mrkdwn(shortened(" ".join(clean(text).split()), 150)).replace("*", "∗")


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
