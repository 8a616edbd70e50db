"""The card on which people decide about a call: drawn by code, from exactly what would be done."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from babel.lists import format_list
from pydantic import BaseModel, ConfigDict

from bot.core.approvals import Approval, Asked, Decision, Made, Verdict
from bot.core.redaction import redacted
from bot.slack.progress import Progress, Step, StepStatus
from bot.slack.render import words
from bot.slack.render.buttons import APPROVE, APPROVE_THREAD, DENY, SHOW_ALL, stop_button
from bot.slack.render.links import LinkGate
from bot.slack.render.parts import Block, Part, context, shortened
from bot.slack.render.progress import plan
from bot.slack.render.times import local_time, local_time_element
from bot.slack.text import clean

_CHANNEL = re.compile(r"#?\b(C[A-Z0-9]{8,})\b")
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
    values = _values(approval)
    blocks = [_section(_headline(approval, decision))]
    blocks += [_argument(name, value) for name, value in values[:_MOST_FIELDS]]
    if decision is None:
        blocks.append(_buttons(approval, cut=_is_cut(values)))
        blocks.append(context(_terms(approval)).block)
    else:
        blocks.append(context(_verdict(decision, made)).block)
    spoken = words.SETTLED[decision.verdict] if decision else words.APPROVAL_NEEDED
    return Part(blocks, spoken.format(title=_plain(redacted(approval.title))))


def approval_modal(approval: Approval) -> Block:
    """All of what would be done, however long it is."""
    blocks: list[Block] = []
    for name, value in _values(approval):
        pieces = [value[i : i + _MODAL_TEXT] for i in range(0, len(value), _MODAL_TEXT)] or [""]
        blocks += [_rich(name if not n else "", piece) for n, piece in enumerate(pieces)]
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
    asked = (Step(each.id, redacted(each.title), StepStatus.WAITING) for each in approvals)
    blocks = [
        plan(replace(progress, steps=(*progress.steps, *asked)), words.PARKED),
        context(waits).block,
        stop_button(thread_key),
    ]
    return Part(blocks, words.PARKED)


def _values(approval: Approval) -> list[tuple[str, str]]:
    arguments = json.loads(approval.arguments)
    return [
        (_label(name), redacted(_as_text(value)))
        for name, value in arguments.items()
        if value is not None
    ]


def _label(name: str) -> str:
    """`post_at` as "Post at"."""
    words_of_it = name.replace("_", " ").strip()
    return words_of_it[:1].upper() + words_of_it[1:]


def _as_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def _is_cut(values: Sequence[tuple[str, str]]) -> bool:
    return len(values) > _MOST_FIELDS or any(len(value) > _SHOWN for _, value in values)


def _headline(approval: Approval, decision: Decision | None) -> str:
    named = _CHANNEL.sub(r"<#\1>", _plain(redacted(approval.title)))
    title = f"*{named}*"
    if decision is not None:
        return title
    return words.APPROVAL_ASKED.format(people=_people(approval.approvers), title=title)


def _argument(name: str, value: str) -> Block:
    size = words.CUT_AT.format(count=len(value)) if len(value) > _SHOWN else ""
    return _rich(f"{name}{size}", value[:_SHOWN])


def _rich(name: str, value: str) -> Block:
    """A value as it stands: nothing in it becomes a link, a mention or a format. What cannot be seen
    is left out, and that is said."""
    seen = clean(value)
    hidden = words.HAS_HIDDEN if len(seen) < len(value.strip()) else ""
    label: list[Block] = [{"type": "text", "text": f"{name}{hidden} ", "style": {"bold": True}}]
    if channel := _CHANNEL.fullmatch(value):  # people know it by its name
        label += [{"type": "channel", "channel_id": channel[1]}, {"type": "text", "text": " "}]
    elif moment := _moment(value):  # and that as their own clock has it
        label += [moment, {"type": "text", "text": " "}]
    text: Block = {"type": "text", "text": seen or words.EMPTY_VALUE}
    if len(seen) <= _ONE_LINE and "\n" not in seen:
        label.append(text | {"style": {"code": True}})
        return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": label}]}
    elements = [
        {"type": "rich_text_section", "elements": label},
        {"type": "rich_text_preformatted", "elements": [text]},
    ]
    return {"type": "rich_text", "elements": elements}


def _moment(value: str) -> Block | None:
    """A time with its offset from UTC, as a part of rich text in each reader's own time zone."""
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    shown = when.tzinfo is not None and 1970 < when.year < 9999  # what clients can work out
    return local_time_element(int(when.timestamp())) if shown else None


def _buttons(approval: Approval, *, cut: bool) -> Block:
    value = Shown(id=approval.id, sha256=approval.sha256).model_dump_json()
    elements = [_button(words.APPROVE, APPROVE, value, "primary")]
    if approval.standing:
        elements.append(_button(words.APPROVE_THREAD, APPROVE_THREAD, value))
    elements.append(_button(words.DENY, DENY, value, "danger"))
    if cut:
        elements.append(_button(words.SHOW_ALL, SHOW_ALL, value))
    return {"type": "actions", "elements": elements}


def _button(label: str, action: str, value: str, style: str = "") -> Block:
    button: Block = {
        "type": "button",
        "action_id": action,
        "text": {"type": "plain_text", "text": label},
        "value": value,
    }
    return button | ({"style": style} if style else {})


def _terms(approval: Approval) -> str:
    who = words.ONLY_MAY.format(
        people=_people(approval.approvers), until=local_time(approval.expires)
    )
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
