"""Results of drafts and trials, shown to the admin who started them and to nobody else."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.lessons import Lesson
from bot.core.request import Request
from bot.runs.lessons import TRY
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity
from bot.slack.intake.home.lesson_form import lesson_form, link_to, trial_line
from bot.slack.ui import home_words
from bot.slack.ui.links import LinkGate

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LessonResults:
    """The results of one workspace."""

    clients: Clients
    identity: Identity

    async def show(self, request: Request, lesson: Lesson) -> None:
        """Show a lesson in its modal; if that was closed, send a message that it is ready."""
        job = request.job
        if job is None:
            return
        link = link_to(lesson, self.identity)
        try:
            await self.clients.writes.views_update(view_id=job.view, view=lesson_form(lesson, link))
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info("The modal of a lesson was not updated: %s", type(error).__name__)
            await self._write(request, lesson)

    async def _write(self, request: Request, lesson: Lesson) -> None:
        result = home_words.LESSON_DRAFTED()
        if lesson.problem:
            problem = LinkGate().mrkdwn(lesson.problem)
            result = home_words.LESSON_NOT_READY(problem=problem)
        elif request.job and request.job.kind == TRY and lesson.trial:
            result = trial_line(lesson.trial)
        try:
            await self.clients.writes.chat_postMessage(
                channel=request.channel, text=home_words.LESSON_READY(result=result)
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("An admin was not told of a result: %s", type(error).__name__)
