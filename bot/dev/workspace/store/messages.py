"""The store of all messages."""

from collections.abc import Mapping
from typing import Any

from bot.dev.workspace.store.clock import Clock
from bot.dev.workspace.store.copying import copied
from bot.dev.workspace.store.state import SLACKBOT, Json

THREAD_KEYS = (
    "reply_count",
    "reply_users",
    "reply_users_count",
    "latest_reply",
    "is_locked",
    "subscribed",
)

SERVICE_SUBTYPES = frozenset(
    {"tombstone", "channel_join", "channel_leave", "channel_archive", "channel_unarchive"}
)
"""The subtypes of messages that Slack wrote itself."""


class Messages:
    """All messages by channel and ts, and the ephemeral ones.

    A message is Slack's own object, plus `metadata`, which the API shows only on request.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = 0
        self._by_channel: dict[str, dict[str, Json]] = {}
        self._replies: dict[tuple[str, str], dict[str, Json]] = {}
        self._ephemeral: dict[str, dict[str, tuple[str, Json]]] = {}

    def next_ts(self) -> str:
        """Return a ts above all others: "seconds.micros", unique in the workspace."""
        self._last = max(int(self._clock.now() * 1_000_000), self._last + 1)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def get(self, channel: str, ts: str) -> Json | None:
        """Return the stored message itself, or None."""
        return self._by_channel.get(channel, {}).get(ts)

    def in_channel(self, channel: str) -> list[Json]:
        """Return every message of a channel, oldest first, replies included."""
        return list(self._by_channel.get(channel, {}).values())

    def top_level(self, channel: str) -> list[Json]:
        """Return the messages that the channel shows: no replies, except broadcast ones."""
        return [
            m
            for m in self.in_channel(channel)
            if not is_reply(m) or m.get("subtype") == "thread_broadcast"
        ]

    def thread(self, channel: str, root: str) -> list[Json]:
        """Return the root and its replies, oldest first."""
        first = self.get(channel, root)
        replies = self._replies.get((channel, root), {}).values()
        return [*([first] if first else []), *replies]

    def add(self, channel: str, message: Json) -> None:
        """Store a message, and count it in its thread if it is a reply."""
        self._by_channel.setdefault(channel, {})[message["ts"]] = message
        if is_reply(message):
            self._replies.setdefault((channel, message["thread_ts"]), {})[message["ts"]] = message
            self._recount(channel, message["thread_ts"])

    def remove(self, channel: str, message: Json) -> bool:
        """Delete a message, and return whether a tombstone was deleted with it.

        The root of a thread with replies becomes a tombstone, which is deleted with the last reply.
        """
        if message.get("reply_count"):
            thread = {k: message[k] for k in ("ts", "thread_ts", *THREAD_KEYS) if k in message}
            message.clear()
            message |= thread | {
                "type": "message",
                "subtype": "tombstone",
                "hidden": True,
                "user": SLACKBOT,
                "text": "This message was deleted.",
            }
            return False
        del self._by_channel[channel][message["ts"]]
        if not is_reply(message):
            return False
        root = self.get(channel, message["thread_ts"])
        del self._replies[channel, message["thread_ts"]][message["ts"]]
        self._recount(channel, message["thread_ts"])
        bare = root is not None and root.get("subtype") == "tombstone" and not root.get("thread_ts")
        if bare:
            del self._by_channel[channel][message["thread_ts"]]
        return bare

    def add_ephemeral(self, channel: str, viewer: str, message: Json) -> None:
        """Store a message that only `viewer` sees."""
        self._ephemeral.setdefault(channel, {})[message["ts"]] = (viewer, message)

    def ephemeral(self, channel: str, ts: str, viewer: str | None = None) -> Json | None:
        """Return the ephemeral message with this ts if `viewer` sees it (None: any viewer)."""
        found = self._ephemeral.get(channel, {}).get(ts)
        return found[1] if found and viewer in (None, found[0]) else None

    def remove_ephemeral(self, channel: str, ts: str) -> None:
        """Delete an ephemeral message."""
        self._ephemeral.get(channel, {}).pop(ts, None)

    def seen_by(self, channel: str, viewer: str | None, thread_ts: str | None) -> list[Json]:
        """Return copies of what `viewer` sees in a channel or thread, in order of ts."""
        messages = self.thread(channel, thread_ts) if thread_ts else self.top_level(channel)
        private = [
            m
            for reader, m in self._ephemeral.get(channel, {}).values()
            if reader == viewer and m.get("thread_ts") == thread_ts
        ]
        return copied(sorted([*messages, *private], key=lambda m: m["ts"]))

    def _recount(self, channel: str, root_ts: str) -> None:
        root = self.get(channel, root_ts)
        if root is None:
            return
        replies = [m for m in self.thread(channel, root_ts) if is_reply(m)]
        if not replies:
            for key in (*THREAD_KEYS, "thread_ts"):
                root.pop(key, None)
            return
        users = list(dict.fromkeys(m["user"] for m in replies))
        root |= {
            "thread_ts": root_ts,
            "reply_count": len(replies),
            "reply_users": users,
            "reply_users_count": len(users),
            "latest_reply": replies[-1]["ts"],
            "is_locked": False,
            "subscribed": False,
        }


def is_reply(message: Mapping[str, Any]) -> bool:
    """Whether the message is a reply in a thread."""
    return bool(message.get("thread_ts")) and message["thread_ts"] != message["ts"]


def link_to(workspace_url: str, channel: str, message: Mapping[str, Any]) -> str:
    """Return Slack's own link to a message; the link to a reply names its thread."""
    link = f"{workspace_url}archives/{channel}/p{message['ts'].replace('.', '')}"
    return f"{link}?thread_ts={message['thread_ts']}&cid={channel}" if is_reply(message) else link


def without_metadata(message: Json) -> dict[str, Any]:
    """Return a copy of the message as events and plain history show it."""
    return copied({k: v for k, v in message.items() if k != "metadata"})
