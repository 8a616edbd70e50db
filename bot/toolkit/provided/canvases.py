"""The canvas service for tools. Canvases are Slack's documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Change = Literal["append", "prepend", "insert_after", "replace", "delete", "rename"]


@dataclass(frozen=True, slots=True)
class Canvas:
    """A canvas. `url` opens it in Slack; `text` is its whole Markdown, empty if it was not read."""

    id: str
    title: str
    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class CanvasEdit:
    """One change to a canvas. `section` is the Markdown of the block to change; `text` is the new
    Markdown, or the new title for a "rename"."""

    change: Change
    section: str = ""
    text: str = ""


class Canvases(Protocol):
    """Reads and writes canvases on behalf of the current request's user.

    Every method can use only canvases that both this user and the bot may see. `canvas` is an id or
    link of a canvas, or the name or id of a channel, which selects the channel's own canvas. Every
    method raises ToolError with a sentence that the model can act on.
    """

    async def read(self, canvas: str | None) -> Canvas:
        """Return a canvas with its text; None selects the own canvas of the current channel."""

    async def create(self, title: str, text: str, *, channel: str | None) -> Canvas:
        """Create a canvas in a tab of a channel; None selects the current channel. A direct message
        can have only its own canvas."""

    async def check_edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> str:
        """Check that `edit` could be made now, and return the id of the canvas."""

    async def edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> Canvas:
        """Make one change, unless the title of the canvas is no longer `title`."""
