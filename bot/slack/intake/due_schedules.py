"""Questions of due schedules, asked in their owner's name with the owner's current rights."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.errors import BotError, NotPermitted
from bot.core.request import Entry
from bot.core.schedule import Schedule
from bot.features.schedules.own import next_time
from bot.runs.policy.access import PersonKind
from bot.slack.edge.client import TRANSPORT_ERRORS, error_code
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.questions import Question, QuestionIntake
from bot.slack.intake.schedules import WorkspaceSchedules
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui import words
from bot.store import PauseSwitch, ScheduleStore
from bot.text.translation import reader

log = logging.getLogger(__name__)

LOOK_SECONDS = 10.0
_MOST_REFUSALS = 3


@dataclass(frozen=True, slots=True)
class DueSchedules:
    """The scheduler of one workspace, which any number of processes may run.

    The store gives each due schedule to one process. The question's key consists of the schedule and
    its time, so that it is asked once.
    """

    team: str
    store: ScheduleStore
    switch: PauseSwitch
    questions: QuestionIntake
    features: Sequence[SlackPart]
    slack: Slack
    clock: Callable[[], float] = time.time

    async def run(self) -> None:
        """Ask due schedules every ten seconds until cancelled. Errors are logged."""
        while True:
            try:
                await self.submit_due()
            except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
                log.warning("Schedules were not looked through: %s", error)
            await asyncio.sleep(LOOK_SECONDS)

    async def submit_due(self) -> None:
        """Ask the questions of all due schedules, unless the bot is paused.

        A schedule that fails does not hold up the others; it is tried again when its claim expires.
        """
        if await self.switch.get():
            return
        for schedule in await self.store.due(self.team, self.clock()):
            try:
                with reader(await self.slack.people.locale(schedule.user)):
                    await self._ask(schedule)
            except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
                log.warning("Schedule %s was not asked this time: %s", schedule.id, error)

    async def _ask(self, schedule: Schedule) -> None:
        try:
            await self._do(schedule)
        except NotPermitted as refusal:
            log.warning("Schedule %s was not asked: %s", schedule.id, refusal)
            if refusal.reason == PersonKind.UNKNOWN:
                await self._schedules.remove_ownerless(schedule)
            else:
                await self._refused(schedule, str(refusal))
        except SlackApiError as error:
            if error_code(error) != "thread_not_found":
                raise
            log.warning("Schedule %s was not asked: its thread is gone", schedule.id)
            await self._refused(schedule, words.THREAD_GONE())
        else:
            await self._next(schedule.model_copy(update={"refusals": 0}))

    async def _do(self, schedule: Schedule) -> None:
        """Have a feature do what the schedule is for, else ask its question."""
        for feature in self.features:
            if await feature.take_due(schedule):
                return
        if schedule.refresh:
            raise NotPermitted(words.SWITCHED_OFF())
        question = Question(
            entry=Entry.SCHEDULE,
            user=schedule.user,
            channel=schedule.channel,
            thread=schedule.thread,
            text=schedule.text,
            schedule=schedule.id,
            suggested=schedule.suggested,
            key=f"schedule:{schedule.id}:{schedule.next_at}",
        )
        await self.questions.ask(question)

    async def _refused(self, schedule: Schedule, why: str) -> None:
        refusals = schedule.refusals + 1
        if schedule.cron and refusals < _MOST_REFUSALS:
            await self._next(schedule.model_copy(update={"refusals": refusals}))
            return
        await self._schedules.stop(schedule, why)

    @property
    def _schedules(self) -> WorkspaceSchedules:
        return WorkspaceSchedules(self.team, self.store, self.slack.clients)

    async def _next(self, schedule: Schedule) -> None:
        """Set the next time, counted from now, so that missed times are asked only once."""
        if not schedule.cron:
            await self.store.remove(schedule.team, schedule.id)
            return
        later = next_time(schedule.cron, schedule.time_zone, self.clock())
        await self.store.move(schedule.model_copy(update={"next_at": later}))
