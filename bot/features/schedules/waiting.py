"""Scheduled messages of a workspace that Slack has not posted yet.

Slack knows only that they belong to the app, so the bot stores who owns each. Slack tells whether
a message still waits.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.failpoints import failpoint
from bot.features.schedules.message import ScheduledMessage
from bot.features.schedules.message_store import ScheduledMessageStore
from bot.slack.edge.client import Clients, error_code

_PAGE = 100
_MAX_PAGES = 20

Waiting = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WaitingMessages:
    """The scheduled messages of one workspace."""

    team: str
    clients: Clients
    store: ScheduledMessageStore

    async def of(self, user: str) -> list[ScheduledMessage]:
        """Return a person's messages from the store, the next one first.

        Slack is asked only if its reply to one of them was lost.
        """
        stored = [each for each in await self._stored(user) if each.post_at > time.time()]
        if not all(each.slack_id for each in stored):
            stored = [record for record, _ in await self.matched(user)]
        return sorted(stored, key=lambda each: each.post_at)

    async def matched(self, user: str) -> list[tuple[ScheduledMessage, Waiting]]:
        """Return a person's waiting messages, each as the stored record and as Slack's object.

        Records of messages that no longer wait are removed.
        """
        stored = await self._stored(user)
        waiting = await self._waiting() if stored else []
        found = []
        for record in stored:
            match = next((each for each in waiting if _is_same(record, each)), None)
            if match is not None:
                found.append((record.model_copy(update={"slack_id": str(match["id"])}), match))
            elif record.post_at < time.time():
                await self.store.remove(record)
        return found

    async def cancel(self, record: ScheduledMessage) -> bool:
        """Cancel a message; return False if it no longer waits."""
        failpoint("elsewhere-posting")
        try:
            await self.clients.writes.chat_deleteScheduledMessage(
                channel=record.channel, scheduled_message_id=record.slack_id
            )
        except SlackApiError as error:
            if error_code(error) != "invalid_scheduled_message_id":
                raise
            return False
        failpoint("elsewhere-posted")
        await self.store.remove(record)
        return True

    async def cancel_by_id(self, user: str, message_id: str) -> bool:
        """Cancel a person's message by the id of its record and remove the record.

        Returns False if the message no longer waits.
        """
        for record in await self.of(user):
            if record.id == message_id:
                cancelled = await self.cancel(record)
                await self.store.remove(record)
                return cancelled
        return False

    async def _stored(self, user: str) -> list[ScheduledMessage]:
        return await self.store.of_person(self.team, user)

    async def _waiting(self) -> list[Waiting]:
        """Return all messages of the app that wait."""
        found: list[Waiting] = []
        cursor: str | None = None
        for _ in range(_MAX_PAGES):
            page = await self.clients.reads.chat_scheduledMessages_list(limit=_PAGE, cursor=cursor)
            found += page["scheduled_messages"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return found


def _is_same(record: ScheduledMessage, waiting: Waiting) -> bool:
    if record.slack_id:
        return record.slack_id == str(waiting["id"])
    slack_message = (waiting["channel_id"], int(waiting["post_at"]), waiting.get("text"))
    return slack_message == (record.channel, record.post_at, record.text)
