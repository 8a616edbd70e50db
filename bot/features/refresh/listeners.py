"""*Refresh* under an answer, and the buttons under its result."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from typing_extensions import override

from bot.core.schedule import Schedule
from bot.features.refresh import words
from bot.features.refresh.actions import AnswerRefresh
from bot.features.refresh.message import KEEP, POST, START
from bot.features.refresh.store import RefreshStore
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart

_SOON = 3.0  # seconds in which a post is usually complete


@dataclass(frozen=True, slots=True)
class RefreshListeners(SlackPart):
    """The listeners of one workspace. Only the person who pressed sees why a press had no effect."""

    refresh: AnswerRefresh

    @classmethod
    def of(cls, app: SlackApp) -> RefreshListeners:
        """Return the listeners of a workspace."""
        return cls(
            AnswerRefresh(
                app.questions,
                answer_of=app.stores.runs.answer,
                store=RefreshStore.of(app.stores),
                schedules=app.stores.schedules,
                submit=app.submit,
                clients=app.clients,
                identity=app.identity,
                alone=app.stores.sharing,
            )
        )

    @override
    def register(self, app: SlackApp) -> None:
        app.button(START)(self._start)
        app.button(POST)(self._post)
        app.button(KEEP)(self._keep)

    @override
    async def take_due(self, schedule: Schedule) -> bool:
        if schedule.refresh:
            await self.refresh.scheduled(schedule)
        return bool(schedule.refresh)

    async def _start(self, press: Press) -> None:
        await self.refresh.start(press)

    async def _post(self, press: Press) -> None:
        press.later(self._posting(press), "posting a refresh")

    async def _posting(self, press: Press) -> str:
        place = press.value, press.user, _channel_of(press)
        done = await self.refresh.post(*place)
        if not done:  # another press is posting it, or its process died
            await asyncio.sleep(_SOON)
            done = await self.refresh.post(*place)
        if done and press.is_private:
            await press.respond(delete_original=True)
            return ""
        return words.POSTED() if done else ""

    async def _keep(self, press: Press) -> str:
        run_id, _, cron = press.value.partition(" ")
        return await self.refresh.keep(run_id, cron, press.user, _channel_of(press))


def _channel_of(press: Press) -> str:
    """Return the channel of the answer whose result has the button, in a message or a modal."""
    return press.channel or str(press.view.get("private_metadata") or "")
