"""What people started with a feature that is switched off now: each ends with a sentence."""

from __future__ import annotations

import logging
import re
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError

from bot.core.request import Request
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients
from bot.slack.intake.listeners.actions import tell
from bot.slack.ui import words
from bot.slack.ui.button_payload import ButtonPress
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)

Body = dict[str, Any]


def register(app: AsyncApp, clients: Clients, background: Background) -> None:
    """Listen to buttons of messages that nothing else listens to; register it last."""

    @app.action(re.compile(""))
    async def pressed(body: Body, action: Body, ack: AsyncAck) -> None:
        is_button = action.get("type") == "button" and not action.get("url")
        if is_button and body.get("message"):
            press = ButtonPress.of(body, action)
            log.warning("Nothing listens to the button %s", press.action)
            telling = tell(clients, press, words.SWITCHED_OFF())
            background.start(telling, "ephemeral reply")
        await ack()


async def tell_switched_off(clients: Clients, request: Request) -> None:
    """Tell the person who started a job that nothing does it; nobody else sees that."""
    await load_catalogue(request.locale)
    with reader(request.locale):
        sentence = words.JOB_SWITCHED_OFF()
    try:
        await clients.writes.chat_postEphemeral(
            channel=request.channel, user=request.user, text=sentence
        )
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("Nobody was told that a job is switched off: %s", type(error).__name__)
