"""*Refresh* under an answer, and the buttons under its result."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted, StoreError
from bot.slack.actions.button_payload import ButtonPress, channel_of, thread_of
from bot.slack.actions.refresh import AnswerRefresh
from bot.slack.incoming.listeners.actions import tell
from bot.slack.render import buttons, words
from bot.slack.render import refresh_words as said
from bot.slack.render.refresh import KEEP, POST
from bot.slack.transport.background_tasks import Background
from bot.slack.transport.client import TRANSPORT_ERRORS

log = logging.getLogger(__name__)

Body = dict[str, Any]

_SOON = 3.0  # seconds in which a post is usually complete


def register(app: AsyncApp, refresh: AnswerRefresh, background: Background) -> None:
    """Listen to the buttons. Only the person who pressed sees why a press had no effect."""
    clients = refresh.clients

    @app.action(buttons.REFRESH)
    async def pressed(body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            await refresh.start(press)
            reply = said.WORKING()
        except NotPermitted as refusal:
            reply = str(refusal)
        background.start(tell(clients, press, reply), "ephemeral reply")
        await ack()

    @app.action(POST)
    async def posted(body: Body, action: Body, ack: AsyncAck, respond: AsyncRespond) -> None:
        press = ButtonPress.of(body, action)
        background.start(post(press, respond), "posting a refresh")
        await ack()

    async def post(press: ButtonPress, respond: AsyncRespond) -> None:
        try:
            done = await refresh.post(press)
            if not done:  # another press is posting it, or its process died
                await asyncio.sleep(_SOON)
                done = await refresh.post(press)
        except NotPermitted as refusal:
            await tell(clients, press, str(refusal))
        except (SlackApiError, StoreError, *TRANSPORT_ERRORS) as error:
            log.warning("A refresh was not posted: %s: %s", type(error).__name__, error)
            await tell(clients, press, words.TRY_AGAIN())
        else:
            if done:
                await respond(delete_original=True)

    @app.action(KEEP)
    async def kept(body: Body, action: Body, ack: AsyncAck) -> None:
        chosen = (action.get("selected_option") or {}).get("value") or ""
        run_id, _, cron = str(chosen).partition(" ")
        user, channel = str(body["user"]["id"]), channel_of(body)
        try:
            reply = await refresh.keep(run_id, cron, user, channel)
        except NotPermitted as refusal:
            reply = str(refusal)
        telling = clients.writes.chat_postEphemeral(
            channel=channel, user=user, thread_ts=thread_of(body), text=reply
        )
        background.start(telling, "ephemeral reply")
        await ack()
