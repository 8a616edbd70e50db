"""Canvases as files: Slack stores a canvas as a file with mode "quip"."""

from html import escape

from bot.dev.workspace.core import Core
from bot.dev.workspace.messaging.uploads import new_id
from bot.dev.workspace.store.sections import Canvas, sections_of
from bot.dev.workspace.store.state import Channel, File


def make_canvas(
    core: Core, user: str, title: str, markdown: str, conversations: list[Channel]
) -> File:
    """Create a canvas of `user`, shared in these channels. Raises canvas_creation_failed."""
    canvas = Canvas(sections_of(markdown, "canvas_creation_failed"))
    file = File(new_id(core), title, 0, user, int(core.clock.now()), canvas=canvas, title=title)
    file.channels = [conversation.id for conversation in conversations]
    store_content(file)
    core.state.files[file.id] = file
    for conversation in conversations:
        core.changed("channel", conversation.id, user=user, data={"canvas": file.id})
    return file


def store_content(file: File) -> None:
    """Set the file's bytes to the HTML of its canvas, which is what a download returns."""
    assert file.canvas is not None  # noqa: S101 - only canvases come here
    html = [f"<p id='{each.id}'>{escape(each.text)}</p>" for each in file.canvas.sections]
    file.content = "\n".join(html).encode()
    file.size = len(file.content)
