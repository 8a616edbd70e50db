"""Fields of an answer: the texts in which claims are looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_SKIPPED = frozenset(
    ["follow_ups", "gaps", "assumptions", "tone", "charts", "confidence", "corrects"]
)


class FieldKind(StrEnum):
    """How a field is read."""

    PROSE = "prose"
    CELL = "cell"
    ADDRESS = "address"
    QUOTE = "quote"  # all of it is a quote


@dataclass(frozen=True, slots=True)
class AnswerField:
    """One text of an answer.

    `path` is where it is: "key_points.0". For a cell, `row` is the first cell of its row and
    `column` the heading. For a quote or an address of a source, `source` is the source's title.
    """

    path: str
    text: str
    kind: FieldKind = FieldKind.PROSE
    row: str = ""
    column: str = ""
    source: str = ""


def fields_of(result: Mapping[str, Any]) -> list[AnswerField]:
    """Return the texts of a dumped result of any response type, in the order of its fields."""
    return [
        field
        for name, value in result.items()
        if name not in _SKIPPED
        for field in _fields(name, value)
    ]


def _fields(path: str, value: Any) -> Iterator[AnswerField]:
    match value:
        case str():
            is_address = path.rpartition(".")[2] in ("url", "link")
            yield AnswerField(path, value, FieldKind.ADDRESS if is_address else FieldKind.PROSE)
        case {"columns": [*columns], "rows": [*rows]}:
            yield from _fields(f"{path}.caption", value.get("caption"))
            yield from _cells(f"{path}.rows", columns, rows)
        case {"supports": _}:
            yield from _source(path, value)
        case dict():
            for name, item in value.items():
                yield from _fields(f"{path}.{name}", item)
        case list() | tuple():
            for at, item in enumerate(value):
                yield from _fields(f"{path}.{at}", item)
        case int() | float() if not isinstance(value, bool):
            yield AnswerField(path, str(value), FieldKind.CELL)
        case _:
            return


def _cells(path: str, columns: list[Any], rows: list[Any]) -> Iterator[AnswerField]:
    for at, written in enumerate(rows):
        row = written if isinstance(written, list | tuple) else [written]  # of a schema of theirs
        for n, cell in enumerate(row):
            heading = str(columns[n]) if n < len(columns) else ""
            yield AnswerField(f"{path}.{at}.{n}", str(cell), FieldKind.CELL, str(row[0]), heading)


def _source(path: str, source: Mapping[str, Any]) -> Iterator[AnswerField]:
    title = str(source.get("title") or "")
    kinds = {"supports": FieldKind.PROSE, "url": FieldKind.ADDRESS, "quote": FieldKind.QUOTE}
    for name, kind in kinds.items():
        if source.get(name):
            yield AnswerField(f"{path}.{name}", str(source[name]), kind, source=title)
