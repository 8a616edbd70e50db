"""What each person has not seen yet, and how much of it calls for them."""

import re
from dataclasses import dataclass
from typing import Any

from bot.local.workspace import Channel, Workspace
from bot.local.workspace.messages import UNWRITTEN, is_reply

Json = dict[str, Any]

_EVERYBODY = re.compile(r"<!(here|channel|everyone)\b")


@dataclass(frozen=True)
class Unread:
    """`first`: the ts of the first one that the conversation itself shows, "" where it shows none;
    `calls`: how many are for this person, by a mention or in a direct message; `replies`: whether a
    thread of theirs has some that "Threads" has not shown them."""

    is_any: bool
    first: str
    calls: int
    replies: bool


class ReadMarks:
    """Up to where each person has read each conversation, as the page shows it to them."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        # (user, channel) → a ts
        self._read: dict[tuple[str, str], str] = {}
        # (user, channel) → the ts they chose themselves
        self._kept: dict[tuple[str, str], str] = {}
        # user → when they saw all their threads, as a ts
        self._listed: dict[str, str] = {}

    def unread(self, user: str, channel: Channel) -> Unread:
        """What the person has not seen there."""
        mark = self._read.get((user, channel.id), "")
        news = [
            message
            for message in self._ws.store.in_channel(channel.id)
            if self._came(channel, message) > mark and self._is_for(user, channel, message)
        ]
        kept = self._kept.get((user, channel.id), "")
        first = kept or next((m["ts"] for m in news if not _is_below(m)), "")
        calls = sum(_calls(user, channel, m) for m in news)
        listed = self._listed.get(user, "")
        replies = any(_is_below(m) and self._came(channel, m) > listed for m in news)
        return Unread(bool(news or kept), first, calls, replies)

    def read(self, user: str, channel_id: str) -> None:
        """The person sees all that is there."""
        channel = self._ws.channels.get(channel_id)
        if channel is not None and self.unread(user, channel).is_any:
            self._kept.pop((user, channel_id), None)
            self._set(user, channel_id, self._ws.store.next_ts())

    def arrived(self, user: str, channel_id: str) -> None:
        """The person sees what came; what they marked unread themselves they keep for later."""
        if (user, channel_id) not in self._kept:
            self.read(user, channel_id)

    def threads_listed(self, user: str, channel_id: str) -> None:
        """The person sees their threads, while `channel_id` is where they would go back to."""
        mine = (c for c in self._ws.channels.values() if user in c.members)
        if any(self.unread(user, channel).replies for channel in mine):
            self._listed[user] = self._ws.store.next_ts()
            self._ws.changed("read", channel_id, user=user)

    def unread_from(self, user: str, channel_id: str, ts: str) -> None:
        """The person wants to come back to this message and what follows it."""
        self._kept[user, channel_id] = ts  # also when it is their own
        self._set(user, channel_id, ts[:-1])  # before it, and after every other

    def _set(self, user: str, channel_id: str, mark: str) -> None:
        self._read[user, channel_id] = mark
        self._ws.changed("read", channel_id, user=user)

    def _came(self, channel: Channel, message: Json) -> str:
        """As a ts; who saw a streamed message begin has not seen all of it."""
        stream = self._ws.state.streams.get((channel.id, message["ts"]))
        return (stream and stream.ended) or str(message["ts"])

    def _is_for(self, user: str, channel: Channel, message: Json) -> bool:
        if message.get("user") == user or message.get("subtype") in UNWRITTEN:
            return False
        return channel.is_direct or not _is_below(message) or self._follows(user, channel, message)

    def _follows(self, user: str, channel: Channel, message: Json) -> bool:
        """Whether the person has a part in the message's thread, or is called into it."""
        thread = self._ws.store.thread(channel.id, message["thread_ts"])
        return _calls(user, channel, message) or any(each.get("user") == user for each in thread)


def _is_below(message: Json) -> bool:
    """Whether only its thread shows it."""
    return is_reply(message) and message.get("subtype") != "thread_broadcast"


def _calls(user: str, channel: Channel, message: Json) -> bool:
    text = str(message.get("text") or "")
    return channel.is_direct or f"<@{user}>" in text or bool(_EVERYBODY.search(text))
