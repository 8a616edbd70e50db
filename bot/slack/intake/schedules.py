"""Schedules of a workspace: listed, cancelled, and stopped when they keep failing."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Request
from bot.core.schedule import Schedule, often_of
from bot.features.schedules.home import place_of, words_of
from bot.features.schedules.own import next_time
from bot.mcp.config import label_of
from bot.runs.watching import Listener
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients
from bot.slack.edge.text import one_line
from bot.slack.ui import words
from bot.slack.ui.links import LinkGate
from bot.store import ScheduleStore

log = logging.getLogger(__name__)

MOST_FAILURES = 3  # in a row
_NEVER = 253_370_764_800  # seconds since the epoch: the year 9999
_MAX_WHY = 400  # characters


@dataclass(frozen=True, slots=True)
class WorkspaceSchedules:
    """The schedules of one workspace, `team`."""

    team: str
    store: ScheduleStore
    clients: Clients

    async def of(self, user: str) -> list[Schedule]:
        """Return a person's schedules, the next one first."""
        return await self.store.of(self.team, user)

    async def all(self) -> list[Schedule]:
        """Return everybody's schedules, the next one first."""
        return await self.store.of_all(self.team)

    async def cancel(self, user: str, schedule_id: str) -> bool:
        """Remove a schedule of `user`. Return False when they have no such schedule."""
        if schedule_id not in {each.id for each in await self.of(user)}:
            return False
        return await self.store.remove(self.team, schedule_id)

    async def stop(self, schedule: Schedule, why: str, *, again: bool = True) -> None:
        """Remove a schedule, and tell its owner `why`; with `again`, also how to set it up again.

        Only the process that removes it tells the owner.
        """
        if not await self.store.remove(schedule.team, schedule.id):
            return
        with _log_failure(schedule):
            opened = await self.clients.writes.conversations_open(users=schedule.user)
            notice = _stopped_text(schedule, why, again=again)
            await self._say(notice, str(opened["channel"]["id"]))

    async def wait_for_account(self, request: Request, server: str) -> None:
        """Pause the schedule that asked until its owner has connected their account again, and tell
        them. A schedule that waits already stays as it is."""
        for schedule in await self.of(request.user):
            if schedule.id != request.schedule or schedule.waits_for or not schedule.cron:
                continue
            paused = schedule.model_copy(update={"waits_for": server, "next_at": _NEVER})
            if not await self.store.move(paused):
                continue
            with _log_failure(schedule):
                opened = await self.clients.writes.conversations_open(users=schedule.user)
                said = words.SCHEDULE_WAITS(text=words_of(schedule), server=label_of(server))
                await self._say(said, str(opened["channel"]["id"]))

    async def connected(self, user: str, server: str) -> None:
        """Go on with the schedules that waited for this account. Safe to repeat."""
        for schedule in await self.of(user):
            if schedule.waits_for == server:
                later = next_time(schedule.cron, schedule.time_zone, time.time())
                again = {"waits_for": "", "next_at": later}
                await self.store.move(schedule.model_copy(update=again))

    async def remove_ownerless(self, schedule: Schedule) -> None:
        """Remove a schedule whose owner has left, and tell its channel.

        The readers of its answers can then schedule the question themselves.
        """
        if not await self.store.remove(schedule.team, schedule.id):
            return
        if not schedule.channel.startswith("D"):
            with _log_failure(schedule):
                await self._say(_owner_left_text(schedule), schedule.channel, schedule.thread)

    async def _say(self, text: str, channel: str, thread: str | None = None) -> None:
        await self.clients.writes.chat_postMessage(
            channel=channel,
            thread_ts=thread,
            text=text,
            unfurl_links=False,
            unfurl_media=False,
        )

    async def ended(self, request: Request, outcome: Outcome) -> None:
        """Count the end of a scheduled run; stop the schedule after three failures in a row.

        Safe to repeat. A run that ended because the bot is paused does not count.
        """
        if outcome.stop_reason is StopReason.PAUSED:
            return
        failed = outcome.status is RunStatus.FAILED
        failures = await self.store.ended(
            self.team, request.schedule, outcome.run_id, failed=failed
        )
        if failures < MOST_FAILURES:
            return
        for schedule in await self.of(request.user):
            if schedule.id == request.schedule:
                last = LinkGate().mrkdwn(one_line(outcome.note, _MAX_WHY) or words.FAILED())
                why = words.SCHEDULE_FAILED(count=MOST_FAILURES, why=last)
                await self.stop(schedule, why)


@contextmanager
def _log_failure(schedule: Schedule) -> Generator[None]:
    """Log a failure to post the notice, most likely because the person or channel is gone."""
    try:
        yield
    except (SlackApiError, *TRANSPORT_ERRORS):
        log.warning("Nobody could be told that schedule %s stopped", schedule.id)


def _owner_left_text(schedule: Schedule) -> str:
    notice = words.SCHEDULE_OWNER_LEFT(person=schedule.user, text=words_of(schedule))
    if not schedule.cron:
        return notice
    often = {"often": often_of(schedule.cron), "time_zone": schedule.time_zone}
    return f"{notice} {words.SCHEDULE_CAME(**often)}"


def _stopped_text(schedule: Schedule, why: str, *, again: bool) -> str:
    notice = words.SCHEDULE_STOPPED(
        text=words_of(schedule),
        place=place_of(schedule.channel),
        why=why,
    )
    if not (schedule.cron and again):
        return notice
    often = {"often": often_of(schedule.cron), "time_zone": schedule.time_zone}
    return f"{notice} {words.SCHEDULE_AGAIN(**often)}"


class ScheduleListener(Listener):
    """A listener to the run of a request, which counts how the runs of a schedule end."""

    def __init__(self, schedules: WorkspaceSchedules, request: Request) -> None:
        self._schedules = schedules
        self._request = request

    @override
    async def on_end(self, outcome: Outcome) -> None:
        if not self._request.schedule:
            return
        await self._schedules.ended(self._request, outcome)
        for server in outcome.unconnected:
            await self._schedules.wait_for_account(self._request, server)
