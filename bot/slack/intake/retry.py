"""Removal of the Retry button after a press, because a new message has the answer then."""

from __future__ import annotations

import asyncio

from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.ui.buttons import RETRY, without_actions
from bot.slack.ui.outcome import render


class RetryButton:
    """The Retry buttons of one workspace."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app

    async def take_away(self, press: Press) -> None:
        """Remove the button from its message. Safe to repeat. Raises SlackApiError."""
        if press.is_private:
            await self._redraw(press)
            return
        message = press.body.get("message") or {}
        if left := without_actions(message.get("blocks") or (), RETRY):
            await self._app.clients.updates.chat_update(
                channel=press.channel, ts=press.message, text=message.get("text") or "", blocks=left
            )

    async def _redraw(self, press: Press) -> None:
        """Replace an ephemeral message without its button.

        Slack does not send the content of ephemeral messages, so the outcome's last part, which
        has the button, is rendered again.
        """
        found = await self._app.requests.answered(press.value)
        if found is None:
            await press.respond(delete_original=True)
            return
        request, outcome = found
        last = (await asyncio.to_thread(render, outcome, request, self._app.answer_buttons)).parts[
            -1
        ]
        await press.respond(
            text=last.text, blocks=without_actions(last.blocks, RETRY), replace_original=True
        )
