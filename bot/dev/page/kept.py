"""What a channel keeps beside its conversation: canvases, and pinned messages."""

import re
from typing import Any

from bot.dev.workspace import File, Workspace

Json = dict[str, Any]

_MENTION = re.compile(r"!\[\]\((?P<mark>[@#])(?P<id>\w+)\)")  # how a canvas writes one


def kept_in(ws: Workspace, channel: str) -> Json:
    """Links to its canvases, its own first, and the pinned messages, the latest pin first."""
    place = ws.channels.get(channel)
    if place is None:
        return {"canvases": [], "pins": []}
    files = [f for f in ws.state.files.values() if f.canvas and channel in f.channels]
    files.sort(key=lambda file: file.id != place.canvas)
    pins = [ws.store.get(channel, pin.ts) for pin in reversed(place.pins)]
    return {
        "canvases": [
            {"title": f.title or "Canvas", "href": f"/docs/{ws.team_id}/{f.id}"} for f in files
        ],
        "pins": [message for message in pins if message],
    }


def canvas_for(ws: Workspace, key: str, user: str) -> tuple[File, str] | None:
    """The canvas as this person sees it, and who that is: a link from outside names nobody, so it
    is opened as one of those who may see it. None where there is no such canvas for them."""
    file = ws.state.files.get(key)
    if file is None or file.canvas is None:
        return None
    people = [p for c in file.channels for p in ws.channels[c].members if p in ws.people]
    viewer = user or next(iter(people), "")
    return (file, viewer) if viewer in people else None


def canvas_markdown(file: File) -> str:
    """What stands in a canvas, with mentions as messages write them."""
    text = file.canvas.markdown if file.canvas else ""
    return _MENTION.sub(r"<\g<mark>\g<id>>", text)
