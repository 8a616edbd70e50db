"""Slack's documents, as tools see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Change = Literal["append", "prepend", "insert_after", "replace", "delete", "rename"]


@dataclass(frozen=True, slots=True)
class Canvas:
    """A canvas; `url` opens it in Slack, `text` is all of it as Markdown, where it was read."""

    id: str
    title: str
    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class CanvasEdit:
    """One change. `section` is the Markdown of the block it is about; `text` what is written, and of
    a "rename" the new title."""

    change: Change
    section: str = ""
    text: str = ""


class Canvases(Protocol):
    """Reads and writes on behalf of the current request's user, within what that person and the bot may
    both see. A canvas is named by its id or link; a channel, by name or id, stands for its own.
    Every method raises ToolError with a sentence the model can act on."""

    async def read(self, canvas: str | None) -> Canvas:
        """A canvas; None: the own one of this channel."""

    async def create(self, title: str, text: str, *, channel: str | None) -> Canvas:
        """A new canvas in a tab of a channel; None: of this channel. A direct message has one, its
        own."""

    async def check_edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> str:
        """Return the id of the canvas, in which `edit` could be made now."""

    async def edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> Canvas:
        """Change a canvas once, unless it has another title by now."""
