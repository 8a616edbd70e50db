"""The figures in the unseen answers: what each was worked out from, and how it is written.

A marked figure is `[[3,81 Mrd.|q1[Asia].pop|n2/1e9 Mrd.]]`: the text of the answer, the expression that
it comes from, and its form. In an expression `q1[Asia].pop` is a cell of the table that call 1 showed:
the row with that cell (or one that begins so; `/` joins several cells; `#0` is a row by number), and a
column; `q1.pop` is the whole column. `q0p[units].mean` is the profile that call 0 showed, and
`q1b` its second table. An expression that is one cell was read; any other is arithmetic in the head.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from typing import Any

MARK = re.compile(r"\[\[([^\[\]|]*(?:\[[^\]]*\][^\[\]|]*)*)\|((?:[^|\[\]]|\[[^\]]*\])*)(?:\|([^|\]]*))?\]\]")
CELL = re.compile(r"q(\d+)([pb]?)\[([^\]]*)\]\.('[^']*'|[A-Za-z_][\w.]*|\d{4}(?!\d))")
COLUMN = re.compile(r"q(\d+)([pb]?)\.('[^']*'|[A-Za-z_][\w]*)")
REFERENCE = re.compile(
    r"\{\{(?P<handle>[a-z]{3}_[0-9a-z]{6})\.(?P<column>\"[^\"]*\"|[^.\[\]|}]+)"
    r"(?:\[(?P<key>[^\]]+)\])?(?:\|(?P<form>[^}]*))?\}\}"
)

Table = list[dict[str, Any]]


def tables(entry: dict[str, Any]) -> dict[str, Table]:
    """Return the tables that an output shows: "" the first, "b" the second, "p" the profile."""
    text = entry["text"]
    if text.startswith(("[", "{")):
        value = json.loads(text)
        return {"": value if isinstance(value, list) else [value]}
    shown: dict[str, Table] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        name = None
        if line == "profile:":
            name = "p"
        elif re.fullmatch(r"first \d+ rows:", line) or (
            line.startswith("columns:") and "profile:" not in lines
        ):
            name = "b" if "" in shown else ""
        if name is not None and not (name == "p" and "p" in shown):
            body = lines[number + 1 :]
            end = next(
                (n for n, row in enumerate(body) if not row or row.startswith(("first ", "[rows", "note:"))),
                len(body),
            )
            shown[name] = list(csv.DictReader(io.StringIO("\n".join(body[:end]))))
    return shown


class World:
    """The outputs of a world, and the figures in them."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self.entries = entries
        self.tables = [tables(entry) for entry in entries]

    def table(self, call: int, which: str = "") -> Table:
        return self.tables[call][which]

    def row(self, call: int, which: str, key: str) -> dict[str, Any]:
        rows = self.table(call, which)
        if key.startswith("#"):
            return rows[int(key[1:])]
        parts = key.split("/")
        exact = [row for row in rows if str(next(iter(row.values()))) == key]
        if exact:
            return exact[0] if len(exact) == 1 else self._several(call, key)
        exact = [row for row in rows if all(part in map(str, row.values()) for part in parts)]
        if not exact:
            exact = [row for row in rows if str(next(iter(row.values()))).startswith(key)]
        if not exact:
            exact = [row for row in rows if any(str(value).startswith(key) for value in row.values())]
        if len(exact) != 1:
            raise LookupError(f"{len(exact)} rows with {key} in call {call}")
        return exact[0]

    def _several(self, call: int, key: str) -> dict[str, Any]:
        raise LookupError(f"several rows with {key} in call {call}")

    def value(self, expression: str) -> Any:
        """Return what an expression comes to: a Decimal, or the text of a cell."""
        if match := CELL.fullmatch(expression):
            text = self.row(int(match[1]), match[2], match[3])[match[4].strip("'")]
            try:
                return Decimal(str(text))
            except ArithmeticError:
                return text
        code = CELL.sub(lambda m: f"Decimal('{self.row(int(m[1]), m[2], m[3])[m[4].strip(chr(39))]}')", expression)
        code = COLUMN.sub(lambda m: "[" + ",".join(
            f"Decimal('{row[m[3].strip(chr(39))]}')" for row in self.table(int(m[1]), m[2])) + "]", code)
        code = re.sub(r"(?<![\w'.])(?<!'-)(\d+(?:\.\d+)?(?:e\d+)?)(?![\w'])", r"Decimal('\1')", code)
        return eval(code, {"Decimal": Decimal, "sum": sum, "len": lambda v: Decimal(len(v)), "min": min,
                           "max": max, "abs": abs})


def is_cell(expression: str) -> bool:
    return CELL.fullmatch(expression) is not None


_MARKS = {"en": (",", "."), "de": (".", ","), "fr": ("\u202f", ","), "es": (".", ","), "pt": (".", ","), "ja": (",", ".")}
_PERCENT = {"en": "%", "de": "\u00a0%", "fr": "\u202f%", "es": "\u00a0%", "pt": "%", "ja": "%"}


def _grouped(digits: str, separator: str) -> str:
    return re.sub(r"(?<=\d)(?=(?:\d{3})+$)", separator, digits)


def written(value: Any, form: str, language: str, rounding: str = ROUND_HALF_UP) -> str:
    """Return a figure as the form says: `n2` grouped with two decimals, `r0` not grouped, `p1` per cent, `P1` a share
    as per cent, `j` Japanese 億 and 万, `t` as it stands; `+` before it shows the sign; `/1e9` scales;
    `s`, `S`, `d` before the digits choose a space, a no-break space, a dot to group. `=…` is the
    text itself. The rest is added as it is."""
    if form.startswith("="):
        return form[1:]
    match = re.fullmatch(r"(\+?)([sSd]?)([nrpPtj])(\d?)(?:/(1e\d+))?(.*)", form, re.S)
    if match is None:
        raise ValueError(form)
    sign, style, kind, places, scale, suffix = match.groups()
    if kind == "t":
        return f"{value}{suffix}"
    value = Decimal(value)
    if kind == "P":
        value *= 100
    if scale:
        value /= Decimal(scale)
    if kind == "j":
        whole = int((abs(value) / 10000).quantize(Decimal(1), rounding)) if abs(value) >= 10000 else None
        if whole is None:
            return f"{_grouped(str(int(value)), ',')}{suffix}"
        high, low = divmod(whole, 10000)
        text = (f"{high}億" if high else "") + (f"{_grouped(str(low), ',')}万" if low else "")
        return ("-" if value < 0 else "") + text + suffix
    number = value.quantize(Decimal(1).scaleb(-int(places or 0)), rounding)
    separator, point = _MARKS[language]
    separator = {"s": " ", "S": "\u00a0", "d": "."}.get(style, separator)
    whole_part, _, decimals = str(abs(number)).partition(".")
    text = (whole_part if kind == "r" else _grouped(whole_part, separator)) + (point + decimals if decimals else "")
    text = ("-" if number < 0 else "+" if sign else "") + text
    return text + (_PERCENT[language] if kind in "pP" else "") + suffix
