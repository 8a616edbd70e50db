"""Reactions on the messages that joined a run, added when the run has ended.

The answer appears above these messages, in the message that the run began with. Without a reaction
they would look unread.
"""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.agent.events import Event, MessagesJoined
from bot.core.outcome import Outcome
from bot.slack.edge.client import TRANSPORT_ERRORS, error_reason

log = logging.getLogger(__name__)

ANSWERED, UNANSWERED = "white_check_mark", "warning"
_MAX_REACTIONS = 10  # per run; messages that joined together share one, on the last of them


class DoneReactions:
    """The reactions of one run. They are a courtesy: a failure is logged and ignored."""

    def __init__(self, client: AsyncWebClient, channel: str) -> None:
        self._client = client
        self._channel = channel
        self._messages: list[str] = []

    def note(self, event: Event) -> None:
        """Remember the messages that joined the run with this event."""
        if isinstance(event, MessagesJoined):
            self._messages.append(event.last)

    async def put(self, outcome: Outcome) -> None:
        """Add a check mark to the remembered messages, or a warning sign if there is no answer."""
        name = ANSWERED if outcome.result else UNANSWERED
        for ts in self._messages[-_MAX_REACTIONS:]:
            try:
                await self._client.reactions_add(channel=self._channel, timestamp=ts, name=name)
            except (SlackApiError, *TRANSPORT_ERRORS) as error:
                reason = error_reason(error)
                log.info("Could not add a reaction to a message that joined a run: %s", reason)
                return
