"""Schedules of a workspace: taken when they are due, and stopped when they keep failing."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.errors import BotError, NotPermitted
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Request
from bot.core.schedule import Schedule, next_time, often_of
from bot.mcp.config import label_of
from bot.runs.policy.access import PersonKind
from bot.runs.watching import PART_SECONDS, name_of
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, error_code
from bot.slack.edge.text import one_line
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui import words
from bot.slack.ui.blocks import shortened
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import local_time
from bot.store import PauseSwitch, ScheduleStore
from bot.text.translation import reader

log = logging.getLogger(__name__)

MOST_FAILURES = 3  # in a row
_MOST_REFUSALS = 3
_MOST_TRIES = 10  # of a part with a bug
LOOK_SECONDS = 10.0
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
        if schedule_id not in {schedule.id for schedule in await self.of(user)}:
            return False
        return await self.store.remove(self.team, schedule_id)

    async def stop(self, schedule: Schedule, why: str, *, again: bool = True) -> None:
        """Remove a schedule, and tell its owner `why`; with `again`, also how to set it up again.

        Only the process that removes it tells the owner.
        """
        if not await self.store.remove(schedule.team, schedule.id):
            return
        with _log_failure(schedule):
            await self.clients.tell(schedule.user, _stopped_text(schedule, why, again=again))

    async def tell_it_rests(self, schedule: Schedule, why: str) -> None:
        """Tell the owner `why` their schedule did nothing this time, and when it is next due."""
        with _log_failure(schedule):
            sentence = words.SCHEDULE_RESTS(
                text=words_of(schedule),
                place=place_of(schedule.channel),
                why=why,
                when=local_time(schedule.next_at),
            )
            await self.clients.tell(schedule.user, sentence)

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
                sentence = words.SCHEDULE_WAITS(text=words_of(schedule), server=label_of(server))
                await self.clients.tell(schedule.user, sentence)

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
                await self.clients.writes.chat_postMessage(
                    channel=schedule.channel,
                    thread_ts=schedule.thread or None,
                    text=_owner_left_text(schedule),
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


@dataclass(frozen=True, slots=True)
class DueSchedules:
    """The scheduler of one workspace, which any number of processes may run.

    The store gives each due schedule to one process; `parts` are those of features, which do what it
    is for.
    """

    team: str
    store: ScheduleStore
    switch: PauseSwitch
    parts: Sequence[SlackPart]
    slack: Slack
    clock: Callable[[], float] = time.time

    async def run(self) -> None:
        """Take due schedules every ten seconds until cancelled. Errors are logged."""
        while True:
            try:
                await self.submit_due()
            except (BotError, SlackApiError, *TRANSPORT_ERRORS) as error:
                log.warning("Schedules were not looked through: %s", error)
            await asyncio.sleep(LOOK_SECONDS)

    async def submit_due(self) -> None:
        """Take all schedules that are due, unless the bot is paused.

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
            except Exception:  # a bug of a feature ends neither other schedules nor the bot
                log.exception("Schedule %s was not asked this time", schedule.id)

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
        """Have a feature do what the schedule is for. Raises what a part raised unless another does it:
        it is then tried again, and refused once that was in vain too often. A part that takes longer
        than PART_SECONDS counts as one that raises."""
        bug: Exception | None = None
        for part in self.parts:
            try:
                async with asyncio.timeout(PART_SECONDS) as limit:
                    if await part.take_due(schedule):
                        return
            except Exception as error:
                is_nobodys = isinstance(error, (BotError, SlackApiError, *TRANSPORT_ERRORS))
                if is_nobodys and not limit.expired():
                    raise
                log.exception("%s did not take schedule %s", name_of(part), schedule.id)
                bug = error
        if bug is None:
            raise NotPermitted(words.SWITCHED_OFF())
        tries = schedule.tries + 1
        if tries >= _MOST_TRIES:
            raise NotPermitted(words.GOES_WRONG())
        await self.store.move(schedule.model_copy(update={"tries": tries}))  # due as it was
        raise bug

    async def _refused(self, schedule: Schedule, why: str) -> None:
        refusals = schedule.refusals + 1
        if schedule.cron and refusals < _MOST_REFUSALS:
            later = await self._next(schedule.model_copy(update={"refusals": refusals}))
            if later and refusals == 1:
                await self._schedules.tell_it_rests(later, why)
            return
        await self._schedules.stop(schedule, why)

    @property
    def _schedules(self) -> WorkspaceSchedules:
        return WorkspaceSchedules(self.team, self.store, self.slack.clients)

    async def _next(self, schedule: Schedule) -> Schedule | None:
        """Set the next time, counted from now, so that missed times are asked only once.

        Return the schedule with it; None if there is none, or it was cancelled meanwhile.
        """
        if not schedule.cron:
            await self.store.remove(schedule.team, schedule.id)
            return None
        later = next_time(schedule.cron, schedule.time_zone, self.clock())
        moved = schedule.model_copy(update={"next_at": later, "tries": 0})
        return moved if await self.store.move(moved) else None


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


def words_of(schedule: Schedule) -> str:
    """Return the question as mrkdwn without links, because a model may have written it."""
    return _safe(text_of(schedule))


def text_of(schedule: Schedule) -> str:
    """Return the question; what is kept up to date is told in the reader's language."""
    question = schedule.question
    return words.KEPT_UP_TO_DATE(question=question) if question else schedule.text


def place_of(channel: str) -> str:
    """Return the place of a scheduled question or message as mrkdwn."""
    return words.IN_DIRECT() if channel.startswith("D") else words.IN_PLACE(channel=f"<#{channel}>")


def _safe(text: str) -> str:
    return LinkGate().mrkdwn(shortened(text, 300))
