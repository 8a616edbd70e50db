"""What reading gives, a table (`Sheet`) or text (`Document`), and the errors of reading and writing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Cell = object
"""None, bool, int, float, Decimal, str, bytes, or a date, time or datetime."""


class Unreadable(Exception):
    """The file cannot be read; the message says why and what to do instead."""


class Unwritable(Exception):
    """The file cannot be made; the message says why and what to do instead."""


class EmptySheet(Unreadable):
    """The sheet has no row with a value."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table: every row is as wide as `columns`.

    `typed` means that cells keep their own types: text that looks like a number stays text. `notes`
    say what was odd in the file and how it was read. `left_out` names what the file has and the
    table lacks; everything derived from the table repeats it. A reader of large files writes the
    Parquet file itself: then `is_written` is true and `rows` is empty.
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
    """A text; `pages` is their number if the format has pages, `date` is as the document states it,
    and `left_out` names what was not read, as in `Sheet`."""

    text: str
    title: str = ""
    date: str = ""
    pages: int | None = None
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
