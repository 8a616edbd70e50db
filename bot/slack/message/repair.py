"""Repair of what a thread shows: late duplicates, withdrawn messages, orphans, stale statuses.

Slack knows nothing of leases. A process that is suspended between its lease check and its call of
Slack writes late: it posts a message that the new worker has posted too, or its old progress
overwrites the new worker's answer. The late worker repairs both, because the new worker may have
finished long ago.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from slack_sdk.errors import SlackApiError

from bot.core.budgets import Pause
from bot.core.errors import BotError, StoreError
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity, error_code, error_reason
from bot.slack.edge.history import History, Message
from bot.slack.edge.people_and_channels import People
from bot.slack.edge.status import ThreadStatus
from bot.slack.edge.workspaces import Workspaces
from bot.slack.message import message_metadata
from bot.slack.message.message_writer import MessageWriter
from bot.slack.message.streams import end_stream
from bot.slack.ui import words
from bot.slack.ui.buttons import AnswerButton
from bot.slack.ui.links import LinkGate
from bot.slack.ui.outcome import render
from bot.slack.ui.parts import Part, context
from bot.store import Mailbox, StaleStatuses
from bot.text.languages import locale_for
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)

_MAX_READS, _READ_INTERVAL = 20, 0.5  # seconds between two reads


async def repair_duplicates(
    request: Request,
    post: PostedMessages,
    writer: MessageWriter,
    buttons: Sequence[AnswerButton],
) -> None:
    """Delete duplicate messages of the run, and restore its final message if it has one,
    with the `buttons` of features.

    Safe to repeat, and safe while another worker holds the thread. A failure is logged, because no
    other process would repeat the repair.
    """
    try:
        groups = await writer.duplicates()
        saved = await _saved_message(post) if groups else None
        for late in _late_messages(groups, saved):
            log.warning("Message %s of run %s was posted twice and is deleted", late, post.run_id)
            await writer.delete(late)
        outcome = await post.decided()
        ts = await post.message()
        if outcome and ts and await writer.is_first_message(ts):
            await writer.name_questions()
            rendered = await asyncio.to_thread(render, outcome, request, buttons)
            await writer.restore(ts, rendered.parts[0])
    except (SlackApiError, StoreError, *TRANSPORT_ERRORS) as error:
        log.warning(
            "Run %s: late messages could not be repaired: %s", post.run_id, type(error).__name__
        )


async def _saved_message(post: PostedMessages) -> str | None:
    """Return the ts of the run's message; wait up to ten seconds for the other worker to save it."""
    for _ in range(_MAX_READS):
        if ts := await post.message():
            return ts
        await asyncio.sleep(_READ_INTERVAL)
    return None


def _late_messages(groups: Iterable[list[str]], saved: str | None) -> list[str]:
    """Return the messages to delete: all of each group but the saved one, or else the first."""
    late: list[str] = []
    for group in groups:
        keep = saved if saved in group else min(group)
        late += [ts for ts in group if ts != keep]
    return late


async def is_above_cards(ts: str, post: PostedMessages) -> bool:
    """Return whether the run posted an approval card below its message."""
    return any(float(card) > float(ts) for card in await post.cards())


async def withdraw(ts: str, post: PostedMessages, writer: MessageWriter) -> bool:
    """Delete the run's message; return False if it stays.

    The saved ts is cleared before the deletion, so that a worker which resumes the run after a
    crash in between finds either the message or none.
    """
    if not await writer.is_there(ts):  # somebody deleted it; the next update will report that
        return False
    await post.save_message("")
    try:
        await writer.delete(ts)
    except SlackApiError as error:
        log.warning("Message %s cannot be replaced: %s", ts, error_code(error))
        await post.save_message(ts)
        return False
    failpoint("message-left")
    return True


async def leave_thread(request: Request, post: PostedMessages, writer: MessageWriter) -> None:
    """Say in the thread, where a run began, that its asker alone reads the rest. Safe to repeat.

    If Slack cannot do that now, the end of the run tries again.
    """
    if not request.kept_private or not (ts := await post.message()):
        return
    person = LinkGate().mrkdwn(request.author)
    await writer.name_questions()  # nobody is to answer it in the thread
    part = Part([context(words.KEPT_PRIVATE(person=person)).block], words.KEPT_PRIVATE_PLAIN())
    try:
        await writer.update(ts, part)
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("Message %s still says that its run waits: %s", ts, error_reason(error))
    else:
        await post.save_message("")


_MIN_AGE = 60.0  # seconds: a younger message may belong to a run that is about to end

