"""Search in the workspace as one person sees it."""

import re
from typing import Any

from bot.local.page.sidebar import name_of, other_in, visible
from bot.local.workspace import Channel, Workspace
from bot.local.workspace.messages import UNWRITTEN, link_to
from bot.local.workspace.text import has_words

Json = dict[str, Any]

_MOST = 20
_PERSON = re.compile(r"<@(\w+)[^>]*>")


def found(ws: Workspace, viewer: str, query: str) -> Json:
    """The conversations whose name has a word that begins so, and the newest messages with all words of the query."""
    channels = visible(ws, viewer)
    wanted = query.casefold().lstrip("#@")
    named = [(c, name_of(ws, c, viewer)) for c in channels]
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
            {"id": c.id, "name": name, "kind": c.kind, "person": other_in(c, viewer)}
            for c, name in named
            if _is_called(name, wanted)
        ],
        "found": messages[:_MOST],
    }


def _is_called(name: str, wanted: str) -> bool:
    whole = name.casefold()
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
        "link": link_to(ws.url, channel.id, message),
    }
