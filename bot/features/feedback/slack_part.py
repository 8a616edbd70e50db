"""Thumbs under answers, and the form in which an admin tries the instructions of a channel."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import NoReturn

from pydantic import ValidationError
from typing_extensions import override

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import MalformedPayload, NotPermitted
from bot.core.ids import new_id
from bot.core.request import Request
from bot.features.feedback import words
from bot.features.feedback.comment_form import COMMENT, comment_form, comment_of, shows_question
from bot.features.feedback.instructions_form import (
    CHOOSE,
    FORM,
    INSTEAD,
    TRY,
    Draft,
    draft_of,
    instructions_form,
)
from bot.features.feedback.jobs import KIND
from bot.features.feedback.ratings import Feedback, RatedQuestion
from bot.features.feedback.store import RatedQuestions, Ratings
from bot.runs.audit_trail import refused
from bot.runs.policy.access import Person
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.intake.trial_jobs import start_trial
from bot.slack.ui.blocks import Block, channel_menu, section
from bot.slack.ui.trials import note, problem
from bot.slack.ui.words import NEEDS_CASE, TRYING

log = logging.getLogger(__name__)

FEEDBACK = "feedback"
OLD_ACTIONS = ("open_lesson", "suggest_lesson", "try_lesson_case", "dismiss_lesson")
OLD_FORM = "lesson_form"
"""Buttons and the form of an earlier release, which made proposals from ratings."""


class FeedbackPart(SlackPart):
    """Ratings and instructions in one workspace."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._ratings = Ratings.of(app.stores)
        self._questions = RatedQuestions.of(app.stores)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(FEEDBACK)(self._rated)
        app.modal(COMMENT)(self._commented)
        app.button(CHOOSE)(self._opened)
        app.button(TRY)(self._tried)
        app.button(re.compile(rf"{INSTEAD}:\d+"))(self._made_something_else)
        app.modal(FORM)(self._saved)
        app.button(*OLD_ACTIONS)(_no_proposals)
        app.modal(OLD_FORM)(_no_proposals)

    @override
    async def admin_home(self, user: str) -> Sequence[Block]:
        menu = channel_menu(CHOOSE, words.PICK_CHANNEL())
        # A new id empties the menu: Slack shows the last choice, and does not report it twice.
        return [section(words.HOME_INSTRUCTIONS(), menu, block_id=new_id("menu"))]

    @override
    async def message_changed(self, channel: str, thread: str, ts: str) -> None:
        await self._questions.forget_message(self._app.team, channel, thread, ts)

    async def _rated(self, press: Press) -> str:
        """Store a rating. Only people who may ask in the channel count."""
        await self._app.questions.may_ask(press.user, press.channel)
        feedback = _feedback(press, self._app.team)
        if feedback is None:
            return ""
        await self._ratings.save(feedback)
        if feedback.verdict == "good":
            return words.THANKS()
        is_private = any(request.is_for_one for request in await self._requests(feedback))
        await press.open(comment_form(feedback.model_dump_json(), private=is_private))
        return ""

    async def _commented(self, form: Submitted) -> None:
        """Store what was wrong, and the question of the answer, for operators to read."""
        try:
            feedback = Feedback.model_validate_json(form.metadata)
        except ValidationError:
            raise MalformedPayload("a modal with metadata that is not ours") from None
        comment = comment_of(form.view)
        if comment and (feedback.user, feedback.team) == (form.user, self._app.team):
            await self._app.questions.may_ask(feedback.user, feedback.channel)
            await self._ratings.save(feedback.model_copy(update={"comment": comment}))
            rated = RatedQuestion.of(
                feedback,
                await self._requests(feedback),
                show_question=shows_question(form.view),
            )
            await self._questions.comment(rated, feedback.user, comment)

    async def _requests(self, feedback: Feedback) -> list[Request]:
        """Return the requests that the rated run answers; [] when they are no longer stored."""
        requests = await self._app.requests.asked_in(feedback.run_id)
        place = feedback.team, feedback.channel
        is_there = all((request.team, request.channel) == place for request in requests)
        return requests if is_there else []

    async def _opened(self, press: Press) -> None:
        channel = str(press.value)
        if channel:
            await self._admin(press.user, channel)
            settings = await self._app.gate.settings(channel)
            draft = Draft(channel=channel, instructions=settings.instructions)
            await press.open(instructions_form(self._with_others(draft)))
            self._app.refresh_home(press.user)

    @property
    def _others(self) -> list[SlackPart]:
        """The parts that can make something else of instructions."""
        return [part for part in self._app.parts if part.text_form_label]

    def _with_others(self, draft: Draft) -> Draft:
        labels = [part.text_form_label() for part in self._others if part.text_form_label]
        return draft.model_copy(update={"instead": tuple(labels)})

    async def _made_something_else(self, press: Press) -> None:
        draft = draft_of(press.view)
        await self._admin(press.user, draft.channel)
        others = {str(n): part for n, part in enumerate(self._others)}
        other = others.get(press.value)
        if other and (form := other.text_form(draft.instructions, draft.case)):
            await press.update(form)

    async def _tried(self, press: Press) -> None:
        """Have a worker run the case. One that expects nothing is not tried."""
        draft = self._with_others(draft_of(press.view))
        person = await self._admin(press.user, draft.channel)
        if not draft.case.can_run:
            await press.update(instructions_form(draft, problem(NEEDS_CASE())))
            return
        await start_trial(press, person, KIND, draft.model_dump_json())
        await press.update(instructions_form(draft, note(TRYING()), can_try=False))

    async def _saved(self, form: Submitted) -> None:
        draft, team = draft_of(form.view), self._app.team
        person = await self._admin(form.user, draft.channel)
        before = await self._app.gate.settings(draft.channel)
        if before.instructions != draft.instructions:
            what = "channel settings: instructions"
            await self._app.record(
                [
                    AuditEntry(
                        kind=AuditKind.ADMINISTERED,
                        team=team,
                        who=person.id,
                        channel=draft.channel,
                        what=what,
                    )
                ]
            )
            after = before.model_copy(update={"instructions": draft.instructions})
            await self._app.gate.channels.change(team, draft.channel, after)
            log.info("The instructions of channel %s changed by %s", draft.channel, person.id)

    async def _admin(self, user: str, channel: str) -> Person:
        """Return the admin. Raises NotPermitted, and records the refusal, for other people."""
        try:
            return await self._app.gate.admin(user)
        except NotPermitted:
            what = "channel settings"
            await self._app.record([refused(self._app.team, user, what, channel=channel)])
            raise


async def _no_proposals(_press: Press | Submitted) -> NoReturn:
    raise NotPermitted(words.NO_PROPOSALS())


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
