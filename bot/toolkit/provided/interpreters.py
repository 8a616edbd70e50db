"""The service that reads what the model writes in a language of its own: units, patterns, expressions."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Conversion(NamedTuple):
    """A converted value; `units` are the library's names of the units in it."""

    value: float
    units: tuple[str, ...]


class JsonSelection(NamedTuple):
    """What an expression selects from JSON: as JSON, and as a table if it is one."""

    json: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()


class Matches(NamedTuple):
    """The matches of a pattern, a row each, which begins with the line's number from 1."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


class Interpreters(Protocol):
    """Runs foreign interpreters in a process with limits of time and memory.

    Each method raises ToolError for what cannot be read, and for what takes too long or too much.
    """

    async def convert(self, value: float, source: list[str], target: list[str]) -> Conversion:
        """Convert between units. Each side lists the readings of a unit, the likeliest first; the first
        two of the same kind are used."""
        ...

    async def select(self, text: str, expression: str) -> JsonSelection:
        """Evaluate a JMESPath expression on JSON."""
        ...

    async def matching_lines(self, text: str, pattern: str) -> list[int]:
        """Return the indexes from 0 of the lines that match a regular expression, in any case."""
        ...

    async def matches(self, text: str, pattern: str) -> Matches:
        """Collect every match of a regular expression; named groups become columns."""
        ...
