"""Messages for tools: ids replaced by names, with a time and a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.slack.edge.names import naming
from bot.slack.edge.text import clean, decode, one_line
from bot.slack.edge.workspaces import Slack
from bot.slack.message.message_contents import file_refs, said_in
from bot.slack.message.message_metadata import run_of
from bot.toolkit.provided.conversation import ThreadMessage


def edited_at(message: Mapping[str, Any]) -> str:
    """Return the ts of a message's last edit; "" if it was not edited."""
    edited: Mapping[str, Any] = message.get("edited") or {}
    return str(edited.get("ts") or "")


@dataclass(frozen=True, slots=True)
class MessageReader:
    """A converter of Slack's messages, for one workspace."""

    slack: Slack

    async def message(self, message: Mapping[str, Any], channel: str) -> ThreadMessage:
        """Convert one of Slack's message objects that was posted in `channel`."""
        ts = str(message["ts"])
        name_of = naming(self.slack.people, self.slack.access)
        return ThreadMessage(
            ts=ts,
            at=datetime.fromtimestamp(float(ts), UTC),
            author=await self._author(message),
            text=clean(await decode(self._content(message), name_of)),
            files=file_refs(message.get("files") or ()),
            replies=int(message.get("reply_count") or 0),
            url=self.permalink(channel, ts, message.get("thread_ts")),
            own=self._is_own(message),
            run=run_of(message) or "",
            edited=edited_at(message),
        )

    def _content(self, message: Mapping[str, Any]) -> str:
        """Return what the message says.

        The text of the bot's own messages is complete; their blocks add only buttons and footers.
        """
        return str(message.get("text") or "") if self._is_own(message) else said_in(message)

    def _is_own(self, message: Mapping[str, Any]) -> bool:
        identity = self.slack.identity
        return message.get("bot_id") == identity.bot or message.get("user") == identity.user

    def permalink(self, channel: str, ts: str, thread: str | None) -> str:
        """Build the permalink of a message."""
        return self.slack.identity.message_link(channel, ts, thread)

    async def _author(self, message: Mapping[str, Any]) -> str:
        if message.get("user"):
            return await self.slack.people.name(str(message["user"]))
        profile: Mapping[str, Any] = message.get("bot_profile") or {}
        name = str(message.get("username") or profile.get("name") or "")
        return one_line(name) or "somebody"


def ts_of(at: datetime | None) -> str | None:
    """Return a time as Slack's timestamp, None for None."""
    return None if at is None else f"{at.timestamp():.6f}"
