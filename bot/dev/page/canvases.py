"""Canvases as people read them on the page."""

import re

from bot.dev.workspace import File, Workspace

_MENTION = re.compile(r"!\[\]\((?P<mark>[@#])(?P<id>\w+)\)")  # how a canvas writes a mention


def find_canvas(ws: Workspace, file_id: str, user: str) -> tuple[File, str] | None:
    """Return the canvas and its viewer, or None if there is no such canvas for this person.

    A link from outside names no `user`; then the viewer is the first person who may see the canvas.
    """
    file = ws.state.files.get(file_id)
    if file is None or file.canvas is None:
        return None
    people = [p for c in file.channels for p in ws.channels[c].members if p in ws.people]
    viewer = user or next(iter(people), "")
    return (file, viewer) if viewer in people else None


def canvas_markdown(file: File) -> str:
    """Return the text of a canvas, with mentions as messages write them."""
    text = file.canvas.markdown if file.canvas else ""
    return _MENTION.sub(r"<\g<mark>\g<id>>", text)
