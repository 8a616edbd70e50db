"""*Refresh* under an answer: started, posted in the thread, and repeated on a schedule."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.refresh import Refreshed
from bot.core.request import Entry, Job, Request
from bot.core.schedule import Schedule, often_of
from bot.runs.context.own_schedules import MOST, first_time
from bot.runs.observers import Submit
from bot.runs.policy.access import Person
from bot.runs.refresh.jobs import REFRESH
from bot.slack.actions.button_payload import ButtonPress
from bot.slack.actions.questions import QuestionIntake
from bot.slack.actions.schedules import WorkspaceSchedules
from bot.slack.actions.share import LockSharing
from bot.slack.incoming.text import one_line
from bot.slack.render import refresh_words as said
from bot.slack.render.refresh import refresh_blocks, refresh_buttons, refresh_text
from bot.slack.transport.client import TRANSPORT_ERRORS, Clients
from bot.store import RefreshStore, ScheduleStore

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
    alone: LockSharing

    async def start(self, press: ButtonPress) -> None:
        """Have a worker refresh the answer for the person who pressed. One at a time per answer."""
        kept, person = await self._answer(press.value, press.user, press.channel)
        if not await self.store.begin(kept.thread_key, press.value):
            raise NotPermitted(said.BUSY())
        await self.submit(_job(kept, person, press.value), f"refresh:{press.user}:{press.at}")

    async def scheduled(self, schedule: Schedule) -> None:
        """Have a worker refresh the answer of a due schedule in its owner's name."""
        run_id, at = schedule.refresh, schedule.next_at
        kept, person = await self._answer(run_id, schedule.user, schedule.channel)
        request = _job(kept, person, run_id).model_copy(update={"schedule": schedule.id})
        await self.submit(request, f"refresh:{schedule.id}:{at}")

    async def post(self, press: ButtonPress) -> bool:
        """Post the person's result in the thread. Return False when it is being posted already."""
        kept, person = await self._answer(press.value, press.user, press.channel)
        async with self.alone(f"{press.value}:{press.user}") as lock:
            if lock is None:
                return False
            result = await self.store.get(kept.thread_key, press.value, press.user)
            if result is None or result.problem:
                raise NotPermitted(said.NOTHING_TO_POST())
            await post_result(self.clients, kept, result, said.POSTED_FOR(), person.id)
            await self.store.note_posted(kept.thread_key, result)
        return True

    async def keep(self, run_id: str, cron: str, user: str, channel: str) -> str:
        """Refresh the answer on a schedule from now on. Return the sentence that says so."""
        kept, person = await self._answer(run_id, user, channel)
        if cron not in said.OFTEN:
            raise NotPermitted(said.CANNOT())
        schedule = Schedule(
            team=kept.team,
            channel=kept.channel,
            thread=kept.thread,
            user=user,
            text=said.SCHEDULED_TEXT(question=one_line(kept.said, _MAX_QUESTION)),
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
        found = await self.answer_of(run_id)
        kept = found[0] if found else None
        is_here = kept and (kept.team, kept.channel) == (self.questions.team, channel)
        if kept is None or not is_here or kept.private:
            raise NotPermitted(said.CANNOT())
        return kept, await self.questions.permitted(user, channel)


def _job(kept: Request, person: Person, run_id: str) -> Request:
    """Return the request for a worker.

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
        job=Job(kind=REFRESH, subject=run_id),
    )


async def post_result(
    clients: Clients, kept: Request, result: Refreshed, note: str, user: str
) -> None:
    """Post a result in the thread of its answer. Raises SlackApiError and TRANSPORT_ERRORS."""
    await clients.writes.chat_postMessage(
        channel=kept.channel,
        thread_ts=kept.thread,
        text=refresh_text(result),
        blocks=refresh_blocks(result, note.format(person=f"<@{user}>")),
        unfurl_links=False,
        unfurl_media=False,
    )


@dataclass(frozen=True, slots=True)
class RefreshResults:
    """Delivery of results in one workspace.

    The person who pressed sees the result. A scheduled one goes into the thread when a figure has
    changed since the last time.
    """

    clients: Clients
    answer_of: AnswerOf
    store: RefreshStore
    schedules: WorkspaceSchedules

    async def show(self, request: Request, result: Refreshed) -> None:
        """Show a result. One that cannot be shown to a person is logged: they press again."""
        found = await self.answer_of(result.run_id)
        thread = found[0].thread if found else request.thread
        try:
            if not request.schedule:
                await self.clients.writes.chat_postEphemeral(
                    channel=request.channel,
                    user=request.user,
                    thread_ts=thread,
                    text=refresh_text(result),
                    blocks=[*refresh_blocks(result), *refresh_buttons(result)],
                )
            elif found and result.changed:
                await self._post_news(found[0], result)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("A refresh was not shown: %s", type(error).__name__)
        if request.schedule:
            await self._count(request, result)

    async def _post_news(self, kept: Request, result: Refreshed) -> None:
        if await self.store.was_posted(kept.thread_key, result):
            return
        await post_result(self.clients, kept, result, said.POSTED_SCHEDULED(), result.user)
        await self.store.note_posted(kept.thread_key, result)

    async def _count(self, request: Request, result: Refreshed) -> None:
        """Stop a schedule whose refreshes keep failing."""
        outcome = Outcome(
            run_id=result.request_id,
            status=RunStatus.FAILED if result.problem else RunStatus.SUCCESS,
            stop_reason=StopReason.COMPLETED,
            note=result.problem,
        )
        await self.schedules.ended(request, outcome)
