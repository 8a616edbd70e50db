"""Messages as tools see them: names for ids, a time, and a link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.slack.incoming.message_contents import file_refs, said_in
from bot.slack.incoming.names import naming
from bot.slack.incoming.text import clean, decode, one_line
from bot.slack.transport.workspaces import Slack
from bot.toolkit.conversation import ThreadMessage


@dataclass(frozen=True, slots=True)
class MessageReader:
    """Of one workspace."""

    slack: Slack

    async def message(self, message: Mapping[str, Any], channel: str) -> ThreadMessage:
        """A message object of Slack's that stands in `channel`."""
        ts = str(message["ts"])
        name_of = naming(self.slack.people, self.slack.access)
        return ThreadMessage(
            ts=ts,
            at=datetime.fromtimestamp(float(ts), UTC),
            author=await self._author(message),
            text=clean(await decode(self._said(message), name_of)),
            files=file_refs(message.get("files") or ()),
            replies=int(message.get("reply_count") or 0),
            url=self.permalink(channel, ts, message.get("thread_ts")),
            own=self._is_own(message),
        )

    def _said(self, message: Mapping[str, Any]) -> str:
        """The bot's own messages have all that they say as text, without their buttons and feet."""
        return str(message.get("text") or "") if self._is_own(message) else said_in(message)

    def _is_own(self, message: Mapping[str, Any]) -> bool:
        identity = self.slack.identity
        return message.get("bot_id") == identity.bot or message.get("user") == identity.user

    def permalink(self, channel: str, ts: str, thread: str | None) -> str:
        """Slack's permalinks are made of what is known here: a call for each would be slow."""
        link = f"{self.slack.identity.url}archives/{channel}/p{ts.replace('.', '')}"
        return f"{link}?thread_ts={thread}&cid={channel}" if thread and thread != ts else link

    async def _author(self, message: Mapping[str, Any]) -> str:
        if message.get("user"):
            return await self.slack.people.name(str(message["user"]))
        profile: Mapping[str, Any] = message.get("bot_profile") or {}
        name = str(message.get("username") or profile.get("name") or "")
        return one_line(name) or "somebody"
