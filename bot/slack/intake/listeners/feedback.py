"""Feedback buttons under answers; after a thumbs down a modal asks what was wrong."""

from __future__ import annotations

import logging
from typing import Any, Protocol

from pydantic import ValidationError
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import MalformedPayload, NotPermitted
from bot.core.feedback import Feedback
from bot.runs.lessons import LessonIntake
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients, Identity
from bot.slack.edge.text import cap, clean
from bot.slack.intake.listeners.actions import tell
from bot.slack.intake.questions import QuestionIntake
from bot.slack.ui import buttons, modals, words
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.open_modal import open_modal

log = logging.getLogger(__name__)

Body = dict[str, Any]


class FeedbackStore(Protocol):
    """A store of feedback."""

    async def save(self, feedback: Feedback) -> None:
        """Store the feedback; it replaces the same person's earlier feedback on the run."""


def register(
    app: AsyncApp,
    identity: Identity,
    clients: Clients,
    questions: QuestionIntake,
    keep: FeedbackStore,
    lessons: LessonIntake,
    background: Background,
) -> None:
    """Listen to the buttons and the modal. Only people who may ask in the channel count."""

    async def why_not(user: str, channel: str) -> str:
        try:
            await questions.may_ask(user, channel)
        except NotPermitted as refusal:
            return str(refusal)
        return ""

    @app.action(buttons.FEEDBACK)
    async def voted(body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        feedback = _feedback(press, identity.team)
        if refusal := await why_not(press.user, press.channel):
            background.start(tell(clients, press, refusal), "ephemeral reply")
        elif feedback:
            await keep.save(feedback)
            if feedback.verdict == "bad":
                asked = await lessons.asked_in(feedback)
                private = any(each.is_for_one for each in asked)
                view = modals.comment_modal(feedback.model_dump_json(), private=private)
                await open_modal(clients, body, view)
            else:
                background.start(tell(clients, press, words.THANKS()), "thanking somebody")
        await ack()

    @app.view(modals.COMMENT)
    async def commented(body: Body, view: Body, ack: AsyncAck) -> None:
        feedback = _carried(view)
        comment = cap(clean(modals.comment_of(view)), modals.MAX_COMMENT)
        is_theirs = feedback.user == body["user"]["id"] and feedback.team == identity.team
        if comment and is_theirs and not await why_not(feedback.user, feedback.channel):
            feedback = feedback.model_copy(update={"comment": comment})
            await keep.save(feedback)
            await lessons.note(feedback, show_question=modals.shows_question(view))
        await ack()


def _carried(view: Body) -> Feedback:
    """Return the feedback in the modal's metadata. Raises MalformedPayload for foreign metadata."""
    try:
        return Feedback.model_validate_json(view.get("private_metadata") or "")
    except ValidationError:
        raise MalformedPayload("a modal with metadata that is not ours") from None


def _feedback(press: ButtonPress, team: str) -> Feedback | None:
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
