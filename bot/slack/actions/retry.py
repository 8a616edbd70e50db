"""What becomes of a message whose Retry was pressed: it stays without the button, as its answer is
another one now."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from slack_bolt.context.respond.async_respond import AsyncRespond

from bot.slack.actions.button_payload import ButtonPress
from bot.slack.actions.share import Answered
from bot.slack.render.buttons import RETRY, without_actions
from bot.slack.render.outcome import render
from bot.slack.transport.client import Clients


@dataclass(frozen=True, slots=True)
class RetryButton:
    """Takes the button away."""

    clients: Clients
    answered: Answered

    async def take_away(
        self, press: ButtonPress, body: dict[str, Any], respond: AsyncRespond
    ) -> None:
        """Safe to repeat. Raises what Slack raises."""
        if body["container"].get("is_ephemeral"):
            await self._redraw(press, respond)
            return
        message = body.get("message") or {}
        if left := without_actions(message.get("blocks") or (), RETRY):
            await self.clients.updates.chat_update(
                channel=press.channel, ts=press.message, text=message.get("text") or "", blocks=left
            )

    async def _redraw(self, press: ButtonPress, respond: AsyncRespond) -> None:
        """What one person sees alone is drawn anew: Slack does not say what it holds. It has the
        button in its last message."""
        found = await self.answered(press.value)
        if found is None:
            await respond(delete_original=True)
            return
        request, outcome = found
        last = (await asyncio.to_thread(render, outcome, request)).parts[-1]
        await respond(
            text=last.text, blocks=without_actions(last.blocks, RETRY), replace_original=True
        )
