"""The feature: a private answer can be shared in its thread by its asker."""

from __future__ import annotations

from bot.core.answers import DraftReply, stored_name
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature
from bot.features.sharing import words
from bot.features.sharing.slack_part import SHARE, SharingPart
from bot.slack.ui.buttons import AnswerButton


def sharing() -> Feature:
    """Return the feature."""
    return Feature("sharing", slack_part=SharingPart, buttons=(SHARE_ANSWER,))


def _private_request(outcome: Outcome, request: Request) -> str | None:
    """Return the id of a private request. A draft is to be posted by the person."""
    is_draft = outcome.response_type == stored_name(DraftReply)
    return request.id if request.private and not is_draft else None


SHARE_ANSWER = AnswerButton(words.SHARE, SHARE, _private_request, leads=True)
