"""Pieces that all approval cards share, whatever they ask."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from bot.core.approvals import Approval, Decision, Verdict
from bot.slack.edge.text import clean
from bot.slack.ui import approval_words, words
from bot.slack.ui.buttons import MAX_LABEL
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import Block, shortened, text_object
from bot.slack.ui.times import local_time
from bot.text.translation import Text, translated


class Shown(BaseModel):
    """The value of a card's buttons: the approval, and the hash of what the card showed."""

    model_config = ConfigDict(frozen=True)

    id: str
    sha256: str


def card_button(approval: Approval, label: str, action: str, style: str = "") -> Block:
    """Return a button of the approval's card."""
    button: Block = {
        "type": "button",
        "action_id": action,
        "text": text_object(shortened(label, MAX_LABEL)),
        "value": Shown(id=approval.id, sha256=approval.sha256).model_dump_json(),
    }
    return button | ({"style": style} if style else {})


def section(mrkdwn: str) -> Block:
    """Return a paragraph of mrkdwn."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}


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
        said = approval_words.DENIED_BY_ITSELF(why=plain(translated(decision.comment)))
    else:
        said = sentence(by=people([decision.by]) if decision.by else "", **values)
    return f"{said} · {local_time(decision.at)}"
