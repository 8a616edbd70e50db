"""`table` and `data_table` blocks read into one shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.dev.page.render.forms import as_dict, as_list
from bot.dev.page.render.text import clean

_ALIGN = ("left", "center", "right")


@dataclass(frozen=True)
class Cell:
    """One cell. `sort` is what the column sorts by, `numeric` whether as a number."""

    content: Any
    rich: bool
    numeric: bool
    sort: str


@dataclass(frozen=True)
class Table:
    """First row the header. `align[i]` is the i-th column's class; rows are as wide as the header."""

    header: list[Cell]
    rows: list[list[Cell]]
    align: list[str]


def read_table(block: Mapping[str, Any]) -> Table:
    """The table of a block; short rows are padded, overlong ones widen the table."""
    rows = [[_cell(cell) for cell in as_list(row)] for row in as_list(block.get("rows"))]
    width = max(map(len, rows), default=0)
    padded = [row + [_cell("")] * (width - len(row)) for row in rows]
    settings = [as_dict(setting) for setting in as_list(block.get("column_settings"))]
    return Table(
        header=padded[0] if padded else [],
        rows=padded[1:],
        align=[_alignment(i, settings, padded[1:]) for i in range(width)],
    )


def _alignment(column: int, settings: list[dict[str, Any]], rows: list[list[Cell]]) -> str:
    asked = settings[column].get("align") if column < len(settings) else None
    if asked in _ALIGN:
        return f"align-{asked}"
    filled = [row[column] for row in rows if row[column].sort]
    return "align-right" if filled and all(cell.numeric for cell in filled) else "align-left"


def _cell(cell: object) -> Cell:
    if not isinstance(cell, Mapping):
        text = clean(cell)
        return Cell(text, rich=False, numeric=False, sort=text)
    if cell.get("type") == "rich_text":
        return Cell(cell, rich=True, numeric=False, sort=_words(cell))
    if cell.get("type") == "raw_number":
        value = cell.get("value", cell.get("number"))
        shown = clean(cell.get("text") if cell.get("text") is not None else value)
        return Cell(shown, rich=False, numeric=True, sort=clean(value))
    text = clean(cell.get("text"))
    sort = _sortable(text)
    return Cell(text, rich=False, numeric=_is_number(sort), sort=sort)


def _sortable(text: str) -> str:
    """A number as people write it ("€1,234", "12 %") as its bare digits; words as they are."""
    bare = text.replace(",", "").strip("€$£¥% ")
    return bare if _is_number(bare) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _words(rich: Mapping[str, Any]) -> str:
    parts = [clean(rich.get("text") or "")]
    parts += [_words(part) for part in as_list(rich.get("elements")) if isinstance(part, Mapping)]
    return "".join(parts)
