"""The threads that somebody takes part in, wherever they are: Slack's "Threads"."""

from typing import Any

from bot.dev.page.search import files_of, words_of
from bot.dev.page.sidebar import title, visible
from bot.dev.page.unread import ReadMarks, takes_part
from bot.dev.workspace import Channel, Workspace
from bot.dev.workspace.messages import link_to

Json = dict[str, Any]

_MOST = 30


def threads_of(ws: Workspace, marks: ReadMarks, user: str) -> list[Json]:
    """Those with the latest reply first."""
    found = [
        _shown(ws, user, channel, root)
        | {"is_new": bool(marks.first_reply(user, channel.id, root["ts"]))}
        for channel in visible(ws, user)
        for root in ws.store.top_level(channel.id)
        if root.get("reply_count") and takes_part(user, ws.store.thread(channel.id, root["ts"]))
    ]
    found.sort(key=lambda each: each["at"], reverse=True)
    return found[:_MOST]


def _shown(ws: Workspace, user: str, channel: Channel, root: Json) -> Json:
    latest = ws.store.thread(channel.id, root["ts"])[-1]
    return {
        "place": title(ws, channel, user),
        "author": root.get("user") or "",
        "text": _gist(root),
        "replies": root["reply_count"],
        "latest": _gist(latest).partition("\n\n")[0],
        "by": latest.get("user") or "",
        "at": latest["ts"],
        "link": link_to(ws.url, channel.id, latest),
    }


def _gist(message: Json) -> str:
    """Its words; else the names of its files."""
    return "\n".join(words_of(message) or files_of(message))