IsOpen = Callable[[str], Awaitable[bool]]
"""Return whether a run, by its id, is known and has not posted its end. Raises StoreUnavailable."""
IsIdle = Callable[[str], Awaitable[bool]]
"""Return whether a thread, by its key, has no running or waiting request. Raises StoreUnavailable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Orphans:
    """The orphaned run messages of one workspace."""

    clients: Clients
    identity: Identity
    status: ThreadStatus
    people: People
    is_idle: IsIdle
    is_open: IsOpen

    def among(self, messages: Iterable[Message]) -> list[Message]:
        """Return the messages that may be orphans."""
        return [
            message
            for message in messages
            if message.get("user") == self.identity.user
            and message_metadata.is_under_way(message)
            and time.time() - float(message["ts"]) > _MIN_AGE
        ]

    async def end(self, channel: str, thread: str, history: History) -> None:
        """Say in each orphan of a thread that its question was lost, and clear the thread's status.

        The thread is read between two checks that it is idle: a run that ends in between has
        changed its message, and a run that begins in between has its request in the thread.
        """
        key = f"{self.identity.team}:{channel}:{thread}"
        if not await self.is_idle(key):
            return
        replies = await history.replies(channel, thread, 0.0)
        orphans = [
            message
            for message in self.among(replies)
            # What stands outside threads is of a run whose thread is another one.
            if not await self.is_open(message_metadata.run_of(message) or "")
        ]
        if not orphans or not await self.is_idle(key):
            return
        for message in orphans:
            question = self._question_of(message, replies)
            asker = await self.people.locale(str(question.get("user") or ""))
            with reader(locale_for((str(question.get("text") or ""),), reader=asker)):
                await self._end(channel, message)
        await self.status.end(channel, thread)

    def _question_of(self, orphan: Message, replies: Iterable[Message]) -> Message:
        """Return the message that the orphan most likely answers: the last of a person above it."""
        above = [reply for reply in replies if float(reply["ts"]) < float(orphan["ts"])]
        of_people = (reply for reply in reversed(above) if not reply.get("bot_id"))
        return next((reply for reply in of_people if reply.get("user") != self.identity.user), {})

    async def _end(self, channel: str, message: Message) -> None:
        ts, run_id = str(message["ts"]), message_metadata.run_of(message) or ""
        log.warning("Message %s shows a lost run: %s", ts, run_id)
        metadata = message_metadata.metadata(run_id, 0)
        await end_stream(self.clients, channel, ts, metadata)
        try:
            await self.clients.updates.chat_update(
                channel=channel, ts=ts, text=words.LOST(), blocks=[], metadata=metadata
            )
        except SlackApiError as error:
            log.info("Message %s cannot be changed (%s) and is deleted", ts, error_code(error))
            await self.clients.updates.chat_delete(channel=channel, ts=ts)


LOOK_SECONDS = 5.0

_MIN_WAIT = timedelta(seconds=5)  # a shorter wait is normal and not worth a status
_MAX_RENEWED = 30
"""How many statuses are renewed each time: one call a second, well below Slack's limit."""

InLine = Callable[[], Awaitable[Sequence[Request]]]
"""Return the requests that wait for a worker, the next one first."""

Paused = Callable[[], Awaitable[Pause | None]]
"""Return the pause of the bot, None if it is not paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusSweep:
    """The job for all workspaces of a deployment; any number of processes may run it.

    `renew_seconds` is the interval at which waiting requests show their place in line. It must be
    below the 120 seconds after which Slack clears a status line.
    """

    workspaces: Workspaces
    mailbox: Mailbox
    stale: StaleStatuses
    in_line: InLine
    paused: Paused
    renew_seconds: float

    async def run(self) -> None:
        """Run until cancelled. Errors are logged, and the next pass tries again."""
        while True:
            try:
                for thread_key in await self.stale.due():
                    await self._correct(thread_key)
                if await self.stale.take_turn(self.renew_seconds):
                    await self._renew_line()
            except BotError as error:
                log.warning("Statuses of threads may be out of date: %s", error)
            except Exception:
                log.exception("The status sweep failed")
            await asyncio.sleep(LOOK_SECONDS)

    async def _correct(self, thread_key: str) -> None:
        """Clear the status of an idle thread; suspend the session of a thread that waits for people.

        A thread with a run that is active or queued is skipped, because the run sets its own
        status.
        """
        team, channel, thread = thread_key.split(":", 2)
        slack = await self.workspaces.of(team)
        settled = True
        if slack is None:
            pass
        elif not await self.mailbox.waiting(thread_key):
            settled = await slack.status.end(channel, thread)
        elif await self.mailbox.is_waiting_for_people(thread_key):
            settled = await slack.status.session(channel, thread, "suspended")
        if settled:
            await self.stale.remove(thread_key)

    async def _renew_line(self) -> None:
        pause = await self.paused()
        places = enumerate(await self.in_line(), 1)
        for place, request in list(places)[:_MAX_RENEWED]:
            slack = await self.workspaces.of(request.team)
            if slack and datetime.now(UTC) - request.received_at > _MIN_WAIT:
                await load_catalogue(request.spoken_locale)
                with reader(request.spoken_locale):
                    line = waiting_line(place, pause)
                await slack.status.show(request.channel, request.thread, line)


def waiting_line(place: int, pause: Pause | None) -> str:
    """Return the status line of a request that waits in the reader's language."""
    if pause:
        return words.STATUS_PAUSED(name=pause.name)
    return words.STATUS_PLACE_IN_LINE(place=place)
