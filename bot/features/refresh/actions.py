"""*Refresh* under an answer: started, posted in the thread, and repeated on a schedule."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Entry, Job, Request
from bot.core.schedule import MOST, Schedule, first_time, often_of
from bot.features.refresh import words as said
from bot.features.refresh.jobs import REFRESH
from bot.features.refresh.message import (
    ended_part,
    refresh_buttons,
    refresh_part,
    result_modal,
    waiting_modal,
)
from bot.features.refresh.refreshed import Refreshed
from bot.features.refresh.store import RefreshStore
from bot.runs.context.answer_locale import locale_of_message
from bot.runs.policy.access import Person
from bot.runs.watching import Submit
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity, error_code, is_definitive
from bot.slack.edge.text import one_line
from bot.slack.intake.press import Press
from bot.slack.intake.questions import QuestionIntake
from bot.slack.intake.schedules import WorkspaceSchedules
from bot.slack.message.message_writer import MessageWriter, PostFence
from bot.slack.message.streams import Streams
from bot.slack.ui import words
from bot.slack.ui.parts import Part
from bot.store import Leases, Lock, ScheduleStore
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)

AnswerOf = Callable[[str], Awaitable[tuple[Request, Outcome] | None]]
"""Returns the request and the outcome of a run; None when they are no longer stored."""

_MAX_QUESTION = 200  # characters of a question in the list of schedules


@dataclass(frozen=True, slots=True)
class AnswerRefresh:
    """The refreshes of answers of one workspace. Methods raise NotPermitted with a sentence."""

    questions: QuestionIntake
    answer_of: AnswerOf
    store: RefreshStore
    schedules: ScheduleStore
    submit: Submit
    clients: Clients
    identity: Identity
    alone: Callable[[str], AbstractAsyncContextManager[Lock | None]]

    async def start(self, press: Press) -> None:
        """Have a worker refresh the answer, and show the result in a modal that opens now. One at a time
        per answer."""
        original, person = await self._answer(press.value, press.user, press.channel)
        if not await self.store.begin(original.thread_key, press.value):
            raise NotPermitted(said.BUSY())
        view = await press.open(waiting_modal())
        job = _job(original, person, press.value, view=view)
        await self.submit(job, f"refresh:{press.user}:{press.at}")

    async def scheduled(self, schedule: Schedule) -> None:
        """Have a worker refresh the answer of a due schedule in its owner's name."""
        run_id, at = schedule.refresh, schedule.next_at
        original, person = await self._answer(run_id, schedule.user, schedule.channel)
        request = _job(original, person, run_id).model_copy(update={"schedule": schedule.id})
        await self.submit(request, f"refresh:{schedule.id}:{at}")

    async def post(self, run_id: str, user: str, channel: str) -> bool:
        """Post the person's result in the thread. Return False when it is being posted already."""
        original, _ = await self._answer(run_id, user, channel)
        async with self.alone(f"{run_id}:{user}") as lock:
            if lock is None:
                return False
            result = await self.store.get(original.thread_key, run_id, user)
            if result is None or result.problem:
                raise NotPermitted(said.NOTHING_TO_POST())
            poster = ResultPoster(self.clients, self.identity, self.store)
            answered = await self.answer_of(run_id)
            with reader(
                locale_of_message(answered[1], original) if answered else original.spoken_locale
            ):
                part = refresh_part(result, said.POSTED_FOR(person=f"<@{result.user}>"))
            await poster.post(original, result, part, lock.hold)
        return True

    async def keep(self, run_id: str, cron: str, user: str, channel: str) -> str:
        """Refresh the answer on a schedule from now on. Return the sentence that says so."""
        original, person = await self._answer(run_id, user, channel)
        if cron not in said.OFTEN:
            raise NotPermitted(said.CANNOT())
        question = one_line(original.said, _MAX_QUESTION)
        schedule = Schedule(
            team=original.team,
            channel=original.channel,
            thread=original.thread,
            user=user,
            text=words.KEPT_UP_TO_DATE(question=question),
            question=question,
            cron=cron,
            time_zone=person.time_zone,
            next_at=first_time(cron, person.time_zone, time.time()),
            refresh=run_id,
        )
        if not await self.schedules.add(schedule, most=MOST):
            raise NotPermitted(said.TOO_MANY(count=MOST))
        often = often_of(cron)
        return said.SCHEDULED(often=often, time_zone=person.time_zone)

    async def _answer(self, run_id: str, user: str, channel: str) -> tuple[Request, Person]:
        """Return the request of an answer that the whole channel could read, and the person."""
        answered = await self.answer_of(run_id)
        original = answered[0] if answered else None
        is_here = original and (original.team, original.channel) == (self.questions.team, channel)
        if original is None or not is_here or original.private:
            raise NotPermitted(said.CANNOT())
        return original, await self.questions.permitted(user, channel)


