"""What a reader makes of a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Cell = object
"""None, bool, int, float, Decimal, str, bytes, or a date, time or datetime."""


class Unreadable(Exception):
    """The file cannot be read; the message says why and what to do instead."""


class EmptySheet(Unreadable):
    """There is no row with a value."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: every row is as wide as `columns`.

    `typed`: the cells' own types are meant, text that looks like a number is text. `notes` say
    what was odd in the file and what was done about it; `left_out` what the file has and the table
    has not, which is said of everything made of the table, too. A reader of large files writes the
    table itself; then it `is_written` and has no rows here.
    """

    name: str
    columns: list[str]
    rows: Sequence[Sequence[Cell]]
    typed: bool = False
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    is_written: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """Text, with `pages` if the format has them; `date` as the document states it; `left_out` as of
    a `Sheet`."""

    text: str
    title: str = ""
    date: str = ""
    pages: int | None = None
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
