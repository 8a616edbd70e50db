"""Answers rated bad in the Home tab of admins, and the modal in which they look into one."""

from __future__ import annotations

from bot.core.errors import NotPermitted
from bot.runs.lessons import DRAFT, TRY
from bot.slack.intake.home.lesson_form import DISMISS, LESSON_FORM, SUGGEST, TRY_CASE, lesson_form
from bot.slack.intake.home.lesson_list import LESSON
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.ui import home_words
from bot.slack.ui.modals import notice_modal

_KINDS = {SUGGEST: DRAFT, TRY_CASE: TRY}


def register(app: SlackApp, home: HomeTab) -> None:
    """Listen to the button of a rating, and to the buttons and the submission of its modal."""
    desk = home.lessons

    @app.button(LESSON)
    async def opened(press: Press) -> None:
        try:
            lesson = await desk.read(press.user, press.value)
            view = lesson_form(lesson, desk.link(lesson))
        except NotPermitted as refusal:
            view = notice_modal(home_words.LESSON_TITLE(), str(refusal))
            home.refresh(press.user)
        await press.open(view)

    @app.button(*_KINDS)
    async def started(press: Press) -> None:
        key = f"{press.view['id']}:{press.at}"
        lesson = await desk.start(press.user, press.view, _KINDS[press.action], key)
        working = "" if lesson.problem else home_words.LESSON_WORKING()
        await press.update(lesson_form(lesson, desk.link(lesson), working=working))

    @app.button(DISMISS)
    async def dismissed(press: Press) -> None:
        try:
            await desk.dismiss(press.user, press.view)
            sentence = home_words.LESSON_DISMISSED()
        except NotPermitted as refusal:
            sentence = str(refusal)
        await press.update(notice_modal(home_words.LESSON_TITLE(), sentence))
        home.refresh(press.user)

    @app.modal(LESSON_FORM)
    async def accepted(form: Submitted) -> None:
        await desk.accept(form.user, form.view)
        home.refresh(form.user)
