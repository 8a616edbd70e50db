"""Opens the surfaces of runs: with the message that a run has, unless people were asked something
below it since, or else a placeholder at once."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.errors import LeaseLost, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.approvals.cards import Cards
from bot.slack.incoming.text import NameOf
from bot.slack.render.buttons import Stops
from bot.slack.render.progress import progress_part
from bot.slack.reply.done_reactions import DoneReactions
from bot.slack.reply.duplicate_repair import put_right
from bot.slack.reply.live_message import LiveMessage
from bot.slack.reply.message_writer import MessageWriter
from bot.slack.reply.progress_state import Progress
from bot.slack.reply.repost import is_above_cards, leave
from bot.slack.reply.run_message import NoteStale, ReadArtifact, RunMessage
from bot.slack.reply.status import ThreadStatus
from bot.slack.reply.streams import Stream, Streams
from bot.slack.transport.client import TRANSPORT_ERRORS, Clients, Identity, error_code

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunMessages:
    """Of one workspace. `pace` is the least time between two changes of a message, `edit_seconds`
    how old one may be to become the answer; both in seconds."""

    clients: Clients
    identity: Identity
    status: ThreadStatus
    streams: Streams
    read_artifact: ReadArtifact
    name_of: NameOf
    note_stale: NoteStale
    pace: float = 0.6
    edit_seconds: float = 300.0

    def open(
        self, request: Request, post: PostedMessages
    ) -> AbstractAsyncContextManager[RunMessage]:
        """See `bot.runs.surface.OpenSurface`."""
        poster = MessageWriter(
            request, post, clients=self.clients, identity=self.identity, streams=self.streams
        )
        return self._put_right(request, post, poster)

    @asynccontextmanager
    async def _put_right(
        self, request: Request, post: PostedMessages, poster: MessageWriter
    ) -> AsyncGenerator[RunMessage]:
        try:
            async with self._opened(request, post, poster) as surface:
                yield surface
        except LeaseLost:
            if not request.private:
                await put_right(request, post, poster)
            raise

    @asynccontextmanager
    async def _opened(
        self, request: Request, post: PostedMessages, poster: MessageWriter
    ) -> AsyncGenerator[RunMessage]:
        clients, status = self.clients, self.status
        known = None if request.private else await post.message()
        ts, stream = await _message(known, request, post, poster)
        live = LiveMessage(
            *(request, post, ts, stream),
            clients=clients,
            status=status,
            pace=self.pace,
            goes_on=known is not None,
        )
        cards = Cards(request, post, clients=clients, identity=self.identity)
        ticks = DoneReactions(clients.live, request.channel)
        surface = RunMessage(
            *(request, post, poster, live, status, self.read_artifact, cards, ticks),
            name_of=self.name_of,
            note_stale=self.note_stale,
            edit_seconds=self.edit_seconds,
        )
        try:
            yield surface
        except StoreUnavailable:
            await surface.wait_for_store()
            raise
        finally:
            await live.close()


async def _message(
    ts: str | None, request: Request, post: PostedMessages, poster: MessageWriter
) -> tuple[str | None, Stream | None]:
    """The message in which the run shows itself, `ts` so far, and the stream that it may be."""
    if request.private:
        return None, None
    if not request.counts:  # it only has to end what it showed
        ts = ts or await _found(post, poster)
        return ts, poster.adopted(ts) if ts else None
    if ts and await is_above_cards(ts, post) and await leave(ts, post, poster):
        ts = None
    return (ts, poster.adopted(ts)) if ts else await _begun(request, post, poster)


async def _found(post: PostedMessages, poster: MessageWriter) -> str | None:
    """A message that was posted and never saved."""
    try:
        ts = await poster.first()
    except SlackApiError as error:  # as where the channel is gone
        log.warning("Run %s cannot be looked for: %s", post.run_id, error_code(error))
        return None
    if ts:
        await post.save_message(ts)
    return ts


async def _begun(
    request: Request, post: PostedMessages, poster: MessageWriter
) -> tuple[str | None, Stream | None]:
    """A message for the run, and the stream that it is; None when it could not be posted now. The
    run goes on without: its terminal is posted then."""
    try:
        part = progress_part(Progress(), stops=Stops.of(request))
        own = await poster.own_messages()
        ts, stream = await poster.begin(part, own)
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        reason = error_code(error) if isinstance(error, SlackApiError) else type(error).__name__
        log.warning("Run %s has no message yet: %s", post.run_id, reason)
        return None, None
    await post.save_message(ts)
    failpoint("message-saved")
    await poster.remove_orphans(own, post.is_open)  # what Redis forgot, as after a restore
    return ts, stream
