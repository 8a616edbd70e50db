"""The button that shares a private answer in its thread."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted, StoreError
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.intake.listeners.actions import tell
from bot.slack.intake.share import AnswerSharing
from bot.slack.ui import buttons, words
from bot.slack.ui.button_payload import ButtonPress

log = logging.getLogger(__name__)

Body = dict[str, Any]

_SOON = 3.0  # seconds in which posting an answer is usually complete


def register(app: AsyncApp, sharing: AnswerSharing, background: Background) -> None:
    """Listen to the button. The private answer is deleted when the shared one is posted."""

    @app.action(buttons.SHARE)
    async def pressed(body: Body, action: Body, ack: AsyncAck, respond: AsyncRespond) -> None:
        press = ButtonPress.of(body, action)
        try:
            request, outcome = await sharing.shareable(press)
        except NotPermitted as refusal:
            reply = tell(sharing.clients, press, str(refusal))
            background.start(reply, "ephemeral reply")
        else:
            background.start(share(press, request, outcome, respond), "sharing an answer")
        await ack()

    async def share(
        press: ButtonPress, request: Request, outcome: Outcome, respond: AsyncRespond
    ) -> None:
        try:
            done = await sharing.post(request, outcome)
            if (
                not done
            ):  # another press is posting it, as after a double click, or its process died
                await asyncio.sleep(_SOON)
                done = await sharing.post(request, outcome)
        except (SlackApiError, StoreError, *TRANSPORT_ERRORS) as error:
            log.warning("An answer was not shared: %s: %s", type(error).__name__, error)
            await tell(sharing.clients, press, words.TRY_AGAIN())
            return
        if done:
            await respond(delete_original=True)
        else:
            await tell(sharing.clients, press, words.SHARING())
