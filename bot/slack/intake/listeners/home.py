"""The Home tab and its buttons, and suggested prompts in direct messages."""

from __future__ import annotations

import logging
import re
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted, SlackUnavailable
from bot.slack.edge.app_context import channel_beside
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.membership import ChannelMembership
from bot.slack.edge.payloads import value_of
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.home.view import PAUSE, RESUME, suggested_prompts
from bot.slack.ui import home_words
from bot.slack.ui.modals import notice_modal
from bot.slack.ui.open_modal import open_modal
from bot.slack.ui.schedules import CANCEL as CANCEL_SCHEDULE
from bot.slack.ui.schedules import CANCEL_MESSAGE

log = logging.getLogger(__name__)

Body = dict[str, Any]


def register(app: AsyncApp, home: HomeTab, access: ChannelMembership) -> None:
    """Listen to opened Home tabs and direct messages, changed app contexts, and Home buttons."""

    async def suggest(user: str, direct: str, beside: str | None) -> None:
        if await home.refusal(user):
            return
        place = await access.place(beside, otherwise="") if beside else ""
        await home.clients.writes.assistant_threads_setSuggestedPrompts(
            channel_id=direct, prompts=suggested_prompts(place)
        )

    @app.event("app_home_opened")
    async def opened(event: Body) -> None:
        if event.get("tab") == "home":
            home.refresh(event["user"])
        elif event.get("channel"):
            home.background.start(
                suggest(event["user"], event["channel"], None), "suggested prompts"
            )

    @app.event("app_context_changed")
    async def looked_elsewhere(event: Body) -> None:
        beside = channel_beside(event.get("context"))
        if event.get("channel"):
            home.background.start(
                suggest(event["user"], event["channel"], beside), "suggested prompts"
            )

    _listen_to_buttons(app, home)


def _listen_to_buttons(app: AsyncApp, home: HomeTab) -> None:
    """Listen to the buttons of the Home tab, which is published again after each press."""

    @app.action(CANCEL_SCHEDULE)
    async def cancelled(body: Body, action: Body, ack: AsyncAck) -> None:
        user, which = body["user"]["id"], value_of(action)
        try:
            if not await home.schedules.cancel(user, which):
                await home.admin.cancel_schedule(user, which)
        except NotPermitted:
            log.warning("%s pressed Cancel on a schedule that is not theirs", user)
        home.refresh(user)
        await ack()

    @app.action(CANCEL_MESSAGE)
    async def message_cancelled(body: Body, action: Body, ack: AsyncAck) -> None:
        user, why = body["user"]["id"], ""
        try:
            if not await home.messages.cancel_by_id(user, value_of(action)):
                why = home_words.MESSAGE_GONE()
        except (SlackApiError, SlackUnavailable, *TRANSPORT_ERRORS):
            log.warning("A message that waits to be posted was not cancelled", exc_info=True)
            why = home_words.MESSAGE_PERHAPS()
        if why:
            await open_modal(home.clients, body, notice_modal(home_words.NOT_CANCELLED(), why))
        home.refresh(user)
        await ack()

    @app.action(re.compile(f"^({PAUSE}|{RESUME})$"))
    async def switched(body: Body, action: Body, ack: AsyncAck) -> None:
        user, admin = body["user"]["id"], home.admin
        try:
            await (admin.pause(user) if action["action_id"] == PAUSE else admin.resume(user))
        except NotPermitted:
            log.warning("%s pressed a button of the Home tab of admins", user)
        home.refresh(user)
        await ack()
