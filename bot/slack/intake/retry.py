"""Removal of the Retry button after a press, because a new message has the answer then."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_bolt.context.respond.async_respond import AsyncRespond

from bot.slack.edge.client import Clients
from bot.slack.intake.share import Answered
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.buttons import RETRY, AnswerButton, without_actions
from bot.slack.ui.outcome import render


@dataclass(frozen=True, slots=True)
class RetryButton:
    """The Retry buttons of one workspace."""

    clients: Clients
    answered: Answered
    answer_buttons: Sequence[AnswerButton]

    async def take_away(
        self, press: ButtonPress, body: dict[str, Any], respond: AsyncRespond
    ) -> None:
        """Remove the button from its message. Safe to repeat. Raises SlackApiError."""
        if body["container"].get("is_ephemeral"):
            await self._redraw(press, respond)
            return
        message = body.get("message") or {}
        if left := without_actions(message.get("blocks") or (), RETRY):
            await self.clients.updates.chat_update(
                channel=press.channel, ts=press.message, text=message.get("text") or "", blocks=left
            )

    async def _redraw(self, press: ButtonPress, respond: AsyncRespond) -> None:
        """Replace an ephemeral message without its button.

        Slack does not send the content of ephemeral messages, so the outcome's last part, which
        has the button, is rendered again.
        """
        found = await self.answered(press.value)
        if found is None:
            await respond(delete_original=True)
            return
        request, outcome = found
        last = (await asyncio.to_thread(render, outcome, request, self.answer_buttons)).parts[-1]
        await respond(
            text=last.text, blocks=without_actions(last.blocks, RETRY), replace_original=True
        )
