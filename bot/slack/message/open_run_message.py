"""Factory of run messages.

A resumed run continues in its message, unless people were asked for approval below it. Every other
run posts a placeholder once it has lasted a moment.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from slack_sdk.errors import SlackApiError

from bot.core.errors import LeaseLost, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity, error_code, error_reason
from bot.slack.edge.people_and_channels import People
from bot.slack.edge.status import NoStatus, ThreadStatus
from bot.slack.edge.text import NameOf
from bot.slack.message.approval_cards import Cards
from bot.slack.message.message_writer import MessageWriter, QuestionsOf, names_none
from bot.slack.message.repair import is_above_cards, leave_thread, repair_duplicates, withdraw
from bot.slack.message.run_message import NoteStale, ReadArtifact, RunMessage
from bot.slack.message.streams import Begin, LiveMessage, Stream, Streams
from bot.slack.ui.approval_kinds import WaitKinds
from bot.slack.ui.buttons import AnswerButton
from bot.slack.ui.progress import Progress

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMessages:
    """The run messages of one workspace.

    `patience` is how long a run may last without a message, because the status line says that it is at
    work; `pace` is the least time between two changes of a message; `edit_seconds` is the age up to
    which a message may become the answer. All are in seconds. `answer_buttons` are those of features,
    and `waits` say how what runs wait for looks.
    """

    clients: Clients
    identity: Identity
    status: ThreadStatus
    people: People
    streams: Streams
    read_artifact: ReadArtifact
    name_of: NameOf
    note_stale: NoteStale
    questions_of: QuestionsOf = names_none
    waits: WaitKinds
    answer_buttons: Sequence[AnswerButton] = ()
    patience: float = 1.0
    pace: float = 0.6
    edit_seconds: float = 300.0

    def open(
        self, request: Request, post: PostedMessages
    ) -> AbstractAsyncContextManager[RunMessage]:
        """Return the run's surface as a context manager. See `bot.runs.surface.OpenSurface`."""
        writer = MessageWriter(
            request,
            post,
            clients=self.clients,
            identity=self.identity,
            streams=self.streams,
            questions_of=self.questions_of,
        )
        return self._open_with_repair(request, post, writer)

    @asynccontextmanager
    async def _open_with_repair(
        self, request: Request, post: PostedMessages, writer: MessageWriter
    ) -> AsyncGenerator[RunMessage]:
        try:
            async with self._open(request, post, writer) as surface:
                yield surface
        except LeaseLost:
            if not request.private:
                await repair_duplicates(request, post, writer, self.answer_buttons)
            raise

    @asynccontextmanager
    async def _open(
        self, request: Request, post: PostedMessages, writer: MessageWriter
    ) -> AsyncGenerator[RunMessage]:
        clients, status = self.clients, NoStatus() if request.is_by_rule else self.status
        known = None if request.private else await post.message()
        ts, stream, begin = await _open_message(known, request, post, writer)
        live = LiveMessage(
            request,
            post,
            ts,
            stream,
            begin,
            clients=clients,
            status=status,
            patience=self.patience,
            pace=self.pace,
            resumed=known is not None,
        )
        cards = Cards(
            request,
            post,
            clients=clients,
            identity=self.identity,
            people=self.people,
            waits=self.waits,
        )
        surface = RunMessage(
            request,
            post,
            writer,
            live,
            status,
            self.read_artifact,
            cards,
            name_of=self.name_of,
            note_stale=self.note_stale,
            edit_seconds=self.edit_seconds,
            answer_buttons=self.answer_buttons,
        )
        try:
            yield surface
        except StoreUnavailable:
            await surface.wait_for_store()
            raise
        finally:
            await live.close()


async def _open_message(
    ts: str | None, request: Request, post: PostedMessages, writer: MessageWriter
) -> tuple[str | None, Stream | None, Begin | None]:
    """Return the ts of the message in which the run shows its progress, and its stream; without one,
    what posts it.

    `ts` is the message saved so far. All are None for a private run, for one that nobody asked for,
    and for a run that must only end and has shown nothing.
    """
    if request.is_by_rule:
        return None, None, None
    if request.private:
        await leave_thread(request, post, writer)
        return None, None, None
    if not request.is_current:  # the run must only end its message
        ts = ts or await _find_unsaved(post, writer)
        return ts, writer.existing_stream(ts) if ts else None, None
    if (
        ts
        and not request.has_placeholder
        and await is_above_cards(ts, post)
        and await withdraw(ts, post, writer)
    ):
        ts = None
    if ts:
        return ts, writer.existing_stream(ts), None
    begin = partial(_begin, request, post, writer)
    return (*await begin(Progress()), None) if request.has_placeholder else (None, None, begin)


async def _find_unsaved(post: PostedMessages, writer: MessageWriter) -> str | None:
    """Find a message that was posted but not saved, and save it."""
    try:
        ts = await writer.first()
    except SlackApiError as error:  # for example, the channel was deleted
        log.warning(
            "The message of run %s cannot be looked for: %s", post.run_id, error_code(error)
        )
        return None
    if ts:
        await post.save_message(ts)
    return ts


async def _begin(
    request: Request, post: PostedMessages, writer: MessageWriter, progress: Progress
) -> tuple[str | None, Stream | None]:
    """Post a message for the run; return its ts and its stream.

    Returns None for both if Slack refuses now. The run then continues without progress, and posts
    its final message at the end.
    """
    try:
        own = await writer.own_messages()
        ts, stream = (
            (request.ts, None) if request.has_placeholder else await writer.begin(progress, own)
        )
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        reason = error_reason(error)
        log.warning("Run %s has no message yet: %s", post.run_id, reason)
        return None, None
    try:
        await post.save_message(ts)
        failpoint("message-saved")
        await writer.remove_orphans(own, post.is_open)  # runs that Redis lost, as after a restore
    except StoreUnavailable as error:  # the message is found again by its metadata
        log.warning("Message %s of run %s was not saved: %s", ts, post.run_id, error)
    return ts, stream
