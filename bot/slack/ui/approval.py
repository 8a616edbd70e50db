"""Approval cards: the pieces that all share, and the card of a call, drawn from exactly that call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from bot.core.approvals import MENTIONED, Approval, ApprovalRecord, CallProgress, Decision, Verdict
from bot.slack.edge.text import clean
from bot.slack.ui import approval_words, words
from bot.slack.ui.arguments import (
    CHANNEL,
    CanvasLink,
    Value,
    label_of,
    not_in_title,
    rich_argument,
    server_of,
    values_of,
)
from bot.slack.ui.blocks import Block, actions, button, modal, section, shortened, with_label
from bot.slack.ui.buttons import APPROVE, APPROVE_THREAD, DENY, SHOW_ALL
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import Part, context, local_time
from bot.text.locales import number
from bot.text.redaction import redacted
from bot.text.time_zones import day_and_time
from bot.text.translation import Text, list_in_words, reader_locale, translated


class Shown(BaseModel):
    """The value of a card's buttons: the approval, and the hash of what the card showed."""

    model_config = ConfigDict(frozen=True)

    id: str
    sha256: str


class PressedCard(BaseModel):
    """The card from which a modal was opened, and when (`at`), kept in the modal's metadata."""

    model_config = ConfigDict(frozen=True)

    shown: Shown
    channel: str
    message: str
    at: str


def card_button(approval: Approval, label: str, action: str, style: str = "") -> Block:
    """Return a button of the approval's card."""
    value = Shown(id=approval.id, sha256=approval.sha256).model_dump_json()
    return button(label, action, value, style=style)


def plain(text: str) -> str:
    """Return `text` as mrkdwn without any markup, on one line."""
    return LinkGate().mrkdwn(shortened(" ".join(clean(text).split()), 150)).replace("*", "∗")


def people(users: Iterable[str]) -> str:
    """Return mentions of these people, joined by "or"."""
    return words.OR().join(f"<@{user}>" for user in users)


def is_called_off(decision: Decision) -> bool:
    """Return whether no person decided: an edit or a new message called the card off."""
    denied_by_none = decision.verdict is Verdict.DENIED and not decision.by
    return decision.of_words_taken_back or denied_by_none


def decided_line(decision: Decision, sentence: Text, **values: str) -> str:
    """Return the last line of a decided card: `sentence`, or that it is off, and the time."""
    if is_called_off(decision):
        line = approval_words.DENIED_BY_ITSELF(why=plain(translated(decision.comment)))
    else:
        line = sentence(by=people([decision.by]) if decision.by else "", **values)
    return f"{line} · {local_time(decision.at)}"


_SHOWN = 1_200  # characters of one argument on the card
_MOST_FIELDS = 12
_MODAL_TEXT = 2_900


def approval_part(record: ApprovalRecord, canvas_link: CanvasLink) -> Part:
    """Return the card: the call, and either its buttons or the decision."""
    approval, decision, made = record.approval, record.decision, record.made
    values = not_in_title(values_of(approval, canvas_link), redacted(approval.shown_title))
    blocks = [section(_headline(approval, decision))]
    if decision is None or not decision.of_words_taken_back:
        blocks += [_argument(value) for value in values[:_MOST_FIELDS]]
        if approval.destructive and decision is None:
            blocks.append(section(approval_words.DESTRUCTIVE()))
        if server := server_of(approval):
            blocks.append(context(approval_words.SERVERS_WORDS(server=plain(server))).block)
        if mentions := _mentions(approval):
            blocks.append(context(mentions).block)
    if decision is None:
        blocks.append(_buttons(approval, cut=_is_cut(values)))
        if approval.restored:
            since = day_and_time(approval.restored)
            blocks.append(context(approval_words.RESTORED(since=since)).block)
        blocks.append(context(_terms(approval)).block)
    else:
        blocks.append(context(_verdict(decision, made)).block)
    text = _settled(decision) if decision else approval_words.APPROVAL_NEEDED
    return Part(blocks, text(title=plain(_title_without_links(approval))))


def approval_modal(approval: Approval, canvas_link: CanvasLink) -> Block:
    """Return a modal with all arguments of the call in full."""
    blocks: list[Block] = []
    for value in values_of(approval, canvas_link):
        text = value.text
        pieces = [text[i : i + _MODAL_TEXT] for i in range(0, len(text), _MODAL_TEXT)] or [""]
        labels = (value.label, *[""] * len(pieces))
        blocks += [
            rich_argument(value._replace(label=label, text=piece))
            for label, piece in zip(labels, pieces, strict=False)
        ]
    return modal(
        approval_words.SHOW_ALL_TITLE(),
        blocks or [section(approval_words.NO_ARGUMENTS())],
        close=approval_words.SHOW_ALL_CLOSE(),
    )


