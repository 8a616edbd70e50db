"""Canvases: a canvas is a file of Slack's, with mode "quip"."""

from html import escape

from bot.dev.workspace.core import Core
from bot.dev.workspace.messaging.uploads import new_id
from bot.dev.workspace.store.sections import Canvas, sections_of
from bot.dev.workspace.store.state import Channel, File


def make_canvas(core: Core, user: str, title: str, markdown: str, places: list[Channel]) -> File:
    """A canvas of `user`, shared in these places. Raises SlackFault canvas_creation_failed."""
    canvas = Canvas(sections_of(markdown, "canvas_creation_failed"))
    file = File(new_id(core), title, 0, user, int(core.clock.now()), canvas=canvas, title=title)
    file.channels = [place.id for place in places]
    keep(file)
    core.state.files[file.id] = file
    for place in places:
        core.changed("channel", place.id, user=user, data={"canvas": file.id})
    return file


def keep(file: File) -> None:
    """Let the file's bytes be those of its canvas: what a download gives, as HTML with ids."""
    assert file.canvas is not None  # noqa: S101 - only canvases come here
    html = [f"<p id='{each.id}'>{escape(each.text)}</p>" for each in file.canvas.sections]
    file.content = "\n".join(html).encode()
    file.size = len(file.content)
