"""The button that shares a private answer in its thread."""

from __future__ import annotations

import asyncio

from typing_extensions import override

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features.sharing import words
from bot.features.sharing.sharing import AnswerSharing
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart

SHARE = "share_answer"
_SOON = 3.0  # seconds in which posting an answer is usually complete


class SharingPart(SlackPart):
    """Sharing in one workspace. The private answer is deleted when the shared one is posted."""

    def __init__(self, app: SlackApp) -> None:
        self._sharing = AnswerSharing(app)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(SHARE)(self._pressed)

    async def _pressed(self, press: Press) -> None:
        request, outcome = await self._sharing.shareable(press)
        press.later(self._share(press, request, outcome), "sharing an answer")

    async def _share(self, press: Press, request: Request, outcome: Outcome) -> str:
        done = await self._sharing.post(request, outcome)
        if not done:  # another press is posting it, as after a double click, or its process died
            await asyncio.sleep(_SOON)
            done = await self._sharing.post(request, outcome)
        if not done:
            return words.SHARING()
        await press.respond(delete_original=True)
        return ""
