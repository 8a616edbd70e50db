"""Search in the workspace as one person sees it."""

from collections.abc import Sequence
from typing import Any

from bot.local.workspace import Channel, Workspace
from bot.local.workspace.messages import UNWRITTEN

Json = dict[str, Any]

_MOST = 20


def found(ws: Workspace, channels: Sequence[Channel], query: str) -> Json:
    """The channels whose name begins so, and the newest messages with all words of the query."""
    words = query.casefold().split()
    rooms = [c for c in channels if not c.is_direct]
    named = [c for c in rooms if c.name.startswith(query.casefold().lstrip("#"))]
    messages = [
        _shown(ws, channel, message)
        for channel in channels
        for message in (ws.store.in_channel(channel.id) if words else ())
        if message.get("subtype") not in UNWRITTEN and _has(message, words)
    ]
    messages.sort(key=lambda each: each["ts"], reverse=True)
    return {
        "asked": bool(words),
        "rooms": [{"id": c.id, "name": c.name, "private": c.kind == "private"} for c in named],
        "found": messages[:_MOST],
    }


def _has(message: Json, words: Sequence[str]) -> bool:
    text = str(message.get("text") or "").casefold()
    return all(word in text for word in words)


def _shown(ws: Workspace, channel: Channel, message: Json) -> Json:
    ts, thread = message["ts"], message.get("thread_ts")
    link = f"{ws.url}archives/{channel.id}/p{ts.replace('.', '')}"
    return {
        "author": message.get("user") or message.get("bot_id") or "",
        "place": "direct message" if channel.is_direct else f"#{channel.name}",
        "ts": ts,
        "text": message.get("text") or "",
        "link": f"{link}?thread_ts={thread}" if thread and thread != ts else link,
    }
