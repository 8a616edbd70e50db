"""Messages that Slack streams: begun where it allows that, and grown by one writer each.

Slack (docs.slack.dev, chat.startStream; measured by the community where the docs are silent): about
20 may begin a minute in a workspace, each lives five minutes, and one with cards holds some 10 kB.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import Fenced
from bot.slack.render.buttons import Stops, stop_button
from bot.slack.render.streamed import View, added, view_of
from bot.slack.reply import message_metadata
from bot.slack.reply.progress_state import Progress
from bot.slack.transport.client import (
    NO_PLACE,
    TRANSPORT_ERRORS,
    Clients,
    Identity,
    error_code,
    is_ambiguous,
    is_rate_limited,
    retry_after,
)

log = logging.getLogger(__name__)

_STARTS_PER_MINUTE = 18
LIFETIME = 240.0  # seconds; ended by us before Slack does
_MAX_SIZE = 9_000  # bytes
_REFUSED_FOR = 600.0  # seconds in which Slack is not asked again
_OVER = {"message_not_in_streaming_state", "stopped_by_user", "message_not_found"}
_OF_THE_MOMENT = NO_PLACE | {
    *("message_not_found", "user_not_found", "team_not_found", "messaging_processing_failed"),
    *("internal_error", "service_unavailable"),
}
"""Refusals that say nothing about streaming."""


async def end_stream(
    clients: Clients, channel: str, ts: str, metadata: dict[str, Any], *, session: str = "active"
) -> None:
    """Make an ordinary message of it, and move its thread's session on. Safe to repeat, and for one
    that is ordinary already."""
    failpoint("stream-ending")
    try:
        await clients.updates.chat_stopStream(
            channel=channel, ts=ts, metadata=metadata, session_status=session
        )
        failpoint("stream-ended")
    except SlackApiError as error:
        if error_code(error) not in _OVER:
            log.warning("The stream %s did not end: %s", ts, error_code(error))


class Stream:
    """One message that grows until it must be ended; from then on it can be updated.

    `shown` is what it shows; None when nobody knows, and then it is ended at once.
    """

    def __init__(
        self,
        request: Request,
        post: Fenced,
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
        """Add what is new; False when the message had to be ended, which shows it no more.

        Raises SlackApiError when Slack wants us to wait, or when somebody stopped the stream.
        """
        wanted = view_of(progress)
        chunks = added(self._shown, wanted) if self._shown else None
        late = asyncio.get_running_loop().time() > self._until
        if chunks is None or late or wanted.size > _MAX_SIZE:
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
            log.info("Stream %s goes on as updates: %s", self.ts, error_code(error))
            await self.end()
            return False
        except TRANSPORT_ERRORS:  # nobody knows whether it was added
            await self.end()
            return False
        self._shown = wanted
        return True

    async def end(self) -> None:
        """See `end_stream`. The run goes on: without a session at work its thread would lose
        Slack's Stop button."""
        self._shown = None
        metadata = message_metadata.metadata(self._post.run_id, 0)
        await end_stream(self._clients, self._channel, self.ts, metadata, session="processing")


class Streams:
    """Begins streams; knows for a while where Slack refuses them, and how many began."""

    def __init__(self, clients: Clients, identity: Identity, *, lifetime: float = LIFETIME) -> None:
        self._clients = clients
        self._identity = identity
        self._lifetime = lifetime
        self._begun: deque[float] = deque()
        self._closed_until: dict[str, float] = {}

    async def begin(self, request: Request, post: Fenced) -> Stream | None:
        """The run's message as a stream; None where it must be posted.

        Raises when nobody knows whether it was begun: look for it then.
        """
        kind = request.channel[:1]  # C, G or D: channel, private channel, direct message
        now = asyncio.get_running_loop().time()
        if max(self._closed_until.get(each, 0.0) for each in (kind, "")) > now or self._full(now):
            return None
        self._begun.append(now)
        view = view_of(Progress())
        await post.may_write()
        failpoint("stream-starting")
        try:
            begun = await self._clients.live.chat_startStream(
                channel=request.channel,
                thread_ts=request.thread,
                recipient_team_id=self._identity.team,
                recipient_user_id=request.user,
                task_display_mode="plan",
                chunks=_opening(view, request, post),
            )
        except SlackApiError as error:
            if is_ambiguous(error):
                raise
            self._note_refusal(kind, error, now)
            return None
        failpoint("stream-started")
        return Stream(
            *(request, post, str(begun["ts"]), view),
            clients=self._clients,
            lifetime=self._lifetime,
        )

    def _full(self, now: float) -> bool:
        while self._begun and self._begun[0] <= now - 60:
            self._begun.popleft()
        return len(self._begun) >= _STARTS_PER_MINUTE

    def _note_refusal(self, kind: str, error: SlackApiError, now: float) -> None:
        code = error_code(error)
        if is_rate_limited(error):
            self._closed_until[""] = now + retry_after(error)
        elif code not in _OF_THE_MOMENT:
            log.warning("Slack streams nothing in conversations like %s…: %s", kind, code)
            self._closed_until[kind] = now + _REFUSED_FOR


def _opening(view: View, request: Request, post: Fenced) -> list[dict[str, Any]]:
    """The plan, and below it the button, by which the message is found again as well."""
    button = stop_button(Stops.of(request)) | {
        "block_id": message_metadata.stream_block_id(post.run_id)
    }
    plan = {"type": "plan_update", "title": view.title}
    return [plan, *view.tasks.values(), {"type": "blocks", "blocks": [button]}]
