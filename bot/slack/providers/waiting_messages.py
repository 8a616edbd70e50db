"""Messages of a workspace that wait to be posted: whose they are is kept by us, as Slack only knows that
they are the app's; whether they still wait, Slack says."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.failpoints import failpoint
from bot.core.scheduled_message import ScheduledMessage
from bot.slack.transport.client import Clients, error_code
from bot.store import ScheduledMessageStore

_PAGE = 100
_MOST_PAGES = 20

Waiting = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class WaitingMessages:
    """Those of one workspace."""

    team: str
    clients: Clients
    store: ScheduledMessageStore

    async def of(self, user: str) -> list[ScheduledMessage]:
        """A person's, the next first, as we know them: Slack is asked only where its reply was lost."""
        kept = [each for each in await self._kept(user) if each.post_at > time.time()]
        if not all(each.slack_id for each in kept):
            kept = [ours for ours, _ in await self.matched(user)]
        return sorted(kept, key=lambda each: each.post_at)

    async def matched(self, user: str) -> list[tuple[ScheduledMessage, Waiting]]:
        """A person's that wait, as we know them and as Slack does; what waits no more is forgotten."""
        kept = await self._kept(user)
        waiting = await self._waiting() if kept else []
        found = []
        for ours in kept:
            match = next((each for each in waiting if _is_same(ours, each)), None)
            if match is not None:
                found.append((ours.model_copy(update={"slack_id": str(match["id"])}), match))
            elif ours.post_at < time.time():
                await self.store.remove(ours)
        return found

    async def cancel(self, ours: ScheduledMessage) -> bool:
        """Never post it; False when it waits no more."""
        failpoint("elsewhere-posting")
        try:
            await self.clients.writes.chat_deleteScheduledMessage(
                channel=ours.channel, scheduled_message_id=ours.slack_id
            )
        except SlackApiError as error:
            if error_code(error) != "invalid_scheduled_message_id":
                raise
            return False
        failpoint("elsewhere-posted")
        await self.store.remove(ours)
        return True

    async def cancel_named(self, user: str, message_id: str) -> bool:
        """Never post the one of that person's that we call so; False when it waits no more, and it is
        listed no more."""
        for ours in await self.of(user):
            if ours.id == message_id:
                cancelled = await self.cancel(ours)
                await self.store.remove(ours)
                return cancelled
        return False

    async def _kept(self, user: str) -> list[ScheduledMessage]:
        return await self.store.of(self.team, user)

    async def _waiting(self) -> list[Waiting]:
        """All of the app's."""
        found: list[Waiting] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await self.clients.reads.chat_scheduledMessages_list(limit=_PAGE, cursor=cursor)
            found += page["scheduled_messages"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return found


def _is_same(ours: ScheduledMessage, waiting: Waiting) -> bool:
    if ours.slack_id:
        return ours.slack_id == str(waiting["id"])
    what = (waiting["channel_id"], int(waiting["post_at"]), waiting.get("text"))
    return what == (ours.channel, ours.post_at, ours.text)
