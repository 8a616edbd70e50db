"""Search in the workspace as one person sees it."""

import html
import re
from typing import Any

from bot.dev.page.sidebar import name_of, other_in, visible
from bot.dev.workspace import Channel, Workspace
from bot.dev.workspace.messages import UNWRITTEN, link_to
from bot.dev.workspace.text import has_words

Json = dict[str, Any]

_MOST = 20
_MENTION = re.compile(r"<([@#])(\w+)[^>]*>")


def found(ws: Workspace, viewer: str, query: str) -> Json:
    """The conversations whose name has a word that begins so, and the messages with all words of the
    query: the newest that people wrote, then the newest of the app's, which repeats what they wrote.
    """
    channels = visible(ws, viewer)
    wanted = query.casefold().lstrip("#@")
    named = [(c, name_of(ws, c, viewer)) for c in channels]
    names = {person.id: person.real_name for person in ws.state.everyone().values()}
    names |= {channel.id: name for channel, name in named}
    messages = [
        _shown(ws, channel, message)
        for channel in channels
        for message in (ws.store.in_channel(channel.id) if query.strip() else ())
        if message.get("subtype") not in UNWRITTEN and has_words(_words(message, names), query)
    ]
    messages.sort(key=lambda each: (each["by_person"], each["ts"]), reverse=True)
    return {
        "query": query.strip(),
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


def words_of(message: Json) -> list[str]:
    """What it says itself, if anything, and what it forwards."""
    shared = [each.get("text") or "" for each in message.get("attachments") or []]
    return list(filter(None, [message.get("text"), *shared]))


def files_of(message: Json) -> list[str]:
    """The names of its files."""
    return [str(file["name"]) for file in message.get("files") or []]


def _words(message: Json, names: dict[str, str]) -> str:
    """All that stands in it, with people and channels by their names."""
    said = "\n".join(words_of(message))
    named = _MENTION.sub(lambda found: f"{found[1]}{names.get(found[2], '')}", said)
    return "\n".join([html.unescape(named), *files_of(message)])


def _shown(ws: Workspace, channel: Channel, message: Json) -> Json:
    return {
        "author": message.get("user") or message.get("bot_id") or "",
        "by_person": "bot_id" not in message,
        "place": "direct message" if channel.is_direct else f"#{channel.name}",
        "ts": message["ts"],
        "text": "\n".join(words_of(message)),
        "files": files_of(message),
        "link": link_to(ws.url, channel.id, message),
    }
