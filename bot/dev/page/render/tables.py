"""`table` blocks read into one shape."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.dev.page.render.forms import as_dict, as_list
from bot.dev.page.render.text import clean

_ALIGN = ("left", "center", "right")


@dataclass(frozen=True)
class Cell:
    """A cell: `rich` says that `content` is a rich_text object, else it is a str."""

    content: Any
    rich: bool = False
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """A table: its first row is the header, `align` has the CSS class of each column."""

    header: list[Cell]
    rows: list[list[Cell]]
    align: list[str]


def read_table(block: Mapping[str, Any]) -> Table:
    """Return the table of a block; short rows are padded to the widest one."""
    rows = [[_cell(cell) for cell in as_list(row)] for row in as_list(block.get("rows"))]
    width = max(map(len, rows), default=0)
    padded = [row + [Cell("")] * (width - len(row)) for row in rows]
    settings = [as_dict(setting) for setting in as_list(block.get("column_settings"))]
    return Table(
        header=padded[0] if padded else [],
        rows=padded[1:],
        align=[_alignment(i, settings, padded[1:]) for i in range(width)],
    )


def _alignment(column: int, settings: list[dict[str, Any]], rows: list[list[Cell]]) -> str:
    align = settings[column].get("align") if column < len(settings) else None
    if align in _ALIGN:
        return f"align-{align}"
    filled = [row[column] for row in rows if row[column].content]
    return "align-right" if filled and all(cell.numeric for cell in filled) else "align-left"


def _cell(cell: object) -> Cell:
    if not isinstance(cell, Mapping):
        return Cell(clean(cell))
    if cell.get("type") == "rich_text":
        return Cell(cell, rich=True)
    text = clean(cell.get("text"))
    return Cell(text, numeric=_is_number(text))


def _is_number(text: str) -> bool:
    """Whether the text is a number as people write it: "€1,234", "12 %"."""
    try:
        float(text.replace(",", "").strip("€$£¥% "))
    except ValueError:
        return False
    return True
