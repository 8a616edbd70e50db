"""Per cent and currency signs of a workbook, which are in the number formats and not in the values."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from bot.services.parsing.numerals import join_some
from bot.services.parsing.results import Cell, Sheet

_LOCALE_CURRENCY = re.compile(r"\[\$([^\]-]*)[^\]]*\]")
"""A currency as `[$€-407]`; `[$-407]` has none."""


@dataclass(frozen=True, slots=True)
class NumberSigns:
    """The signs shown with the numbers of each column, by column index."""

    by_column: defaultdict[int, set[str]] = field(default_factory=lambda: defaultdict(set))

    def record(self, row: Sequence[Any]) -> None:
        """Record the signs in a row of openpyxl cells."""
        for index, cell in enumerate(row):
            if _is_number(cell.value):
                self.by_column[index].add(
                    _sign_of_format(cell.number_format) if cell.has_style else ""
                )

    def apply_to(self, sheet: Sheet) -> Sheet:
        """Return the sheet with 10 where 0.1 is shown as 10%, and notes on these and on currencies."""
        columns: list[Sequence[Cell]] = list(zip(*sheet.rows, strict=True))
        changes = []
        for index, cells in enumerate(columns):
            sign, *others = self.by_column[index] or {""}
            if not sign or others:
                continue
            if sign == "%":
                columns[index] = [_hundredfold(cell) for cell in cells]
            first = next(filter(_is_number, columns[index]), None)
            if first is not None:
                written = f"{first}%" if sign == "%" else f"{sign}{first}"
                changes.append(f"{sheet.columns[index]} ({written} as {first})")
        if not changes:
            return sheet
        note = f"Read as numbers: {join_some(changes)}."
        return replace(sheet, rows=list(zip(*columns, strict=True)), notes=[*sheet.notes, note])


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _hundredfold(cell: Cell) -> Cell:
    if not isinstance(cell, int | float) or isinstance(cell, bool):
        return cell
    hundredfold = float(f"{cell * 100:.12g}")
    return int(hundredfold) if hundredfold.is_integer() else hundredfold


@cache
def _sign_of_format(form: str) -> str:
    """Return the sign in a format such as `0.0%` or `#,##0 "€"`; "" without one."""
    from openpyxl.styles.numbers import is_builtin

    plain = _LOCALE_CURRENCY.sub(r"\1", form)
    sign = next((c for c in plain if c == "%" or unicodedata.category(c) == "Sc"), "")
    # Excel shows built-in currency formats in the currency of the person who looks.
    return "" if sign != "%" and is_builtin(form) else sign
