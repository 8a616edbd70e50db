"""The service that runs programs which the model writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.tool import ToolResult


class Programs(Protocol):
    """Runs Python programs, each in a process of its own that the kernel closes."""

    async def run(
        self,
        program: str,
        artifacts: Artifacts,
        arguments: Sequence[str] | None = None,
        modules: Mapping[str, bytes] = MappingProxyType({}),
    ) -> ToolResult:
        """Run a program over the artifacts whose handles it names, and return what came of it.

        With `arguments`, it is a script that finds these in `sys.argv`; in the place of a handle among
        them is the name of a file: of a table as CSV, of any other artifact as it is. It may import
        `modules`: Python files, by their paths.

        What it leaves is saved in `artifacts`: its tables, figures and files. A mistake of the program
        is in the result. Raises ToolError for a handle that does not exist, and for a program that took
        too long or too much.
        """
        ...
