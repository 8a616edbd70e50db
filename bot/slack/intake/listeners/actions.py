"""Buttons of the bot's messages: Stop, Retry, Regenerate, Go deeper, Details, and follow-ups."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import ValidationError
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackApiError

from bot.core.errors import MalformedPayload, NotPermitted
from bot.core.request import Entry, RepeatReason
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients, error_code
from bot.slack.edge.payloads import value_of
from bot.slack.intake.questions import Question, QuestionIntake
from bot.slack.intake.retry import RetryButton
from bot.slack.intake.stop import StopAction
from bot.slack.ui import buttons, words
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.buttons import FollowUp
from bot.slack.ui.footer import RunDetails, details_modal
from bot.slack.ui.open_modal import open_modal
from bot.text.translation import Text

log = logging.getLogger(__name__)

Body = dict[str, Any]
Handle = Callable[[ButtonPress], Awaitable[bool]]
"""Handles a press; returns False when there is nothing left to do. Raises NotPermitted."""

_AGAIN = {
    buttons.RETRY: RepeatReason.RETRY,
    buttons.REGENERATE: RepeatReason.REGENERATE,
    buttons.DEEPER: RepeatReason.DEEPER,
}


def register(
    app: AsyncApp,
    clients: Clients,
    questions: QuestionIntake,
    stop_action: StopAction,
    retry_button: RetryButton,
    background: Background,
) -> None:
    """Listen to the buttons. Only the person who pressed sees why a press had no effect."""

    def on(action_id: str | re.Pattern[str], handle: Handle, otherwise: Text) -> None:
        @app.action(action_id)
        async def pressed(body: Body, action: Body, ack: AsyncAck, respond: AsyncRespond) -> None:
            press = ButtonPress.of(body, action)
            try:
                reply = "" if await handle(press) else otherwise()
                if press.action == buttons.RETRY:
                    background.start(
                        retry_button.take_away(press, body, respond), "taking a button away"
                    )
            except NotPermitted as refusal:
                reply = str(refusal)
            if reply:
                background.start(tell(clients, press, reply), "ephemeral reply")
            await ack()

    async def stop(press: ButtonPress) -> bool:
        stops = buttons.Stops.read(press.value)
        return stops.channel == press.channel and await stop_action.stop(
            stops.channel, stops.thread, press.user, request_id=stops.request_id
        )

    async def again(press: ButtonPress) -> bool:
        how = _AGAIN[press.action]
        return await questions.again(press.value, how, user=press.user, ts=press.at)

    async def follow_up(press: ButtonPress) -> bool:
        return await _followed_up(questions, press)

    on(buttons.STOP, stop, words.NOTHING_RUNS)
    for action_id in _AGAIN:
        on(action_id, again, words.ALREADY_ASKED)
    on(re.compile(f"^{buttons.FOLLOW_UP}_\\d$"), follow_up, words.ALREADY_ASKED)

    @app.action(buttons.DETAILS)
    async def details(body: Body, action: Body, ack: AsyncAck) -> None:
        await open_modal(clients, body, details_modal(_details(value_of(action))))
        await ack()


async def tell(clients: Clients, press: ButtonPress, sentence: str) -> None:
    """Post a sentence that only the person who pressed sees, in the button's thread."""
    await clients.writes.chat_postEphemeral(
        channel=press.channel, user=press.user, thread_ts=press.thread, text=sentence
    )


def _details(value: str) -> RunDetails:
    """Return the details in a button's value. Raises MalformedPayload for a value that is not ours."""
    try:
        return RunDetails.model_validate_json(value)
    except ValidationError:
        raise MalformedPayload("a Details button with a value that is not ours") from None


async def _followed_up(questions: QuestionIntake, press: ButtonPress) -> bool:
    """Ask the follow-up question. Raises NotPermitted, also when its thread was deleted."""
    try:
        return await questions.ask(_follow_up(press, questions.team))
    except ValidationError:
        log.warning("A follow-up button came back with a value that is not ours")
        return True
    except SlackApiError as error:
        if (code := error_code(error)) != "thread_not_found":
            raise
        reason = words.GONE_REASONS[code]()
        raise NotPermitted(words.CANNOT_ASK(reason=reason)) from None


def _follow_up(press: ButtonPress, team: str) -> Question:
    carried = FollowUp.model_validate_json(press.value)
    return Question(
        entry=Entry.THREAD_REPLY,
        user=press.user,
        channel=press.channel,
        thread=carried.thread,
        text=carried.question,
        key=f"follow_up:{team}:{press.channel}:{press.message or carried.thread}:{press.action}",
        private=carried.private,
        suggested=True,
    )
