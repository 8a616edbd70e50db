"""The files of skills, for tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class SkillFiles(Protocol):
    """Reads the files that belong to the skills of this deployment."""

    async def read(self, skill: str, path: str) -> bytes:
        """Return the content of a file. Raises ToolError, naming the files that there are, for another."""
        ...

    async def modules(self, skill: str, path: str) -> Mapping[str, bytes]:
        """Return the other Python files of a skill, by the paths at which the script at `path` imports
        them: from its own folder, and from that of the skill. {} if they have more than 1 MiB.

        Raises ToolError for a file that has changed.
        """
        ...

    async def text(self, skill: str, path: str) -> str:
        """Return the content of a text file. Raises ToolError as `read`, and if it is no text."""
        ...
