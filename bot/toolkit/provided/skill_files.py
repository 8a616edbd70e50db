"""The files of skills, for tools."""

from __future__ import annotations

from typing import Protocol


class SkillFiles(Protocol):
    """Reads the files that belong to the skills of this deployment."""

    async def read(self, skill: str, path: str) -> bytes:
        """Return the content of a file. Raises ToolError, naming the files that there are, for another."""
        ...

    async def text(self, skill: str, path: str) -> str:
        """Return the content of a text file. Raises ToolError as `read`, and if it is no text."""
        ...
