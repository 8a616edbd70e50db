"""The message of a run under way: one writer, about one change a second, none after the end."""

from __future__ import annotations

import asyncio
import logging
from datetime import UTC, datetime, timedelta

from slack_sdk.errors import SlackApiError

from bot.core.errors import LeaseLost, StoreError, StoreUnavailable
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.render import words
from bot.slack.render.buttons import Stops
from bot.slack.render.parts import Part
from bot.slack.render.progress import progress_part, status_line
from bot.slack.reply.progress_state import Progress
from bot.slack.reply.status import ThreadStatus
from bot.slack.reply.streams import Stream
from bot.slack.transport.client import (
    TRANSPORT_ERRORS,
    Clients,
    error_code,
    is_rate_limited,
    retry_after,
)

log = logging.getLogger(__name__)

_STATUS_REFRESH = 60.0  # seconds; Slack clears a status line after 120
_AT_ONCE = timedelta(seconds=2)  # for a run to begin that waits for no other
_LAST_UPDATE = 12.0  # seconds for an update that is on its way to be answered


class LiveMessage:
    """Shows the latest progress; whatever came in between is skipped.

    `ts` is the message to change; None shows the status line only. It is added to while it is a
    `stream`, then updated. A run that `goes_on` has shown something before. Failing to show
    something never fails a run.
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
        goes_on: bool,
    ) -> None:
        self._request = request
        self._post = post
        self._ts = ts
        self._stream = stream
        self._clients = clients
        self._status = status
        self._pace = pace
        self._goes_on = goes_on
        self._progress = Progress()
        self._changed = asyncio.Event()
        self._closing = asyncio.Event()
        self._shown: Part | None = None
        self._line = ""
        self._task = asyncio.create_task(self._run(), name=f"live message of {post.run_id}")

    def note(self, progress: Progress) -> None:
        """Show `progress`, soon."""
        self._progress = progress
        self._changed.set()

    async def close(self) -> None:
        """Let an update that is on its way arrive, so that none follows the final message."""
        self._closing.set()
        self._changed.set()
        _, late = await asyncio.wait({self._task}, timeout=_LAST_UPDATE)
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
            while await self._next():
                await self._show()
                await self._show_status()
                await self._pause(self._pace)
        except LeaseLost:
            log.info("Another worker shows run %s now", self._post.run_id)

    async def _resume_session(self) -> None:
        """It began when the request was taken in. Waiting for people suspended it, or the end of a
        run that this one waited for ended it, and with it Slack's Stop button."""
        request = self._request
        if self._goes_on or datetime.now(UTC) - request.received_at > _AT_ONCE:
            await self._status.session(
                request.channel, request.thread, "processing", user=request.user
            )

    async def _next(self) -> bool:
        """Waits for something to show; False once closing."""
        try:
            async with asyncio.timeout(_STATUS_REFRESH):
                await self._changed.wait()
        except TimeoutError:
            self._line = ""  # shown again before Slack clears it
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
            await self._refused(error)
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

    async def _refused(self, error: SlackApiError) -> None:
        if is_rate_limited(error):
            self._changed.set()
            await self._pause(retry_after(error))
            return
        log.warning("Progress cannot be shown any more: %s", error_code(error))
        self._ts = None

    async def _show_status(self) -> None:
        # Everybody in the thread sees the status line: of a private run it tells nothing.
        line = words.STATUS_THINKING if self._request.private else status_line(self._progress)
        if line != self._line and not self._closing.is_set():
            self._line = line
            await self._status.show(self._request.channel, self._request.thread, line)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._closing.wait()
        except TimeoutError:
            pass
