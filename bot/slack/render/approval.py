"""The approval card: drawn by code from exactly the call that would be made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from babel.lists import format_list
from pydantic import BaseModel, ConfigDict

from bot.core.approvals import Approval, ApprovalRecord, CallProgress, Decision, Verdict
from bot.core.text.counting import counted
from bot.core.text.redaction import redacted
from bot.slack.incoming.text import clean
from bot.slack.render import approval_words, words
from bot.slack.render.arguments import (
    CHANNEL,
    CanvasLink,
    Value,
    label_of,
    not_in_title,
    rich_argument,
    values_of,
)
from bot.slack.render.buttons import (
    APPROVE,
    APPROVE_THREAD,
    DENY,
    SHOW_ALL,
    Stops,
    stop_button,
    with_label,
)
from bot.slack.render.links import LinkGate
from bot.slack.render.parts import Block, Part, context, shortened, text_object
from bot.slack.render.progress import plan
from bot.slack.render.times import local_time
from bot.slack.reply.progress_state import Progress, Step, StepStatus

_SHOWN = 1_200  # characters of one argument on the card
_MOST_FIELDS = 12
_MODAL_TEXT = 2_900


class Shown(BaseModel):
    """The value of the card's buttons: the approval, and the hash of what the card showed."""

    model_config = ConfigDict(frozen=True)

    id: str
    sha256: str


def approval_part(record: ApprovalRecord, canvas_link: CanvasLink) -> Part:
    """Return the card: the call, and either its buttons or the decision."""
    approval, decision, made = record.approval, record.decision, record.made
    values = not_in_title(values_of(approval, canvas_link), redacted(approval.title))
    blocks = [_section(_headline(approval, decision))]
    if decision is None or not decision.of_words_taken_back:
        blocks += [_argument(each) for each in values[:_MOST_FIELDS]]
        if mentions := _mentions(approval):
            blocks.append(context(mentions).block)
    if decision is None:
        blocks.append(_buttons(approval, cut=_is_cut(values)))
        blocks.append(context(_terms(approval)).block)
    else:
        blocks.append(context(_verdict(decision, made)).block)
    text = _settled(decision) if decision else approval_words.APPROVAL_NEEDED
    return Part(blocks, text.format(title=_plain(_title_without_links(approval))))


def yes_typed(pending: Sequence[Approval], user: str) -> str:
    """Return the reply to a person who typed "yes" instead of pressing Approve.

    Returns "" if none of the pending approvals concerns the person.
    """
    if any(user in each.approvers for each in pending):
        return approval_words.YES_TYPED
    own = [each for each in pending if each.requester == user]
    return approval_words.ONLY_THEY_MAY.format(people=_people(own[0].approvers)) if own else ""


def waits_behind(pending: Sequence[Approval], user: str) -> str:
    """Return the reply to a person whose question waits behind pending approvals."""
    decides = any(user in each.approvers for each in pending)
    return approval_words.WAITS_FOR_YOUR_DECISION if decides else approval_words.WAITS_BEHIND


def approval_modal(approval: Approval, canvas_link: CanvasLink) -> Block:
    """Return a modal with all arguments of the call in full."""
    blocks: list[Block] = []
    for each in values_of(approval, canvas_link):
        text = each.text
        pieces = [text[i : i + _MODAL_TEXT] for i in range(0, len(text), _MODAL_TEXT)] or [""]
        labels = (each.label, *[""] * len(pieces))
        blocks += [
            rich_argument(each._replace(label=label, text=piece))
            for label, piece in zip(labels, pieces, strict=False)
        ]
    return {
        "type": "modal",
        "title": text_object(approval_words.SHOW_ALL_TITLE),
        "close": text_object(approval_words.SHOW_ALL_CLOSE),
        "blocks": blocks or [_section(approval_words.NO_ARGUMENTS)],
    }


def waiting_for_approval_part(
    progress: Progress, approvals: Sequence[Approval], *, stops: Stops
) -> Part:
    """Return the message of a run that waits for approval. Only the cards below it ask for that."""
    steps = (Step(each.id, redacted(each.title), StepStatus.WAITING) for each in approvals)
    waiting = replace(progress, steps=(*progress.steps, *steps))
    return Part([plan(waiting, approval_words.PARKED), stop_button(stops)], approval_words.PARKED)


def _mentions(approval: Approval) -> str:
    """Name the people whom the text mentions, with their ids because names may be alike.

    A real mention on the card would notify them before the approval.
    """
    if not approval.mentions:
        return approval_words.MENTIONS_NOBODY if approval.other_names else ""
    ids = approval.mentioned or [""] * len(approval.mentions)  # earlier versions kept none
    names = zip(approval.mentions, ids, strict=True)
    shown = [_plain(f"{name} ({user})" if user else name) for name, user in names]
    people = format_list(shown, locale="en_GB")
    others = [approval_words.OTHER_NAMES] if approval.other_names else []
    return " ".join([approval_words.MENTIONS.format(people=people), *others])


