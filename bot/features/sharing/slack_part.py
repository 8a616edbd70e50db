"""The button that shares a private answer in its thread."""

from __future__ import annotations

import asyncio

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features.sharing.sharing import AnswerSharing
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.ui import buttons, words

_SOON = 3.0  # seconds in which posting an answer is usually complete


def register(app: SlackApp) -> None:
    """Listen to the button. The private answer is deleted when the shared one is posted."""
    sharing = AnswerSharing(app)

    @app.button(buttons.SHARE)
    async def pressed(press: Press) -> None:
        request, outcome = await sharing.shareable(press)
        press.later(share(press, request, outcome), "sharing an answer")

    async def share(press: Press, request: Request, outcome: Outcome) -> str:
        done = await sharing.post(request, outcome)
        if not done:  # another press is posting it, as after a double click, or its process died
            await asyncio.sleep(_SOON)
            done = await sharing.post(request, outcome)
        if not done:
            return words.SHARING()
        await press.respond(delete_original=True)
        return ""
