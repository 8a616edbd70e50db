"""Columns of text to columns with types: in DuckDB, so that a million rows take seconds, and by rules of
ours, which look at the shapes of all values (1 for every digit but 0) and not at some of the rows."""

# ruff: noqa: S608 - the names in these statements are ours, the values quoted

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.services.parsing import dates
from bot.services.parsing.kinds import decimal_kind, is_exact, kind_of_texts
from bot.services.parsing.numerals import (
    NO_VALUE,
    Numerals,
    Style,
    doubtful_words,
    is_written_number,
    numerals,
    says_nothing,
    some_of,
)

TABLE = "cells"
"""A table of the text columns c0, c1, … in the connection."""

_SPACES = "' \t\u00a0\u202f\u2007'"
_MOST_SHAPES = 50_000
_MOST_INEXACT = 10_000


@dataclass(slots=True)
class TextColumn:
    """A column and how it is read: `sql` is text that is cast to `kind`, of the trimmed text `value`;
    `markers` say that there is no value; `style` is the notation chosen where both fit."""

    name: str
    at: int
    value: str = ""
    sql: str = ""
    kind: str = "VARCHAR"
    markers: Sequence[str] = ()
    numerals: Numerals | None = None
    style: Style | None = None
    doubt: str = ""

    def keep_as_text(self, doubt: str) -> None:
        self.kind, self.sql, self.doubt = "VARCHAR", "", doubt

    @property
    def read_as(self) -> str:
        """SQL for the cell in the column's type."""
        if not self.sql:
            return f"nullif(c{self.at}, '')"
        return f"CAST({self.sql} AS {self.kind})" if self.kind != "VARCHAR" else self.sql


def read_columns(
    connection: Any, names: Sequence[str], sample: Sequence[Sequence[str]], *, delimiter: str
) -> tuple[list[TextColumn], list[str]]:
    """Return how each column of `TABLE` is read, and notes on what people have to know of that.
    `sample` has the first values of each column, without blank ones."""
    columns = [
        TextColumn(name, at) if _is_text(values) else _looked_at(connection, TextColumn(name, at))
        for at, (name, values) in enumerate(zip(names, sample, strict=True))
    ]
    clear = {
        each.numerals.styles[0] for each in columns if each.numerals and each.numerals.is_clear
    }
    usual = Style.POINT if delimiter == "," and not clear else None
    usual = clear.pop() if len(clear) == 1 else usual
    for column in columns:
        if column.numerals is not None:
            _settle_notation(column, usual, is_local=delimiter == ";")
    _verify(connection, [each for each in columns if each.kind != "VARCHAR"])
    return columns, _notes(connection, columns)


def _unknown(_: str) -> bool:
    """Shapes do not tell whether floating point keeps their numbers; `_verify` asks the values."""
    return True


def _is_text(sample: Sequence[str]) -> bool:
    """Whether words are most of the first values; what is mostly something else is looked at."""
    plain = {"true", "false"}
    words = sum(
        not (says_nothing(each) or is_written_number(each) or dates.looks_like_one(each))
        and each.casefold() not in plain
        and ":" not in each
        for each in sample
    )
    return words * 2 > len(sample)


def _looked_at(connection: Any, column: TextColumn) -> TextColumn:
    """Read one column by the shapes of its values; numbers whose notation others tell are not yet."""
    text = f"trim(c{column.at}, {_SPACES})"
    rows = connection.execute(
        f"SELECT translate({text}, '23456789', '11111111') AS shape, min({text}), count(*) "
        f"FROM {TABLE} WHERE {text} <> '' GROUP BY shape LIMIT {_MOST_SHAPES}"
    ).fetchall()
    rest = {shape: (example, count) for shape, example, count in rows if not says_nothing(shape)}
    if len(rows) == _MOST_SHAPES:
        return column
    column.markers = sorted(example for shape, example, _ in rows if shape not in rest)
    column.value = _without(text, [shape for shape, _, _ in rows if shape not in rest])
    if not rest:
        column.sql = column.value if column.markers else ""
        return column
    column.kind, column.numerals = kind_of_texts(rest, _unknown), numerals(list(rest))
    if column.kind != "VARCHAR":
        column.sql = column.value
    elif column.numerals is None and not _read_days(connection, column):
        _tell_others(column, rest)
    return column


def _without(text: str, markers: Sequence[str]) -> str:
    """SQL for the text, NULL where it is blank or a marker; markers have no digits."""
    blank = ", ".join("'" + each.replace("'", "''") + "'" for each in ["", *markers])
    return f"CASE WHEN {text} NOT IN ({blank}) THEN {text} END"


def _tell_others(column: TextColumn, shapes: dict[str, tuple[str, int]]) -> None:
    """Say what keeps a column from being one of numbers or of days."""
    total = sum(count for _, count in shapes.values())
    others = {shape: each for shape, each in shapes.items() if not is_written_number(shape)}
    count = sum(count for _, count in others.values())
    if all(map(dates.looks_like_one, shapes)):
        column.doubt = "days that may be read in two ways, or are none"
    elif count == 0 and not all(map(str.isdecimal, shapes)):  # codes like 007 need no word
        column.doubt = "codes, or numbers of several currencies or notations"
    elif 0 < count * 2 < total:
        named = some_of([example for example, _ in others.values()][:3])
        column.doubt = f"{count:,} of {total:,} values are no number: {named}"