def _is_cut(values: Sequence[Value]) -> bool:
    return len(values) > _MOST_FIELDS or any(len(each.text) > _SHOWN for each in values)


def _headline(approval: Approval, decision: Decision | None) -> str:
    title = f"*{_title_with_links(approval)}*"
    if decision is not None:
        return title
    if _is_direct(approval):
        return approval_words.APPROVAL_ASKED_DIRECT.format(title=title)
    return approval_words.APPROVAL_ASKED.format(people=_people(approval.approvers), title=title)


def _title_with_links(approval: Approval) -> str:
    """Return the title with channels as links, which show a name only to people who may know it."""
    return CHANNEL.sub(r"<#\1>", _plain(redacted(approval.title)))


def _title_without_links(approval: Approval) -> str:
    """Return the title for places in which Slack renders no links."""
    return CHANNEL.sub("a channel", redacted(approval.title))


def _is_direct(approval: Approval) -> bool:
    """Return whether the card is in a direct message and its reader decides alone."""
    in_direct = approval.thread_key.split(":", 2)[1].startswith("D")
    return in_direct and approval.approvers == (approval.requester,)


def _argument(value: Value) -> Block:
    size = approval_words.CUT_AT.format(count=len(value.text)) if len(value.text) > _SHOWN else ""
    return rich_argument(value._replace(label=f"{value.label}{size}", text=value.text[:_SHOWN]))


def _buttons(approval: Approval, *, cut: bool) -> Block:
    value = Shown(id=approval.id, sha256=approval.sha256).model_dump_json()
    elements = [
        _button(approval_words.APPROVE, APPROVE, value, "primary"),
        # Second, so that it is next to Approve even on a narrow phone.
        _button(approval_words.DENY, DENY, value, "danger"),
    ]
    if approval.standing:
        elements.append(_button(approval_words.APPROVE_THREAD, APPROVE_THREAD, value))
    if cut:
        elements.append(_button(approval_words.SHOW_ALL, SHOW_ALL, value))
    title = clean(_title_without_links(approval))
    return {"type": "actions", "elements": [with_label(button, title) for button in elements]}


def _button(label: str, action: str, value: str, style: str = "") -> Block:
    button: Block = {
        "type": "button",
        "action_id": action,
        "text": text_object(label),
        "value": value,
    }
    return button | ({"style": style} if style else {})


def _terms(approval: Approval) -> str:
    until = local_time(approval.expires)
    terms = approval_words.ONLY_MAY.format(people=_people(approval.approvers), until=until)
    if _is_direct(approval):
        terms = approval_words.YOU_MAY.format(until=until)
    if approval.approvers != (approval.requester,):
        terms = approval_words.ASKED_FOR.format(person=_people([approval.requester])) + terms
    if not approval.standing:
        return terms
    same = (
        approval_words.STANDING_SAME.format(fields=_listed(approval.fixed))
        if approval.fixed
        else approval_words.STANDING_ANY
    )
    covers = approval_words.STANDING.format(
        tool=_plain(approval.tool.replace("_", " ")),
        same=same,
        person=_people([approval.requester]),
        hours=counted(f"{approval.standing_hours:g}", "hour"),
    )
    return f"{terms} {covers}"


def _listed(names: Sequence[str]) -> str:
    return format_list([_plain(label_of(name)).lower() for name in names], locale="en_GB")


def _verdict(decision: Decision, made: CallProgress | None) -> str:
    sentence = approval_words.VERDICTS[decision.verdict]
    if decision.allows:
        mark, result = approval_words.MADE[made or CallProgress.BEGUN]
        sentence = f"{mark} {sentence}{result}"
    if _is_called_off(decision):
        sentence = approval_words.DENIED_BY_ITSELF
    by = _people([decision.by]) if decision.by else ""
    verdict = sentence.format(by=by, why=_plain(decision.comment))
    return f"{verdict} · {local_time(decision.at)}"


def _settled(decision: Decision) -> str:
    """Return the text of a decided card for screen readers and notifications."""
    verdict = Verdict.WITHDRAWN if _is_called_off(decision) else decision.verdict
    return approval_words.SETTLED[verdict]


def _is_called_off(decision: Decision) -> bool:
    """Return whether no person decided: an edit or a new message called the card off."""
    denied_by_none = decision.verdict is Verdict.DENIED and not decision.by
    return decision.of_words_taken_back or denied_by_none


def _people(users: Sequence[str] | dict[str, None]) -> str:
    return words.OR.join(f"<@{user}>" for user in users)


def _plain(text: str) -> str:
    """Return `text` as mrkdwn without any markup."""
    return LinkGate().mrkdwn(shortened(" ".join(clean(text).split()), 150)).replace("*", "∗")


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
