"""The buttons of what the bot posts."""

from __future__ import annotations

import logging
import re
from typing import Any

from pydantic import ValidationError
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import NotPermitted
from bot.core.request import Entry
from bot.runs.surface import CancelRun
from bot.slack.asking import Asking, Question
from bot.slack.background import Background
from bot.slack.client import Clients
from bot.slack.render import buttons, words
from bot.slack.render.buttons import FollowUp

log = logging.getLogger(__name__)

Body = dict[str, Any]


def register(
    app: AsyncApp, clients: Clients, asking: Asking, cancel: CancelRun, background: Background
) -> None:
    """Listen to Stop, Retry, follow-ups and feedback."""

    def tell(body: Body, sentence: str) -> None:
        told = clients.writes.chat_postEphemeral(
            channel=channel_of(body),
            user=body["user"]["id"],
            thread_ts=thread_of(body),
            text=sentence,
        )
        background.start(told, "telling somebody something")

    @app.action(buttons.STOP)
    async def stop(body: Body, action: Body, ack: AsyncAck) -> None:
        thread_key = str(action["value"])
        here = thread_key.split(":")[1:2] == [channel_of(body)]
        if not here or not await cancel(thread_key, body["user"]["id"]):
            tell(body, words.NOTHING_RUNS)
        await ack()

    @app.action(buttons.RETRY)
    async def retry(body: Body, action: Body, ack: AsyncAck) -> None:
        try:
            new = await asking.again(
                action["value"], user=body["user"]["id"], ts=action["action_ts"]
            )
            if not new:
                tell(body, words.ALREADY_ASKED)
        except NotPermitted as refusal:
            tell(body, str(refusal))
        await ack()

    @app.action(re.compile(f"^{buttons.FOLLOW_UP}_\\d$"))
    async def follow_up(body: Body, action: Body, ack: AsyncAck) -> None:
        try:
            if not await asking.ask(_follow_up(body, action)):
                tell(body, words.ALREADY_ASKED)
        except NotPermitted as refusal:
            tell(body, str(refusal))
        except ValidationError:
            log.warning("A follow-up button came back with a value that is not ours")
        await ack()

    @app.action(buttons.FEEDBACK)
    async def feedback(body: Body, action: Body, ack: AsyncAck) -> None:
        verdict, _, run = str(action["value"]).partition(":")
        log.info("Feedback: %s for %s by %s", verdict, run, body["user"]["id"])
        tell(body, words.THANKS)
        await ack()


def _follow_up(body: Body, action: Body) -> Question:
    carried = FollowUp.model_validate_json(action["value"])
    message = (body.get("container") or {}).get("message_ts") or carried.thread
    return Question(
        entry=Entry.THREAD_REPLY,
        user=body["user"]["id"],
        channel=channel_of(body),
        thread=carried.thread,
        text=carried.question,
        key=f"follow_up:{channel_of(body)}:{message}:{action['action_id']}",
        private=carried.private,
    )


def channel_of(body: Body) -> str:
    """The channel of the message with the button."""
    return str(
        (body.get("channel") or body["container"]).get("id") or body["container"]["channel_id"]
    )


def thread_of(body: Body) -> str | None:
    """The thread that the message with the button stands in."""
    message = body.get("message") or {}
    container = body.get("container") or {}
    return message.get("thread_ts") or container.get("thread_ts")
