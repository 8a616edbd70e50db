"""The feature: a private answer can be shared in its thread by its asker, and a draft posted there."""

from __future__ import annotations

from bot.core.answers import DraftReply
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature
from bot.features.sharing import words
from bot.features.sharing.slack_part import POST, SHARE, SharingPart, is_draft
from bot.slack.ui.buttons import AnswerButton
from bot.slack.ui.drafts import has_placeholder


def sharing() -> Feature:
    """Return the feature."""
    return Feature("sharing", slack_part=SharingPart, buttons=(SHARE_ANSWER, POST_DRAFT))


def _private_request(outcome: Outcome, request: Request) -> str | None:
    """Return the id of a private request. Of a draft only its text is posted."""
    return request.id if request.private and not is_draft(outcome) else None


def _postable_draft(outcome: Outcome, request: Request) -> str | None:
    """Return the id of a request for a draft that can be posted as it is, where others read it."""
    if not is_draft(outcome) or request.channel.startswith("D"):
        return None
    draft = str((outcome.result or {}).get(DraftReply.text_field) or "")
    return request.id if draft.strip() and not has_placeholder(draft) else None


POST_DRAFT = AnswerButton(
    words.POST_DRAFT,
    POST,
    _postable_draft,
    leads=True,
    sure=(words.POST_TITLE, words.POST_TEXT),
)
SHARE_ANSWER = AnswerButton(words.SHARE, SHARE, _private_request, hint=words.SHARE_HINT)
