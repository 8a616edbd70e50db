"""A tick on what somebody wrote while their question was worked on.

The answer stands above it, in the message that was there before: without a sign the last words of
the thread would look as if nobody had read them.
"""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.agent.events import Event, MessagesJoined
from bot.core.outcome import Outcome
from bot.slack.transport.client import TRANSPORT_ERRORS, error_code

log = logging.getLogger(__name__)

ANSWERED, UNANSWERED = "white_check_mark", "warning"
_MOST = 10  # messages of a run; of those that came together the last one has it


class DoneReactions:
    """Of one run. A courtesy: what Slack refuses is logged and nothing else."""

    def __init__(self, client: AsyncWebClient, channel: str) -> None:
        self._client = client
        self._channel = channel
        self._messages: list[str] = []

    def note(self, event: Event) -> None:
        """Take in which messages joined."""
        if isinstance(event, MessagesJoined):
            self._messages.append(event.last)

    async def put(self, outcome: Outcome) -> None:
        """Say that they had their answer, or that there is none."""
        name = ANSWERED if outcome.result else UNANSWERED
        for ts in self._messages[-_MOST:]:
            try:
                await self._client.reactions_add(channel=self._channel, timestamp=ts, name=name)
            except (SlackApiError, *TRANSPORT_ERRORS) as error:
                why = error_code(error) if isinstance(error, SlackApiError) else type(error)
                log.info("A message that joined a run has no tick: %s", why)
                return
