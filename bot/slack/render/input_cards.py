"""Cards with a question of a server to the asker."""

from __future__ import annotations

from bot.core.approvals import ApprovalRecord
from bot.slack.render import approval_words
from bot.slack.render.buttons import DECLINE_INPUT
from bot.slack.render.cards import card_button, decided_line, plain, section
from bot.slack.render.parts import Part, context


def input_part(record: ApprovalRecord) -> Part:
    """Return the card with the question, or with what became of it."""
    approval, decision = record.approval, record.decision
    blocks = [section(plain(approval.title))]
    if decision is None:
        decline = card_button(approval, approval_words.DECLINE_INPUT, DECLINE_INPUT)
        blocks.append({"type": "actions", "elements": [decline]})
    else:
        line = approval_words.INPUT_VERDICTS[decision.verdict]
        blocks.append(context(decided_line(decision, line)).block)
    return Part(blocks, approval.title)