def _job(kept: Request, person: Person, run_id: str, *, view: str = "") -> Request:
    """Return the request for a worker. `view` is the modal that shows the result.

    In place of a thread it has the answer, so that refreshes of one answer go one at a time and
    hold up no question.
    """
    return Request(
        entry=Entry.JOB,
        team=kept.team,
        channel=kept.channel,
        thread=run_id,
        ts=f"{time.time():.6f}",
        user=person.id,
        author=person.name,
        text="",
        private=True,
        locale=person.locale,
        time_zone=person.time_zone,
        job=Job(kind=REFRESH, subject=run_id, view=view),
    )


@dataclass(frozen=True, slots=True)
class ResultPoster:
    """Posts results in the threads of their answers, each exactly once."""

    clients: Clients
    identity: Identity
    store: RefreshStore

    async def post(
        self, kept: Request, result: Refreshed, part: Part, check: Callable[[], Awaitable[None]]
    ) -> None:
        """Post a result as `part` unless it is there, and remember that its figures are told.

        `check` raises LeaseLost when another process may post it. Raises SlackApiError and
        TRANSPORT_ERRORS.
        """
        writer = MessageWriter(
            kept,
            PostFence(f"{result.request_id}:refresh", check),
            clients=self.clients,
            identity=self.identity,
            streams=Streams(self.clients, self.identity),
        )
        await writer.post(0, part)
        await self.store.note_posted(kept.thread_key, result)


@dataclass(frozen=True, slots=True)
class RefreshResults:
    """Delivery of results in one workspace.

    The person who pressed sees the result. A scheduled one goes into the thread when a figure has
    changed since the last time.
    """

    poster: ResultPoster
    answer_of: AnswerOf
    leases: Leases
    schedules: WorkspaceSchedules

    async def show(self, request: Request, result: Refreshed) -> None:
        """Show a result. One that cannot be shown to a person is logged: they press again.

        Raises SlackApiError and TRANSPORT_ERRORS when a scheduled one was not posted: the job is
        done again, and finds the message if it is there.
        """
        answered = await self.answer_of(result.run_id)
        original = answered[0] if answered else None
        if not request.schedule:
            await self._tell(request, original, result)
            return
        locale = locale_of_message(answered[1], answered[0]) if answered else request.locale
        await load_catalogue(locale)
        with reader(locale):
            part = refresh_part(result, said.POSTED_SCHEDULED(person=f"<@{result.user}>"))
            ended = ended_part(original.id, request.user) if original else part
        if original and result.is_over:
            await self._end(request, original, result, ended)
            return
        if original and result.changed and not await self._post(request, original, result, part):
            result = result.model_copy(update={"problem": words.THREAD_GONE()})
        await self._count(request, result)

    async def _tell(self, request: Request, kept: Request | None, result: Refreshed) -> None:
        """Show a result in the modal that waits for it; in a private message if that was closed."""
        part = refresh_part(result)
        try:
            if view := request.job.view if request.job else "":
                shown = result_modal(result, request.channel)
                await self.poster.clients.writes.views_update(view_id=view, view=shown)
                return
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info("The modal of a refresh was not updated: %s", type(error).__name__)
        try:
            await self.poster.clients.writes.chat_postEphemeral(
                channel=request.channel,
                user=request.user,
                thread_ts=kept.reply_to if kept else request.thread,
                text=part.text,
                blocks=[*part.blocks, *refresh_buttons(result)],
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("A refresh was not shown: %s", type(error).__name__)

    async def _end(self, request: Request, kept: Request, result: Refreshed, part: Part) -> None:
        """Say once in the thread that the figures cannot be kept up to date, and end the schedule. A
        thread that is gone is told to its owner alone."""
        for schedule in await self.schedules.of(request.user):
            if schedule.id == request.schedule:
                if await self._post(request, kept, result, part):
                    await self.schedules.cancel(request.user, schedule.id)
                else:
                    await self.schedules.stop(schedule, words.THREAD_GONE(), again=False)

    async def _post(self, request: Request, kept: Request, result: Refreshed, part: Part) -> bool:
        """Post what is new. Return False if Slack refuses for good."""
        if await self.poster.store.was_posted(kept.thread_key, result):
            return True
        lease = await self.leases.take(request.thread_key)
        try:
            await self.poster.post(kept, result, part, lease.check)
        except SlackApiError as error:
            if not is_definitive(error):
                raise
            log.warning("A refresh was not posted: %s", error_code(error))
            return False
        return True

    async def _count(self, request: Request, result: Refreshed) -> None:
        """Stop a schedule whose refreshes keep failing: nothing could be read again."""
        reasons = [figure.why for figure in result.figures]
        problem = result.problem or (reasons[0] if reasons and all(reasons) else "")
        outcome = Outcome(
            run_id=result.request_id,
            status=RunStatus.FAILED if problem else RunStatus.SUCCESS,
            stop_reason=StopReason.COMPLETED,
            note=problem,
        )
        await self.schedules.ended(request, outcome)
