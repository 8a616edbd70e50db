"""What each person has not seen yet, and how much of it calls for them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.dev.workspace import Channel, Workspace
from bot.dev.workspace.messages import UNWRITTEN, is_reply

Json = dict[str, Any]

_EVERYBODY = re.compile(r"<!(here|channel|everyone)\b")


@dataclass(frozen=True)
class Unread:
    """`first`: the ts of the first one that the conversation itself shows, "" where it shows none;
    `calls`: how many are for this person, by a mention or in a direct message."""

    is_any: bool
    first: str
    calls: int


class ReadMarks:
    """Up to where each person has read each conversation and each thread, as the page shows it to
    them. A reply is read with its thread, not with the channel; of a direct message it is a part."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        # (user, channel, thread or "") → a ts
        self._read: dict[tuple[str, str, str], str] = {}
        # (user, channel, thread or "") → the ts they chose themselves
        self._kept: dict[tuple[str, str, str], str] = {}
        # user → when they saw all their threads, as a ts
        self._listed: dict[str, str] = {}

    def unread(self, user: str, channel: Channel) -> Unread:
        """What the person has not seen there."""
        news = self._news(user, channel, self._ws.store.in_channel(channel.id))
        shown = [message for message in news if not is_below(message)]
        counted = news if channel.is_direct else shown
        kept = self._kept.get((user, channel.id, ""), "")
        first = kept or next((message["ts"] for message in shown), "")
        return Unread(bool(counted or kept), first, _count_calls(user, channel, counted))

    def unlisted(self, user: str, channels: Sequence[Channel]) -> Unread:
        """What is new in the person's threads there since "Threads" was shown to them."""
        listed = self._listed.get(user, "")
        is_any, calls = False, 0
        for channel in channels:
            news = self._news(user, channel, self._ws.store.in_channel(channel.id))
            replies = [m for m in news if is_below(m) and self._came(channel, m) > listed]
            is_any = is_any or bool(replies)
            calls += 0 if channel.is_direct else _count_calls(user, channel, replies)
        return Unread(is_any, "", calls)

    def first_reply(self, user: str, channel_id: str, thread: str) -> str:
        """The ts of the first one of the thread that the person has not seen; "" for none."""
        channel = self._ws.channels[channel_id]
        replies = self._ws.store.thread(channel_id, thread)[1:]
        news = (m["ts"] for m in self._news(user, channel, replies) if is_below(m))
        return self._kept.get((user, channel_id, thread)) or next(news, "")

    def went_on(self, user: str, channel_id: str, thread: str) -> str:
        """The first reply below those that the person has seen; "" where they have seen none."""
        key = (user, channel_id, thread)
        return self.first_reply(*key) if key in self._read else ""

    def read(self, user: str, channel_id: str, thread: str = "") -> None:
        """The person sees all that is there: in the conversation, or in a thread of it."""
        channel = self._ws.channels.get(channel_id)
        if channel is None:
            return
        key = (user, channel_id, thread)
        if self.first_reply(*key) if thread else self.unread(user, channel).first:
            self._kept.pop(key, None)
            self._set(key, self._ws.store.next_ts())

    def arrived(self, user: str, channel_id: str, thread: str = "") -> None:
        """The person sees what came; what they marked unread themselves they keep for later."""
        if (user, channel_id, thread) not in self._kept:
            self.read(user, channel_id, thread)

    def threads_listed(self, user: str, channel_id: str) -> None:
        """The person sees their threads, while `channel_id` is where they would go back to."""
        mine = [c for c in self._ws.channels.values() if user in c.members]
        if self.unlisted(user, mine).is_any:
            self._listed[user] = self._ws.store.next_ts()
            self._ws.changed("read", channel_id, user=user)

    def unread_from(self, user: str, channel_id: str, message: Json) -> None:
        """The person wants to come back to this message and what follows it."""
        key = (user, channel_id, message["thread_ts"] if is_below(message) else "")
        self._kept[key] = message["ts"]  # also when it is their own
        self._set(key, message["ts"][:-1])  # before it, and after every other

    def _set(self, key: tuple[str, str, str], mark: str) -> None:
        self._read[key] = mark
        user, channel_id, thread = key
        self._ws.changed("read", channel_id, user=user, thread_ts=thread or None)

    def _news(self, user: str, channel: Channel, messages: Sequence[Json]) -> list[Json]:
        return [
            message
            for message in messages
            if self._came(channel, message) > self._mark(user, channel, message)
            and self._is_for(user, channel, message)
        ]

    def _mark(self, user: str, channel: Channel, message: Json) -> str:
        thread = message["thread_ts"] if is_below(message) else ""
        return self._read.get((user, channel.id, thread), "")

    def _came(self, channel: Channel, message: Json) -> str:
        """As a ts; who saw a streamed message begin has not seen all of it."""
        stream = self._ws.state.streams.get((channel.id, message["ts"]))
        return (stream and stream.ended) or str(message["ts"])

    def _is_for(self, user: str, channel: Channel, message: Json) -> bool:
        if message.get("user") == user or message.get("subtype") in UNWRITTEN:
            return False
        if channel.is_direct or not is_below(message):
            return True
        return takes_part(user, self._ws.store.thread(channel.id, message["thread_ts"]))


def takes_part(user: str, thread: Sequence[Json]) -> bool:
    """Whether the person wrote in the thread, or was called into it."""
    return any(m.get("user") == user or _names(user, m) for m in thread)


def is_below(message: Json) -> bool:
    """Whether only its thread shows it."""
    return is_reply(message) and message.get("subtype") != "thread_broadcast"


def _count_calls(user: str, channel: Channel, messages: Sequence[Json]) -> int:
    return sum(_calls(user, channel, message) for message in messages)


def _calls(user: str, channel: Channel, message: Json) -> bool:
    everybody = _EVERYBODY.search(_said(message))
    return channel.is_direct or bool(everybody) or _names(user, message)


def _names(user: str, message: Json) -> bool:
    return re.search(rf"(?<!\\)<@{user}>", _said(message)) is not None


def _said(message: Json) -> str:
    """Where people can be called: the text, and what an app's message says in blocks."""
    blocks = message.get("blocks") or ()
    said = [each.get("text") for each in blocks if each["type"] in ("section", "markdown")]
    return "\n".join([str(message.get("text") or ""), *map(str, said)])