def _settle_notation(column: TextColumn, usual: Style | None, *, is_local: bool) -> None:
    """Read numbers in the notation that they show themselves, or else the rest of the file."""
    found = column.numerals
    assert found is not None  # noqa: S101 - the caller asked
    style = found.style or usual
    if style is None and column.kind != "VARCHAR" and not is_local:
        style = Style.POINT  # as programs write, and no column says otherwise
    if style is None:
        column.keep_as_text("with a decimal comma they are other numbers than without")
        return
    if not found.style:
        column.style = style
    if style is Style.COMMA or column.kind == "VARCHAR":
        column.sql = style.sql(column.value)
        column.kind = kind_of_texts([style.number(text) for text in found.texts], _unknown)


def _read_days(connection: Any, column: TextColumn) -> bool:
    """Read days and months as people write them, where all have one reading."""
    day, clock = f"regexp_extract({column.value}, '^[^ T]+')", f"contains({column.value}, ':')"
    rows = connection.execute(
        f"SELECT {day} AS day, bool_or({clock}), min({column.value}) FROM {TABLE} "
        f"WHERE {column.value} IS NOT NULL GROUP BY day LIMIT {_MOST_SHAPES}"
    ).fetchall()
    if len(rows) == _MOST_SHAPES or not all(dates.looks_like_one(text) for _, _, text in rows):
        return False
    sql = dates.iso_sql([day for day, _, _ in rows], column.value)
    if sql is None:
        return False
    column.sql = sql
    if "lpad" not in sql:  # months stay text
        column.kind = "TIMESTAMP" if any(clock for _, clock, _ in rows) else "DATE"
    return True


def _verify(connection: Any, columns: Sequence[TextColumn]) -> None:
    """Keep as text what is not of its kind after all, as 30 February; give numbers that floating
    point would round a DECIMAL."""
    for column in columns:
        inexact = (
            f"count(*) FILTER (WHERE length({column.sql}) > 16 AND "
            f"({column.sql})::DOUBLE::VARCHAR <> {column.sql})"
        )
        [(filled, cast, rounded)] = connection.execute(
            f"SELECT count({column.sql}), count(TRY_CAST({column.sql} AS {column.kind})), "
            f"{inexact if column.kind == 'DOUBLE' else 0} FROM {TABLE}"
        ).fetchall()
        if cast < filled:
            column.keep_as_text(f"{filled - cast:,} of {filled:,} values are no {column.kind}")
        elif rounded:
            _make_exact(connection, column)


def _make_exact(connection: Any, column: TextColumn) -> None:
    """Give a column of fractions a DECIMAL if floating point would lose digits of one."""
    number = f"ltrim({column.sql}, '+-')"
    rows = connection.execute(
        f"SELECT DISTINCT {column.sql} FROM {TABLE} WHERE length({column.sql}) > 16 "
        f"LIMIT {_MOST_INEXACT}"
    ).fetchall()
    if all(is_exact(text) for (text,) in rows) and len(rows) < _MOST_INEXACT:
        return
    [(whole, scale, exponents)] = connection.execute(
        f"SELECT max(length(split_part({number}, '.', 1))), max(length(split_part({number}, '.', 2))), "
        f"count(*) FILTER (WHERE contains(lower({number}), 'e')) FROM {TABLE}"
    ).fetchall()
    kind = decimal_kind(whole + scale, scale) if not exponents else "VARCHAR"
    if kind == "VARCHAR":
        column.keep_as_text("numbers with more digits than can be kept")
    column.kind = kind


def _notes(connection: Any, columns: Sequence[TextColumn]) -> list[str]:
    days, numbers, doubts, readings = list[str](), list[str](), list[str](), list[str]()
    for column in columns:
        if column.doubt:
            doubts.append(f"{column.name} ({_first(connection, column)}: {column.doubt})")
        elif column.sql and (changed := _first_changed(connection, column)):
            is_number = column.numerals is not None
            (numbers if is_number else days).append(f"{column.name} ({changed[0]} as {changed[1]})")
        if column.style and column.sql:
            other = next(each for each in Style if each is not column.style)
            first = _first(connection, column)
            read = f"{column.style.number(first)} or {other.number(first)}"
            readings.append(f"{column.name} ({first} may be {read}, the first was taken)")
    empty = [
        f"{each.name} ({', '.join(dict.fromkeys(each.markers))})"
        for each in columns
        if each.markers and each.sql
    ]
    said = (
        ("Read as empty", empty),
        ("Read as dates", days),
        ("Read as numbers", numbers),
        ("In two notations", readings),
        ("Kept as text", doubts),
    )
    found = [f"{what}: {some_of(told)}." for what, told in said if told]
    return [*found, *doubtful_words(_no_values(connection, columns))]


def _no_values(connection: Any, columns: Sequence[TextColumn]) -> dict[str, dict[str, int]]:
    """Count the words for no value in each column of words."""
    texts = [each for each in columns if not each.sql]
    if not texts:
        return {}
    words = ", ".join("'" + each.replace("'", "''") + "'" for each in sorted(NO_VALUE))
    counts = (f"histogram(c{each.at}) FILTER (lower(c{each.at}) IN ({words}))" for each in texts)
    [found] = connection.execute(f"SELECT {', '.join(counts)} FROM {TABLE}").fetchall()
    return {each.name: count or {} for each, count in zip(texts, found, strict=True)}


def _first(connection: Any, column: TextColumn) -> str:
    found = connection.execute(
        f"SELECT c{column.at} FROM {TABLE} WHERE {column.value} IS NOT NULL LIMIT 1"
    ).fetchall()
    return str(found[0][0]) if found else ""


def _first_changed(connection: Any, column: TextColumn) -> tuple[str, str] | None:
    if column.sql == column.value:
        return None
    found = connection.execute(
        f"SELECT {column.value}, {column.sql} FROM {TABLE} "
        f"WHERE {column.value} <> {column.sql} LIMIT 1"
    ).fetchall()
    return found[0] if found else None
