"""Answers rated bad in the Home tab of admins, and the modal in which they look into one."""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import NotPermitted
from bot.runs.lessons import DRAFT, TRY
from bot.slack.edge.client import Clients
from bot.slack.edge.payloads import value_of, view_of
from bot.slack.intake.home.channel_form import WrongField
from bot.slack.intake.home.lesson_form import DISMISS, LESSON_FORM, SUGGEST, TRY_CASE, lesson_form
from bot.slack.intake.home.lesson_list import LESSON
from bot.slack.intake.home.publish import HomeTab
from bot.slack.ui import home_words
from bot.slack.ui.modals import notice_modal
from bot.slack.ui.open_modal import open_modal

Body = dict[str, Any]

_KINDS = {SUGGEST: DRAFT, TRY_CASE: TRY}


def register(app: AsyncApp, clients: Clients, home: HomeTab) -> None:
    """Listen to the button of a rating, and to the buttons and the submission of its modal."""
    desk = home.lessons

    @app.action(LESSON)
    async def opened(body: Body, action: Body, ack: AsyncAck) -> None:
        user = body["user"]["id"]
        try:
            lesson = await desk.read(user, value_of(action))
            view = lesson_form(lesson, desk.link(lesson))
        except NotPermitted as refusal:
            view = notice_modal(home_words.LESSON_TITLE(), str(refusal))
            home.refresh(user)
        await open_modal(clients, body, view)
        await ack()

    @app.action(re.compile(f"^({'|'.join(_KINDS)})$"))
    async def started(body: Body, action: Body, ack: AsyncAck) -> None:
        user, view = body["user"]["id"], view_of(body)
        try:
            key = f"{view['id']}:{action['action_ts']}"
            lesson = await desk.start(user, view, _KINDS[str(action["action_id"])], key)
            working = "" if lesson.problem else home_words.LESSON_WORKING()
            shown = lesson_form(lesson, desk.link(lesson), working=working)
        except NotPermitted as refusal:
            shown = notice_modal(home_words.LESSON_TITLE(), str(refusal))
        await clients.writes.views_update(view_id=view["id"], view=shown)
        await ack()

    @app.action(DISMISS)
    async def dismissed(body: Body, ack: AsyncAck) -> None:
        user, view = body["user"]["id"], view_of(body)
        try:
            await desk.dismiss(user, view)
            sentence = home_words.LESSON_DISMISSED()
        except NotPermitted as refusal:
            sentence = str(refusal)
        shown = notice_modal(home_words.LESSON_TITLE(), sentence)
        await clients.writes.views_update(view_id=view["id"], view=shown)
        home.refresh(user)
        await ack()

    @app.view(LESSON_FORM)
    async def accepted(body: Body, view: Body, ack: AsyncAck) -> None:
        user = body["user"]["id"]
        try:
            await desk.accept(user, view)
            home.refresh(user)
        except WrongField as wrong:
            await ack(response_action="errors", errors=wrong.errors)
            return
        except NotPermitted as refusal:
            shown = notice_modal(home_words.LESSON_TITLE(), str(refusal))
            await ack(response_action="update", view=shown)
            return
        await ack()
