"""Buttons and the menu under answers: Retry, Ask again, Look deeper, Details, follow-up questions."""

from __future__ import annotations

import asyncio
import logging
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from pydantic import ValidationError
from slack_sdk.errors import SlackApiError

from bot.core.errors import MalformedPayload, NotPermitted
from bot.core.outcome import Totals
from bot.core.request import Entry, RepeatReason, Request
from bot.slack.edge.client import error_code
from bot.slack.intake.press import Press
from bot.slack.intake.questions import Question
from bot.slack.ui import buttons, words
from bot.slack.ui.buttons import DEEPER, REGENERATE, RETRY, FollowUp, without_actions
from bot.slack.ui.outcome import render
from bot.slack.ui.run_details import RunDetails, details_modal

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)

_AGAIN = {
    RETRY: RepeatReason.RETRY,
    REGENERATE: RepeatReason.REGENERATE,
    DEEPER: RepeatReason.DEEPER,
}


def register(app: SlackApp) -> None:
    """Listen to the buttons. Only the person who pressed sees why a press had no effect."""
    retry_button = RetryButton(app)

    @app.button(*_AGAIN)
    async def again(press: Press) -> str:
        how = _AGAIN[press.action]
        asked = await app.questions.again(press.value, how, user=press.user, ts=press.at)
        if press.action == RETRY:
            press.later(retry_button.take_away(press), "taking a button away")
        return await show_begun(press, asked)

    @app.button(re.compile(f"^{buttons.FOLLOW_UP}_\\d$"))
    async def follow_up(press: Press) -> str:
        return await show_begun(press, await _followed_up(app, press))

    async def show_begun(press: Press, asked: Request | None) -> str:
        """Show the asker of a private question that it is being answered: its thread does not."""
        if asked is None:
            return words.ALREADY_ASKED()
        if asked.private:
            await press.open(app.questions.working_view(asked))
        return ""

    @app.button(buttons.DETAILS)
    async def details(press: Press) -> None:
        totals = await _totals(app, press)
        await press.open(await asyncio.to_thread(details_modal, totals, app.tool_label))

    in_menu = {REGENERATE, DEEPER, buttons.DETAILS}
    in_menu |= {button.action for button in app.answer_buttons if button.place == "menu"}

    @app.button(buttons.MENU)
    async def chosen(press: Press) -> str | None:
        action, value = buttons.action_and_value(press.value)
        handler = app.handler(action) if action in in_menu else None
        if handler is None:
            raise NotPermitted(words.SWITCHED_OFF())
        return await handler(replace(press, action=action, value=value))


async def _totals(app: SlackApp, press: Press) -> Totals:
    """Return what a run took, by its request; buttons of earlier releases carry it.

    Raises MalformedPayload for a value that is not ours, and NotPermitted.
    """
    if press.value.startswith("{"):
        try:
            return RunDetails.model_validate_json(press.value).totals
        except ValidationError:
            raise MalformedPayload("a Details button with a value that is not ours") from None
    answered = await app.requests.answered(press.value)
    if answered is None or answered[0].team != app.team:
        raise NotPermitted(words.DETAILS_GONE())
    request, outcome = answered
    if request.private and request.user != press.user:
        raise NotPermitted(words.DETAILS_GONE())
    return outcome.totals


async def _followed_up(app: SlackApp, press: Press) -> Request | None:
    """Ask the follow-up question. Raises NotPermitted, also when its thread was deleted."""
    try:
        return await app.questions.ask(_follow_up(press, app.team))
    except ValidationError:
        raise MalformedPayload("a follow-up button with a value that is not ours") from None
    except SlackApiError as error:
        if (code := error_code(error)) != "thread_not_found":
            raise
        reason = words.GONE_REASONS[code]()
        raise NotPermitted(words.CANNOT_ASK(reason=reason)) from None


def _follow_up(press: Press, team: str) -> Question:
    carried = FollowUp.model_validate_json(press.value)
    return Question(
        entry=Entry.THREAD_REPLY if carried.thread else Entry.DIRECT_MESSAGE,
        user=press.user,
        channel=press.channel,
        thread=carried.thread or None,
        text=carried.question,
        key=f"follow_up:{team}:{press.channel}:{press.message or carried.thread}:{press.action}",
        private=carried.private,
        response_type=carried.response_type,
        suggested=True,
    )


class RetryButton:
    """Removal of the Retry button after a press, because a new message has the answer then."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app

    async def take_away(self, press: Press) -> None:
        """Remove the button from its message. Safe to repeat. Raises SlackApiError."""
        if press.is_private:
            await self._redraw(press)
            return
        message = press.body.get("message") or {}
        if blocks := without_actions(message.get("blocks") or (), RETRY):
            await self._app.clients.updates.chat_update(
                channel=press.channel,
                ts=press.message,
                text=message.get("text") or "",
                blocks=blocks,
            )

    async def _redraw(self, press: Press) -> None:
        """Replace an ephemeral message without its button.

        Slack does not send the content of ephemeral messages, so the outcome's last part, which
        has the button, is rendered again.
        """
        answered = await self._app.requests.answered(press.value)
        if answered is None:
            await press.respond(delete_original=True)
            return
        request, outcome = answered
        last = (await asyncio.to_thread(render, outcome, request, self._app.answer_buttons)).parts[
            -1
        ]
        await press.respond(
            text=last.text, blocks=without_actions(last.blocks, RETRY), replace_original=True
        )
