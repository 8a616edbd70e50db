"""Feedback buttons under answers; after a thumbs down a modal asks what was wrong."""

from __future__ import annotations

import logging

from pydantic import ValidationError

from bot.core.errors import MalformedPayload
from bot.core.feedback import Feedback
from bot.runs.lessons import LessonIntake
from bot.slack.edge.text import cap, clean
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.ui import buttons, modals, words

log = logging.getLogger(__name__)


def register(app: SlackApp, lessons: LessonIntake) -> None:
    """Listen to the buttons and the modal. Only people who may ask in the channel count."""
    store = app.stores.feedback

    @app.button(buttons.FEEDBACK)
    async def voted(press: Press) -> str:
        await app.questions.may_ask(press.user, press.channel)
        feedback = _feedback(press, app.team)
        if feedback is None:
            return ""
        await store.save(feedback)
        if feedback.verdict != "bad":
            return words.THANKS()
        requests = await lessons.asked_in(feedback)
        private = any(request.is_for_one for request in requests)
        await press.open(modals.comment_modal(feedback.model_dump_json(), private=private))
        return ""

    @app.modal(modals.COMMENT)
    async def commented(form: Submitted) -> None:
        feedback = _carried(form)
        comment = cap(clean(modals.comment_of(form.view)), modals.MAX_COMMENT)
        is_theirs = feedback.user == form.user and feedback.team == app.team
        if comment and is_theirs:
            await app.questions.may_ask(feedback.user, feedback.channel)
            feedback = feedback.model_copy(update={"comment": comment})
            await store.save(feedback)
            await lessons.note(feedback, show_question=modals.shows_question(form.view))


def _carried(form: Submitted) -> Feedback:
    """Return the feedback in the modal's metadata. Raises MalformedPayload for foreign metadata."""
    try:
        return Feedback.model_validate_json(form.metadata)
    except ValidationError:
        raise MalformedPayload("a modal with metadata that is not ours") from None


def _feedback(press: Press, team: str) -> Feedback | None:
    """Return the feedback of a press; None when the button's value is malformed."""
    verdict, _, run_id = press.value.partition(":")
    try:
        return Feedback.model_validate(
            {
                "run_id": run_id,
                "user": press.user,
                "verdict": verdict,
                "team": team,
                "channel": press.channel,
                "message": press.message,
            }
        )
    except ValidationError:
        log.warning("A feedback button came back with a value that is not ours")
        return None
