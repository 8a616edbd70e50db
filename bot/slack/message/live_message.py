"""The message of a running run, and the status line of its thread.

One task writes both, about once a second, and writes nothing after the final message.
"""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from slack_sdk.errors import SlackApiError

from bot.core.errors import LeaseLost, StoreError, StoreUnavailable
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.edge.client import (
    TRANSPORT_ERRORS,
    Clients,
    error_code,
    is_rate_limited,
    retry_after,
)
from bot.slack.edge.status import ThreadStatus
from bot.slack.message.streams import Stream
from bot.slack.ui import words
from bot.slack.ui.buttons import Stops
from bot.slack.ui.parts import Part
from bot.slack.ui.progress import progress_part, status_line
from bot.slack.ui.progress_state import Progress

log = logging.getLogger(__name__)

_STATUS_REFRESH = 60.0  # seconds; Slack clears a status line after 120
_PROMPT_START = timedelta(seconds=2)  # a run that begins within it has not waited for another
_CLOSE_TIMEOUT = 12.0  # seconds to wait for the update in flight


class LiveMessage:
    """A task that shows the latest progress of a run and skips what it had no time to show.

    `ts` is the message to change; None shows only the status line. While there is a `stream`,
    progress is appended to it; afterwards the message is updated. `pace` is the least time between
    two changes, in seconds. `resumed` says that the run has shown progress before. A failure to
    show progress never fails the run.
    """

    def __init__(
        self,
        request: Request,
        post: PostedMessages,
        ts: str | None,
        stream: Stream | None,
        *,
        clients: Clients,
        status: ThreadStatus,
        pace: float,
        resumed: bool,
    ) -> None:
        self._request = request
        self._post = post
        self._ts = ts
        self._stream = stream
        self._clients = clients
        self._status = status
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

    async def close(self) -> None:
        """Wait for the update in flight, so that none follows the final message, and end the stream."""
        self._closing.set()
        self._changed.set()
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
            while await self._wait_for_change():
                await self._show()
                await self._show_status()
                await self._pause(self._pace)
        except LeaseLost:
            log.info("Another worker shows run %s now", self._post.run_id)

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
        if self._ts is None:
            return
        try:
            await self._post.may_write()
            if self._stream and not await self._stream.show(self._progress):
                self._stream = None
            if self._stream is None:
                await self._update(self._ts)
        except SlackApiError as error:
            await self._handle_refusal(error)
        except (StoreUnavailable, *TRANSPORT_ERRORS) as error:
            log.info("Progress was not shown: %s", type(error).__name__)

    async def _update(self, ts: str) -> None:
        part = progress_part(self._progress, stops=Stops.of(self._request))
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
        self._ts = None

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
