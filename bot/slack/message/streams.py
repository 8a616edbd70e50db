"""The message of a running run, streamed where Slack allows it, and the status line of its thread.

One task writes both, about once a second, and writes nothing after the final message. Limits in
Slack's documentation (docs.slack.dev, chat.startStream), or measured by its community: in a
workspace about 20 streams may start per minute, a stream lives five minutes, and a streamed message
with cards holds some 10 kB.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.errors import LeaseLost, StoreError, StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import PostedMessages, WriteFence
from bot.slack.edge.client import (
    NO_PLACE,
    TRANSPORT_ERRORS,
    Clients,
    Identity,
    error_code,
    is_ambiguous,
    is_rate_limited,
    retry_after,
)
from bot.slack.edge.status import ThreadStatus
from bot.slack.message import message_metadata
from bot.slack.ui import words
from bot.slack.ui.buttons import Stops, stop_button
from bot.slack.ui.outcome import below_schedule
from bot.slack.ui.parts import Part
from bot.slack.ui.progress import (
    Progress,
    View,
    chunks_between,
    progress_part,
    status_line,
    view_of,
)

log = logging.getLogger(__name__)

_STARTS_PER_MINUTE = 18
LIFETIME = 240.0  # seconds; the bot ends a stream before Slack does
_MAX_SIZE = 9_000  # bytes
_REFUSAL_SECONDS = 600.0  # without another attempt after Slack refused to stream
_ALREADY_ENDED = {"message_not_in_streaming_state", "stopped_by_user", "message_not_found"}
_TEMPORARY = NO_PLACE | {
    "message_not_found",
    "user_not_found",
    "team_not_found",
    "messaging_processing_failed",
    "internal_error",
    "service_unavailable",
}
"""Refusals that do not mean that this kind of conversation cannot be streamed to."""


async def end_stream(
    clients: Clients, channel: str, ts: str, metadata: dict[str, Any], *, session: str = "active"
) -> None:
    """End a stream, which leaves an ordinary message, and set its thread's session state.

    Safe to repeat, and safe for a message that is no stream.
    """
    failpoint("stream-ending")
    try:
        await clients.updates.chat_stopStream(
            channel=channel, ts=ts, metadata=metadata, session_status=session
        )
        failpoint("stream-ended")
    except SlackApiError as error:
        if error_code(error) not in _ALREADY_ENDED:
            log.warning("Stream %s could not be ended: %s", ts, error_code(error))


class Stream:
    """A message to which chunks are appended until it must be ended.

    After its end the message can be updated. `shown` is its content; None if the content is
    unknown, and then the next call ends the stream.
    """

    def __init__(
        self,
        request: Request,
        post: WriteFence,
        ts: str,
        shown: View | None = None,
        *,
        clients: Clients,
        lifetime: float = 0.0,
    ) -> None:
        self.ts = ts
        self._channel = request.channel
        self._post = post
        self._shown = shown
        self._clients = clients
        self._until = asyncio.get_running_loop().time() + lifetime

    async def show(self, progress: Progress) -> bool:
        """Append what is new in `progress`; return False if the stream was ended instead.

        Raises SlackApiError if Slack limits the rate or somebody stopped the stream.
        """
        view = view_of(progress)
        chunks = chunks_between(self._shown, view) if self._shown else None
        late = asyncio.get_running_loop().time() > self._until
        if chunks is None or late or view.size > _MAX_SIZE:
            await self.end()
            return False
        if not chunks:
            return True
        try:
            await self._clients.live.chat_appendStream(
                channel=self._channel, ts=self.ts, chunks=chunks
            )
        except SlackApiError as error:
            if is_rate_limited(error) or error_code(error) == "stopped_by_user":
                raise
            log.info("Stream %s continues as updates: %s", self.ts, error_code(error))
            await self.end()
            return False
        except TRANSPORT_ERRORS:  # the chunks may have been appended or not
            await self.end()
            return False
        self._shown = view
        return True

    async def end(self) -> None:
        """End the stream and leave the session at `processing`: the run continues."""
        self._shown = None
        metadata = message_metadata.metadata(self._post.run_id, 0)
        await end_stream(self._clients, self._channel, self.ts, metadata, session="processing")


class Streams:
    """The streams of one workspace: how many started, and where Slack refuses them for now."""

    def __init__(self, clients: Clients, identity: Identity, *, lifetime: float = LIFETIME) -> None:
        self._clients = clients
        self._identity = identity
        self._lifetime = lifetime
        self._starts: deque[float] = deque()
        self._closed_until: dict[str, float] = {}

    async def begin(self, request: Request, post: WriteFence, progress: Progress) -> Stream | None:
        """Start the run's message as a stream; return None if it must be posted instead.

        Raises SlackApiError or TRANSPORT_ERRORS if the outcome is unknown. The caller then
        searches the thread for the message.
        """
        if request.top_level:  # in direct messages Slack streams to threads only
            return None
        kind = request.channel[:1]  # C, G or D: channel, private channel, direct message
        now = asyncio.get_running_loop().time()
        if max(
            self._closed_until.get(limit, 0.0) for limit in (kind, "")
        ) > now or self._is_limit_reached(now):
            return None
        self._starts.append(now)
        view = view_of(progress)
        await post.may_write()
        failpoint("stream-starting")
        try:
            begun = await self._clients.live.chat_startStream(
                channel=request.channel,
                thread_ts=request.thread,
                recipient_team_id=self._identity.team,
                recipient_user_id=request.user,
                task_display_mode="plan",
                chunks=_first_chunks(view, request, post),
            )
        except SlackApiError as error:
            if is_ambiguous(error):
                raise
            self._note_refusal(kind, error, now)
            return None
        failpoint("stream-started")
        return Stream(
            request,
            post,
            str(begun["ts"]),
            view,
            clients=self._clients,
            lifetime=self._lifetime,
        )

    def _is_limit_reached(self, now: float) -> bool:
        while self._starts and self._starts[0] <= now - 60:
            self._starts.popleft()
        return len(self._starts) >= _STARTS_PER_MINUTE

    def _note_refusal(self, kind: str, error: SlackApiError, now: float) -> None:
        code = error_code(error)
        if is_rate_limited(error):
            self._closed_until[""] = now + retry_after(error)
        elif code not in _TEMPORARY:
            log.warning("Slack refuses streams in conversations of type %s: %s", kind, code)
            self._closed_until[kind] = now + _REFUSAL_SECONDS


def _first_chunks(view: View, request: Request, post: WriteFence) -> list[dict[str, Any]]:
    """Return the first chunks: the plan, and a Stop button whose block id identifies the run."""
    button = stop_button(Stops.of(request)) | {
        "block_id": message_metadata.stream_block_id(post.run_id)
    }
    plan = {"type": "plan_update", "title": view.title}
    return [plan, *view.tasks.values(), {"type": "blocks", "blocks": [button]}]


_STATUS_REFRESH = 60.0  # seconds; Slack clears a status line after 120
_PROMPT_START = timedelta(seconds=2)  # a run that begins within it has not waited for another
_CLOSE_TIMEOUT = 12.0  # seconds to wait for the update in flight

Begin = Callable[[Progress], Awaitable[tuple[str | None, Stream | None]]]
"""Posts the message of a run, with its progress. Returns its ts and its stream, None for what there is
not: Slack may refuse the message now."""


class LiveMessage:
    """A task that shows the latest progress of a run and skips what it had no time to show.

    `ts` is the message to change; None shows only the status line. While there is a `stream`,
    progress is appended to it; afterwards the message is updated. If the run is to have a message and
    has none, `begin` posts one after `patience` seconds: a run that ends before them posts its answer
    alone. `pace` is the least time between two changes, in seconds. `resumed` says that the run has
    shown progress before. A failure to show progress never fails the run.
    """

    def __init__(
        self,
        request: Request,
        post: PostedMessages,
        ts: str | None,
        stream: Stream | None,
        begin: Begin | None,
        *,
        clients: Clients,
        status: ThreadStatus,
        patience: float,
        pace: float,
        resumed: bool,
    ) -> None:
        self._request = request
        self._post = post
        self.ts = ts
        self._stream = stream
        self._begin = begin
        self._beginning = asyncio.Lock()
        self._clients = clients
        self._status = status
        self._patience = patience
        self._pace = pace
        self._resumed = resumed
        self._progress = Progress()
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._shown: Part | None = None
        self._line = ""
        self._task = asyncio.create_task(self._run(), name=f"live message of {post.run_id}")

    def note(self, progress: Progress) -> None:
        """Show `progress` with the next update."""
        self._progress = progress
        self._changed.set()

    async def begin(self) -> None:
        """Post the run's message now, unless it has one or is to have none. Raises LeaseLost."""
        async with self._beginning:
            if self._begin:
                begin, self._begin = self._begin, None
                self.ts, self._stream = await begin(self._progress)

    async def close(self) -> None:
        """Wait for the update in flight, so that none follows the final message, and end the stream."""
        self._closing.set()
        self._changed.set()
        # However long that takes: the answer must find a message that is on its way.
        async with self._beginning:
            pass
        _, late = await asyncio.wait({self._task}, timeout=_CLOSE_TIMEOUT)
        if late:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        stream, self._stream = self._stream, None
        if stream:
            await self._end(stream)

    async def _end(self, stream: Stream) -> None:
        try:
            await self._post.may_write()
            await stream.end()
        except (StoreError, *TRANSPORT_ERRORS) as error:
            log.info("Stream %s was left open: %s", stream.ts, type(error).__name__)

    async def _run(self) -> None:
        try:
            await self._resume_session()
            await self._pause(self._patience if self._begin else 0)
            if not self._closing.is_set():
                await self.begin()
            while await self._wait_for_change():
                await self._show()
                await self._pause(self._pace)
                await self._show_status()  # not one that the next change replaces at once
        except LeaseLost:
            log.info("Another worker shows run %s now", self._post.run_id)
        except Exception:
            log.exception("The progress of run %s is no longer shown", self._post.run_id)

    async def _resume_session(self) -> None:
        """Set the agent session to `processing` again if another state may have replaced it.

        The session began when the request was accepted. Since then, waiting for people may have
        suspended it, or an earlier run in the thread may have ended it.
        """
        request = self._request
        if self._resumed or datetime.now(UTC) - request.received_at > _PROMPT_START:
            await self._status.session(
                request.channel, request.thread, "processing", user=request.user
            )

    async def _wait_for_change(self) -> bool:
        """Wait until there is something to show; return False once closing."""
        try:
            async with asyncio.timeout(_STATUS_REFRESH):
                await self._changed.wait()
        except TimeoutError:
            self._line = ""  # so that it is sent again before Slack clears it
        self._changed.clear()
        return not self._closing.is_set()

    async def _show(self) -> None:
        if self.ts is None:
            return
        try:
            await self._post.may_write()
            if self._stream and not await self._stream.show(self._progress):
                self._stream = None
            if self._stream is None:
                await self._update(self.ts)
        except SlackApiError as error:
            await self._handle_refusal(error)
        except (StoreUnavailable, *TRANSPORT_ERRORS) as error:
            log.info("Progress was not shown: %s", type(error).__name__)

    async def _update(self, ts: str) -> None:
        part = progress_part(self._progress, stops=Stops.of(self._request))
        part = below_schedule(part, self._request)
        if part == self._shown:
            return
        await self._clients.live.chat_update(
            channel=self._request.channel, ts=ts, text=part.text, blocks=part.blocks
        )
        self._shown = part

    async def _handle_refusal(self, error: SlackApiError) -> None:
        if is_rate_limited(error):
            self._changed.set()
            await self._pause(retry_after(error))
            return
        log.warning("Progress is no longer shown: %s", error_code(error))
        self.ts = None

    async def _show_status(self) -> None:
        # Everybody in the thread sees the status line, so a private run shows no step there.
        line = words.STATUS_THINKING() if self._request.private else status_line(self._progress)
        if line != self._line and not self._closing.is_set():
            self._line = line
            await self._status.show(self._request.channel, self._request.thread, line)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            pass
