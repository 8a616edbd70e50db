"""What a reader makes of a file, in one form for all readers: ours through the job that tools run."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.library.documents.file_kinds import kind_of
from bot.library.documents.reading.files import read
from bot.library.documents.reading.tabular import connect
from bot.library.documents.results import Unreadable
from bot.library.isolated import Refused


@dataclass(frozen=True)
class Table:
    """A sheet of a workbook, or the one table of a file (`name` ""); every column has all rows."""

    name: str
    names: list[str]
    columns: list[list[Any]]
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0


@dataclass(frozen=True)
class Reading:
    """Tables or a text, or the sentence with which the file was refused."""

    tables: list[Table] = field(default_factory=list)
    text: str = ""
    refusal: str = ""


def ours(data: bytes, name: str) -> Reading:
    """Read a file as the tools do, but in this process: the job is the same."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("input").write_bytes(data)
        try:
            found = read(kind_of(name, "", data), name, sheet=None, pages=None)
        except (Unreadable, Refused) as error:
            return Reading(refusal=str(error))
        if "document" in found:
            return Reading(text=Path("text").read_text("utf-8"))
        return Reading([_kept(f"{at}.parquet", **each) for at, each in enumerate(found["tables"])])


def _kept(parquet: str, name: str, notes: list[str], left_out: list[str]) -> Table:
    with connect() as connection:
        result = connection.execute(f"SELECT * FROM read_parquet('{parquet}')")
        names = [each[0] for each in result.description]
        rows = result.fetchall()
    columns = [list(cells) for cells in zip(*rows, strict=True)] or [[] for _ in names]
    return Table(name, names, columns, [*notes, *left_out])
