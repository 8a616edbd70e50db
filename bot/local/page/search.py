"""Search in the workspace as one person sees it."""

import re
from typing import Any

from bot.local.page.sidebar import title, visible
from bot.local.workspace import Channel, Workspace
from bot.local.workspace.messages import UNWRITTEN
from bot.local.workspace.text import has_words

Json = dict[str, Any]

_MOST = 20
_PERSON = re.compile(r"<@(\w+)[^>]*>")


def found(ws: Workspace, viewer: str, query: str) -> Json:
    """The conversations whose name has a word that begins so, and the newest messages with all words of the query."""
    channels = visible(ws, viewer)
    wanted = query.casefold().lstrip("#@")
    named = [(c, title(ws, c, viewer)) for c in channels]
    named = [(c, name) for c, name in named if _is_called(name, wanted)]
    messages = [
        _shown(ws, channel, message)
        for channel in channels
        for message in (ws.store.in_channel(channel.id) if query.strip() else ())
        if message.get("subtype") not in UNWRITTEN and has_words(_words(ws, message), query)
    ]
    messages.sort(key=lambda each: each["ts"], reverse=True)
    return {
        "asked": bool(query.strip()),
        "places": [
            {"id": c.id, "name": name.lstrip("#"), "kind": c.kind, "person": _other(c, viewer)}
            for c, name in named
        ],
        "found": messages[:_MOST],
    }


def link_to(ws: Workspace, channel: str, message: Json) -> str:
    """Slack's own link to a message."""
    ts, thread = message["ts"], message.get("thread_ts")
    link = f"{ws.url}archives/{channel}/p{ts.replace('.', '')}"
    return f"{link}?thread_ts={thread}" if thread and thread != ts else link


def _other(channel: Channel, viewer: str) -> str:
    return next((member for member in channel.members if member != viewer), viewer)


def _is_called(name: str, wanted: str) -> bool:
    whole = name.casefold().lstrip("#")
    return whole.startswith(wanted) or any(word.startswith(wanted) for word in whole.split())


def _words(ws: Workspace, message: Json) -> str:
    """What it says, with people by their names."""
    names = {person.id: person.real_name for person in ws.state.everyone().values()}
    text = str(message.get("text") or "")
    return _PERSON.sub(lambda found: f"@{names.get(found[1], '')}", text)


def _shown(ws: Workspace, channel: Channel, message: Json) -> Json:
    return {
        "author": message.get("user") or message.get("bot_id") or "",
        "place": "direct message" if channel.is_direct else f"#{channel.name}",
        "ts": message["ts"],
        "text": message.get("text") or "",
        "link": link_to(ws, channel.id, message),
    }