def _mentions(approval: Approval) -> str:
    """Name the people whom the text mentions, with their ids because names may be alike.

    A real mention on the card would notify them before the approval.
    """
    if not approval.mentions:
        return approval_words.MENTIONS_NOBODY() if approval.other_names else ""
    ids = approval.mentioned or [""] * len(approval.mentions)  # earlier versions kept none
    names = zip(approval.mentions, ids, strict=True)
    listed = [plain(f"{name} ({user})" if user else name) for name, user in names]
    named = list_in_words(listed)
    others = [approval_words.OTHER_NAMES()] if approval.other_names else []
    return " ".join([approval_words.MENTIONS(people=named), *others])


def _is_cut(values: Sequence[Value]) -> bool:
    return len(values) > _MOST_FIELDS or any(len(value.text) > _SHOWN for value in values)


def _headline(approval: Approval, decision: Decision | None) -> str:
    title = f"*{_title_with_links(approval)}*"
    if decision is not None:
        return title
    if _is_direct(approval):
        return approval_words.APPROVAL_ASKED_DIRECT(title=title)
    return approval_words.APPROVAL_ASKED(people=people(approval.approvers), title=title)


def _title_with_links(approval: Approval) -> str:
    """Return the title with channels as links, which show a name only to people who may know it."""
    return CHANNEL.sub(r"<#\1>", plain(redacted(approval.shown_title)))


def _title_without_links(approval: Approval) -> str:
    """Return the title for places in which Slack renders no links."""
    return CHANNEL.sub(approval_words.A_CHANNEL(), redacted(approval.shown_title))


def _is_direct(approval: Approval) -> bool:
    """Return whether the card is in a direct message and its reader decides alone."""
    in_direct = approval.thread_key.split(":", 2)[1].startswith("D")
    return in_direct and approval.approvers == (approval.requester,)


def _argument(value: Value) -> Block:
    size = (
        approval_words.CUT_AT(count=number(len(value.text), reader_locale()))
        if len(value.text) > _SHOWN
        else ""
    )
    return rich_argument(value._replace(label=f"{value.label}{size}", text=value.text[:_SHOWN]))


def _buttons(approval: Approval, *, cut: bool) -> Block:
    elements = [
        card_button(approval, approval_words.APPROVE(), APPROVE, "primary"),
        # Second, so that it is next to Approve even on a narrow phone.
        card_button(approval, approval_words.DENY(), DENY, "danger"),
    ]
    if approval.standing:
        elements.append(card_button(approval, approval_words.APPROVE_THREAD(), APPROVE_THREAD))
    if cut:
        elements.append(card_button(approval, approval_words.SHOW_ALL(), SHOW_ALL))
    title = clean(_title_without_links(approval))
    return actions(*(with_label(element, title) for element in elements))


def _terms(approval: Approval) -> str:
    until = local_time(approval.expires)
    terms = approval_words.ONLY_MAY(people=people(approval.approvers), until=until)
    if _is_direct(approval):
        terms = approval_words.YOU_MAY(until=until)
    if approval.approvers != (approval.requester,):
        terms = approval_words.ASKED_FOR(person=people([approval.requester])) + terms
    if not approval.standing:
        return terms
    same = (
        approval_words.STANDING_SAME(fields=_listed(approval))
        if approval.fixed
        else approval_words.STANDING_ANY()
    )
    covers = approval_words.STANDING(
        same=same,
        person=people([approval.requester]),
        hours=approval_words.HOURS(
            math.ceil(approval.standing_hours), count=f"{approval.standing_hours:g}"
        ),
    )
    return f"{terms} {covers}"


def _listed(approval: Approval) -> str:
    return list_in_words(
        [
            approval_words.PEOPLE_MENTIONED()
            if name == MENTIONED
            else plain(label_of(approval, name))
            for name in approval.fixed
        ]
    )


def _verdict(decision: Decision, made: CallProgress | None) -> str:
    if not decision.allows:
        return decided_line(decision, approval_words.VERDICTS[decision.verdict])
    allowed = approval_words.ALLOWED[decision.verdict]
    return decided_line(decision, allowed[made or CallProgress.BEGUN])


def _settled(decision: Decision) -> Text:
    """Return the text of a decided card for screen readers and notifications."""
    verdict = Verdict.WITHDRAWN if is_called_off(decision) else decision.verdict
    return approval_words.SETTLED[verdict]
