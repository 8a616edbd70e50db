"""The marked figures of the unseen answers: what each was worked out from, and how it is written.

A marked figure is `[[3,81 Mrd.|q1[Asia].pop|n2/1e9 Mrd.]]`: the text in the answer, the expression that
it comes from, and its form. In an expression `q1[Asia].pop` is a cell of the table that call 1 showed: the
row that begins so or has such a cell (`/` joins several cells, `#0` is a row by number), and a column.
`q1.pop` is the whole column, `q0p[units].mean` the profile that call 0 showed, `q1b` its second table.
An expression that is one cell was read; any other one is arithmetic in the head.
"""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

_WITH_CELLS = r"(?:[^\[\]|]|\[[^\]]*\])*"
MARK = re.compile(rf"\[\[({_WITH_CELLS})\|({_WITH_CELLS})\|([^|\]]*)\]\]")
REFERENCE = re.compile(
    r"\{\{(?P<handle>[a-z]{3}_[0-9a-z]{6})\.(?P<column>\"[^\"]*\"|[^.\[\]|}]+)"
    r"(?:\[(?P<key>[^\]]+)\])?(?:\|(?P<form>[^}]*))?\}\}"
)
CELL = re.compile(r"q(\d+)([pb]?)\[([^\]]*)\]\.('[^']*'|[A-Za-z_][\w.]*|\d{4}(?!\d))")
_COLUMN = re.compile(r"q(\d+)([pb]?)\.('[^']*'|[A-Za-z_]\w*)")
_LITERAL = re.compile(r"(?<![\w'.])(?<!'-)(\d+(?:\.\d+)?(?:e\d+)?)(?![\w'])")
_FORM = re.compile(r"(\+?)(S?)([nrpPtj])(\d?)(?:/(1e\d+))?(.*)", re.DOTALL)
_SEPARATORS = {
    "en": (",", "."),
    "de": (".", ","),
    "fr": ("\u202f", ","),
    "es": (".", ","),
    "pt": (".", ","),
    "ja": (",", "."),
}
_PERCENT = {"de": "\u00a0%", "fr": "\u202f%", "es": "\u00a0%"}
_FUNCTIONS: dict[str, Any] = {
    "Decimal": Decimal,
    "abs": abs,
    "len": lambda values: Decimal(len(values)),
    "sum": sum,
}

Table = list[dict[str, Any]]


def tables(text: str) -> dict[str, Table]:
    """Return the tables that an output shows: "" the first, "b" the second, "p" the profile."""
    if text.startswith(("[{", "[\n", "{")):
        value = json.loads(text)
        return {"": value if isinstance(value, list) else [value]}
    lines = text.split("\n")
    shown: dict[str, Table] = {}
    for number, line in enumerate(lines):
        rows_follow = re.fullmatch(r"first \d+ rows:", line) or (
            line.startswith("columns:") and "profile:" not in lines
        )
        if line == "profile:":
            shown.setdefault("p", _table(lines[number + 1 :]))
        elif rows_follow:
            shown["b" if "" in shown else ""] = _table(lines[number + 1 :])
    return shown


def _table(lines: list[str]) -> Table:
    behind = ("first ", "[rows", "note:")
    ends = (n for n, line in enumerate(lines) if not line or line.startswith(behind))
    return list(csv.DictReader(io.StringIO("\n".join(lines[: next(ends, len(lines))]))))


class Outputs:
    """The outputs of a world, and the figures in them."""

    def __init__(self, texts: list[str]) -> None:
        self._tables = [tables(text) for text in texts]

    def value(self, expression: str) -> Any:
        """Return what an expression comes to: a Decimal, or the text of a cell."""
        if match := CELL.fullmatch(expression):
            text = self._cell(match)
            return Decimal(text) if re.fullmatch(r"-?\d+(\.\d+)?", text) else text
        code = CELL.sub(lambda match: f"Decimal('{self._cell(match)}')", expression)
        code = _COLUMN.sub(self._column, code)
        code = _LITERAL.sub(r"Decimal('\1')", code)
        return eval(code, _FUNCTIONS)  # expressions of this folder only

    def table(self, call: int, which: str = "") -> Table:
        """Return a table that a call showed."""
        return self._tables[call][which]

    def _cell(self, match: re.Match[str]) -> str:
        return str(self._row(self._tables[int(match[1])][match[2]], match[3])[match[4].strip("'")])

    def _column(self, match: re.Match[str]) -> str:
        rows = self._tables[int(match[1])][match[2]]
        name = match[3].strip("'")
        return "[" + ",".join(f"Decimal('{row[name]}')" for row in rows) + "]"

    @staticmethod
    def _row(rows: Table, key: str) -> dict[str, Any]:
        if key.startswith("#"):
            return rows[int(key[1:])]
        cells = [[str(cell) for cell in row.values()] for row in rows]
        parts = key.split("/")
        for fits in (
            lambda row: row[0] == key,
            lambda row: all(part in row for part in parts),
            lambda row: row[0].startswith(key),
            lambda row: any(cell.startswith(key) for cell in row),
        ):
            fitting = [n for n, row in enumerate(cells) if fits(row)]
            if len(fitting) == 1:
                return rows[fitting[0]]
            if fitting:
                break
        raise LookupError(f"not exactly one row with {key}")


def is_cell(expression: str) -> bool:
    """Return whether an expression is one cell."""
    return CELL.fullmatch(expression) is not None


def written(value: Any, form: str, language: str, rounding: str = ROUND_HALF_UP) -> str:
    """Return a figure as its form says.

    `n2` is grouped with two decimals, `r0` not grouped, `p1` per cent, `P1` a share as per cent, `j` in 億
    and 万, `t` as it stands. `+` before it shows the sign, `/1e9` after it scales, and the rest of the form
    is put behind the figure. `=…` is the text itself: it was compared by eye.
    """
    if form.startswith("="):
        return form[1:]
    match = _FORM.fullmatch(form)
    if match is None:
        raise ValueError(form)
    sign, _, kind, places, scale, behind = match.groups()
    if kind == "t":
        return f"{value}{behind}"
    value = Decimal(value) * (100 if kind == "P" else 1) / Decimal(scale or 1)
    if kind == "j":
        high, low = divmod(int((value / 10000).quantize(Decimal(1), rounding)), 10000)
        return (f"{high}億" if high else "") + (f"{low:,}万" if low else "") + behind
    number = value.quantize(Decimal(1).scaleb(-int(places or 0)), rounding)
    separator, point = _SEPARATORS[language]
    whole, _, decimals = str(abs(number)).partition(".")
    if kind != "r":
        whole = re.sub(r"(?<=\d)(?=(?:\d{3})+$)", separator, whole)
    text = ("-" if number < 0 else sign) + whole + (point + decimals if decimals else "")
    return text + (_PERCENT.get(language, "%") if kind in "pP" else "") + behind
