"""The status line of a thread and the state of its agent session. Both are best effort."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.core.request import Request
from bot.slack.edge.client import TRANSPORT_ERRORS, error_reason, is_definitive
from bot.slack.edge.text import one_line

log = logging.getLogger(__name__)

_MAX_TITLE = 80  # characters; Slack takes 200


class ThreadStatus:
    """The status lines and agent sessions of one workspace.

    Failures are logged. The methods that return a bool return False if another attempt may
    succeed.
    """

    def __init__(self, client: AsyncWebClient) -> None:
        self._client = client

    async def show(self, channel: str, thread: str, text: str, loading: Sequence[str] = ()) -> bool:
        """Set the status line; "" clears it. Slack clears it by itself after two minutes."""
        try:
            await self._client.assistant_threads_setStatus(
                channel_id=channel,
                thread_ts=thread,
                status=text,
                loading_messages=list(loading) or None,
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            return _is_settled("status line", error)
        return True

    async def session(
        self, channel: str, thread: str, state: str, *, user: str | None = None, title: str = ""
    ) -> bool:
        """Set the state of the agent session: `processing`, `suspended` or `active`.

        A run that waits for people is `suspended`. A new session gets the `title` and belongs to
        `user`. Slack shows no Stop button of its own, because the app does not subscribe to
        `agent_session_stopped`: the one in the run's message is for everybody who may stop it.
        """
        try:
            await self._client.agents_sessions_setStatus(
                channel_id=channel,
                thread_ts=thread,
                status=state,
                initiator_user_id=user,
                title=one_line(title, _MAX_TITLE) or None,
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            return _is_settled("session status", error)
        return True

    async def begin(self, request: Request, text: str, loading: Sequence[str]) -> None:
        """Set both for a request that was just accepted.

        Everybody in the thread sees the session's title, so a private question sets none.
        """
        channel, thread = request.channel, request.thread
        title = "" if request.private else request.text
        await asyncio.gather(
            self.show(channel, thread, text, loading),
            self.session(channel, thread, "processing", user=request.user, title=title),
        )

    async def wait(self, channel: str, thread: str) -> bool:
        """Set both for a run that waits for people, possibly for days. Its cards say for what.

        The session is set last, because a status line alone makes Slack show the session at work.
        """
        await self.show(channel, thread, "")
        return await self.session(channel, thread, "suspended")

    async def end(self, channel: str, thread: str, *, is_line_cleared: bool = False) -> bool:
        """Clear both for a run that has ended. Slack clears the line where the bot posts a message."""
        ending = [self.session(channel, thread, "active")]
        if not is_line_cleared:
            ending.append(self.show(channel, thread, ""))
        return all(await asyncio.gather(*ending))


class NoStatus(ThreadStatus):
    """Shows nothing: for runs that nobody in the thread waits for."""

    def __init__(self) -> None:
        """Need no client."""

    @override
    async def show(self, channel: str, thread: str, text: str, loading: Sequence[str] = ()) -> bool:
        return True

    @override
    async def session(
        self, channel: str, thread: str, state: str, *, user: str | None = None, title: str = ""
    ) -> bool:
        return True


def _is_settled(subject: str, error: Exception) -> bool:
    reason = error_reason(error)
    log.info("The %s was not set: %s", subject, reason)
    return is_definitive(error)
