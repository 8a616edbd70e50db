"""Canvases of a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from bot.core.errors import ToolError
from bot.toolkit import Canvas, CanvasEdit


@dataclass(frozen=True, slots=True)
class CaseCanvases:
    """The toolkit's `Canvases` for a case: one per channel, titled with the channel's name."""

    texts: Mapping[str, str]

    async def read(self, canvas: str | None) -> Canvas:
        name = (canvas or "").lstrip("#")
        if name not in self.texts:
            raise ToolError(
                f"There is no canvas {name}. Channels with one: {', '.join(self.texts)}."
            )
        return Canvas(
            f"F{name.upper()}", name, f"https://slack.example/docs/{name}", self.texts[name]
        )

    async def create(self, title: str, text: str, *, channel: str | None) -> NoReturn:  # noqa: ARG002 - the protocol's
        """Raise ToolError: cases change nothing."""
        raise ToolError("Nothing is written here: these are cases for an evaluation.")

    async def edit(self, canvas: str, edit: CanvasEdit, *, title: str) -> NoReturn:
        """Raise ToolError: cases change nothing."""
        await self.create(title, edit.text, channel=canvas)
