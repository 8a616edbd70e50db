"""Columns of text to columns with types: in DuckDB, so that a million rows take seconds, and by rules of
ours, which hold for all values and not for some of the rows.

Most columns are of one plain form, which the first rows show and one pass over all columns confirms.
Of the others the rules see the shapes of all values: 1 for every digit but 0.
"""

# ruff: noqa: S608 - the names in these statements are ours, the values quoted

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.services.parsing import dates
from bot.services.parsing.kinds import decimal_kind, is_exact, kind_of_texts
from bot.services.parsing.numerals import (
    MOST_TOLD,
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

_SPACES = " \t\u00a0\u202f\u2007"
_MOST_SHAPES = 50_000
_LOOKED_AT, _MOST_INEXACT = 100, 10_000
"""Numbers that floating point may round: of all columns at once, and of one where these do not tell."""
_CELLS, _COLUMNS = 1_000_000, 25
"""Of one statement: more columns at once take DuckDB too long, and more cells too much memory."""

_DAY = r"(?:[1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])-(?:0[1-9]|[1-9]\d)-(?:0[1-9]|[1-9]\d)"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?"
_PLAIN = {
    "BIGINT": r"[-+]?(?:0|[1-9]\d{0,17})",
    "DOUBLE": r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?",
    "DATE": _DAY,
    "TIMESTAMP": rf"{_DAY}(?:[ T]{_CLOCK})?",
    "TIMESTAMP WITH TIME ZONE": rf"{_DAY}[ T]{_CLOCK}(?:Z|[-+]\d\d(?::?\d\d)?)",
    "BOOLEAN": "[Tt]rue|TRUE|[Ff]alse|FALSE",
}
"""Forms of a column in which each value is of that kind by the rules, whatever the others are."""

_DIGITS = str.maketrans("23456789", "11111111")


@dataclass(slots=True)
class TextColumn:
    """A column and how it is read: `sql` is text that is cast to `kind`, of the trimmed text `value`;
    `markers` say that there is no value; `style` is the notation chosen where both fit; `doubt`, with
    examples of the shapes `others`, is why it stays text."""

    name: str
    at: int
    value: str = ""
    sql: str = ""
    kind: str = "VARCHAR"
    markers: Sequence[str] = ()
    numerals: Numerals | None = None
    style: Style | None = None
    doubt: str = ""
    others: Sequence[str] = ()

    def keep_as_text(self, doubt: str) -> None:
        self.kind, self.sql, self.doubt = "VARCHAR", "", doubt

    @property
    def cell(self) -> str:
        return f"c{self.at}"

    @property
    def read_as(self) -> str:
        """SQL for the cell in the column's type."""
        if not self.sql:
            return f"nullif({self.cell}, '')"
        return f"CAST({self.sql} AS {self.kind})" if self.kind != "VARCHAR" else self.sql


def read_columns(
    connection: Any, names: Sequence[str], sample: Sequence[Sequence[str]], *, delimiter: str
) -> tuple[list[TextColumn], list[str]]:
    """Return how each column of `TABLE` is read, and notes on what people have to know of that.
    `sample` has the first values of each column, without blank ones."""
    columns = [TextColumn(name, at) for at, name in enumerate(names)]
    looked_at = [each for each in columns if not _is_text(sample[each.at])]
    plain = _read_plain(connection, [each for each in looked_at if _expect(each, sample[each.at])])
    _read_shapes(connection, [each for each in looked_at if each.at not in plain])
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


def _asked(
    connection: Any, columns: Sequence[TextColumn], sql: Callable[[TextColumn], str]
) -> Iterator[tuple[TextColumn, Any]]:
    """Yield each column with the aggregate `sql` of it: one statement asks for those of many."""
    for some in _slices(connection, columns):
        asked = ", ".join(map(sql, some))
        values = connection.execute(f"SELECT {asked} FROM {TABLE}").fetchone()
        yield from zip(some, values, strict=True)


def _counted(
    connection: Any, columns: Sequence[TextColumn], sql: Callable[[TextColumn], str]
) -> dict[int, dict[str, int]]:
    """Return the texts that `sql` makes of each column, by its place, and how often. A column of too
    many texts has none."""
    counted: dict[int, dict[str, int]] = {}
    for some in _slices(connection, columns):
        places = ", ".join(str(each.at) for each in some)
        texts = ", ".join(map(sql, some))
        cells = f"SELECT unnest([{places}]) AS place, unnest([{texts}]) AS text FROM {TABLE}"
        rows = connection.execute(
            f"WITH found AS MATERIALIZED (SELECT place, text, count(*) AS times FROM ({cells}) "
            f"WHERE text <> '' GROUP BY ALL) SELECT * FROM found WHERE place IN "
            f"(SELECT place FROM found GROUP BY place HAVING count(*) < {_MOST_SHAPES})"
        ).fetchall()
        for place, text, times in rows:
            counted.setdefault(place, {})[text] = times
    return counted


def _slices(connection: Any, columns: Sequence[TextColumn]) -> Iterator[Sequence[TextColumn]]:
    [rows] = connection.execute(f"SELECT count(*) FROM {TABLE}").fetchone()
    size = max(1, min(_COLUMNS, _CELLS // max(rows, 1)))
    return (columns[at : at + size] for at in range(0, len(columns), size))


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


def _expect(column: TextColumn, sample: Sequence[str]) -> bool:
    """Read a column by its first values. False where later ones may lead to another reading though
    they are of the same form."""
    shapes = {each.translate(_DIGITS) for each in sample}
    column.kind, column.numerals = kind_of_texts(shapes, _unknown), numerals(list(shapes))
    is_clear = column.numerals is not None and column.numerals.is_clear
    column.value = column.sql = f"nullif({column.cell}, '')"
    return column.kind in _PLAIN and (column.kind != "DOUBLE" or is_clear)


def _read_plain(connection: Any, columns: Sequence[TextColumn]) -> set[int]:
    """Return the places of the columns whose values are all of the plain form of their kind."""

    def others(column: TextColumn) -> str:
        is_plain = f"regexp_full_match({column.cell}, '{_PLAIN[column.kind]}')"
        return f"count(*) FILTER (WHERE {column.cell} <> '' AND NOT {is_plain})"

    return {column.at for column, count in _asked(connection, columns, others) if count == 0}


def _read_shapes(connection: Any, columns: Sequence[TextColumn]) -> None:
    """Read columns by the shapes of their values; numbers whose notation others tell are not yet."""
    spaced = f"'^[{_SPACES}]|[{_SPACES}]$'"
    for column, is_spaced in _asked(
        connection, columns, lambda each: f"bool_or(regexp_matches({each.cell}, {spaced}))"
    ):
        column.value = f"trim({column.cell}, '{_SPACES}')" if is_spaced else column.cell
    shapes = _counted(connection, columns, lambda each: _shape(each.value))
    days = []
    for column in columns:
        found = shapes.get(column.at, {})
        rest = {shape: count for shape, count in found.items() if not says_nothing(shape)}
        column.kind, column.numerals, column.sql = "VARCHAR", None, ""
        if not found:
            continue
        column.markers = sorted(found.keys() - rest.keys())  # which have no digits
        column.value = _without(column.value, column.markers)
        if not rest:
            column.sql = column.value
            continue
        column.kind, column.numerals = kind_of_texts(rest, _unknown), numerals(list(rest))
        if column.kind != "VARCHAR":
            column.sql = column.value
        elif column.numerals is None:
            days.append((column, rest))
    _read_days(
        connection, [each for each, rest in days if all(map(dates.may_be_one, rest))], shapes
    )
    for column, rest in days:
        if not column.sql:
            _tell_others(column, rest)


def _shape(text: str) -> str:
    """SQL for a text with 1 for 2 to 9. A fraction's digits after the eighth tell nothing."""
    short = rf"regexp_replace({text}, '([.,]\d{{8}})\d+', '\1')"
    return (
        f"translate(CASE WHEN length({text}) > 10 THEN {short} ELSE {text} END, "
        "'23456789', '11111111')"
    )


def _without(text: str, markers: Sequence[str]) -> str:
    """SQL for the text, NULL where it is blank or a marker."""
    blank = ", ".join("'" + each.replace("'", "''") + "'" for each in ["", *markers])
    return f"CASE WHEN {text} NOT IN ({blank}) THEN {text} END"


def _tell_others(column: TextColumn, shapes: dict[str, int]) -> None:
    """Say what keeps a column from being one of numbers or of days."""
    total = sum(shapes.values())
    others = [shape for shape in sorted(shapes) if not is_written_number(shape)]
    count = sum(shapes[each] for each in others)
    if all(map(dates.looks_like_one, shapes)):
        column.doubt = "days that may be read in two ways, or are none"
    elif count == 0 and not all(map(str.isdecimal, shapes)):  # codes like 007 need no word
        column.doubt = "codes, or numbers of several currencies or notations"
    elif 0 < count * 2 < total:
        column.doubt, column.others = f"{count:,} of {total:,} values are no number", others[:3]


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


def _read_days(
    connection: Any, columns: Sequence[TextColumn], shapes: dict[int, dict[str, int]]
) -> None:
    """Read days and months as people write them, where all have one reading."""
    found = _counted(connection, columns, lambda each: f"regexp_extract({each.value}, '^[^ T]+')")
    for column in columns:
        days = list(found.get(column.at, ()))
        if not days or not all(map(dates.looks_like_one, days)):
            continue
        sql = dates.iso_sql(days, column.value)
        if sql is None:
            continue
        column.sql = sql
        if "lpad" not in sql:  # months stay text
            is_timed = any(":" in shape for shape in shapes[column.at])
            column.kind = "TIMESTAMP" if is_timed else "DATE"


def _verify(connection: Any, columns: Sequence[TextColumn]) -> None:
    """Keep as text what is not of its kind after all, as 30 February; give numbers that floating
    point would round a DECIMAL."""

    def counts(column: TextColumn) -> str:
        cast = f"TRY_CAST({column.sql} AS {column.kind})"
        first = f"min({column.sql}, {_LOOKED_AT}) FILTER ({_is_rounded(column.sql)})"
        rounded = first if column.kind == "DOUBLE" else "[]"
        return f"{{'filled': count({column.sql}), 'cast': count({cast}), 'rounded': {rounded}}}"

    inexact = []
    for column, found in list(_asked(connection, columns, counts)):
        filled, lost = found["filled"], found["filled"] - found["cast"]
        if lost:
            column.keep_as_text(f"{lost:,} of {filled:,} values are no {column.kind}")
        elif _loses_digits(connection, column, found["rounded"] or []):
            inexact.append(column)
    _make_exact(connection, inexact)


def _is_rounded(number: str) -> str:
    """SQL for whether a number is written otherwise than floating point writes it, but for zeros at
    its end: then digits of it may be lost."""
    kept = f"rtrim(TRY_CAST({number} AS DOUBLE)::VARCHAR, '0')"
    return f"length({number}) > 16 AND {kept} <> rtrim({number}, '0')"


def _loses_digits(connection: Any, column: TextColumn, some: Sequence[str]) -> bool:
    """Whether floating point would lose digits of a value. `some` are the first that may be such; all
    are asked for only where these do not tell."""
    if len(some) < _LOOKED_AT or not all(map(is_exact, some)):
        return not all(map(is_exact, some))
    rows = connection.execute(
        f"SELECT DISTINCT {column.sql} FROM {TABLE} WHERE {_is_rounded(column.sql)} "
        f"LIMIT {_MOST_INEXACT}"
    ).fetchall()
    return len(rows) == _MOST_INEXACT or not all(is_exact(text) for (text,) in rows)


def _make_exact(connection: Any, columns: Sequence[TextColumn]) -> None:
    """Give columns of fractions of which floating point would lose digits a DECIMAL."""

    def longest(column: TextColumn) -> str:
        number = f"ltrim({column.sql}, '+-')"
        whole, scale = (f"max(length(split_part({number}, '.', {part})))" for part in (1, 2))
        return f"[{whole}, {scale}, count(*) FILTER (contains(lower({number}), 'e'))]"

    for column, (whole, scale, exponents) in list(_asked(connection, columns, longest)):
        kind = decimal_kind(whole + scale, scale) if not exponents else "VARCHAR"
        if kind == "VARCHAR":
            column.keep_as_text("numbers with more digits than can be kept")
        column.kind = kind


def _notes(connection: Any, columns: Sequence[TextColumn]) -> list[str]:
    read = [each for each in columns if each.sql]
    changed = [each for each in read if each.sql != each.value]
    said = (
        ("Read as empty", [each for each in read if each.markers], _markers),
        ("Read as dates", [each for each in changed if not each.numerals], _change),
        ("Read as numbers", [each for each in changed if each.numerals], _change),
        ("In two notations", [each for each in read if each.style], _readings),
        ("Kept as text", [each for each in columns if each.doubt], _doubt),
    )
    notes = []
    for what, found, words in said:
        # Words for those alone that are told.
        told = [text for each in found[:MOST_TOLD] if (text := words(connection, each))]
        if told:
            more = [each.name for each in found[MOST_TOLD:]]
            notes.append(f"{what}: {some_of([*told, *more])}.")
    return [*notes, *doubtful_words(_no_values(connection, columns))]


def _no_values(connection: Any, columns: Sequence[TextColumn]) -> dict[str, dict[str, int]]:
    """Count the words for no value in each column of words."""
    words = ", ".join("'" + each.replace("'", "''") + "'" for each in sorted(NO_VALUE))
    counts = _asked(
        connection,
        [each for each in columns if not each.sql],
        lambda each: f"histogram({each.cell}) FILTER (lower({each.cell}) IN ({words}))",
    )
    return {column.name: count or {} for column, count in counts}


def _markers(_: Any, column: TextColumn) -> str:
    return f"{column.name} ({', '.join(dict.fromkeys(column.markers))})"


def _change(connection: Any, column: TextColumn) -> str:
    """Show a value before and after, if one was changed."""
    found = connection.execute(
        f"SELECT {column.value}, {column.sql} FROM {TABLE} "
        f"WHERE {column.value} <> {column.sql} LIMIT 1"
    ).fetchone()
    return f"{column.name} ({found[0]} as {found[1]})" if found else ""


def _readings(connection: Any, column: TextColumn) -> str:
    first, taken = _first(connection, column), column.style
    other = next(each for each in Style if each is not taken)
    read = f"{taken.number(first)} or {other.number(first)}" if taken else ""
    return f"{column.name} ({first} may be {read}, the first was taken)"


def _doubt(connection: Any, column: TextColumn) -> str:
    examples = [
        connection.execute(
            f"SELECT min({column.value}) FROM {TABLE} WHERE {_shape(column.value)} = ?", [shape]
        ).fetchone()[0]
        if any(map(str.isdigit, shape))
        else shape
        for shape in column.others
    ]
    named = f": {some_of(examples)}" if examples else ""
    return f"{column.name} ({_first(connection, column)}: {column.doubt}{named})"


def _first(connection: Any, column: TextColumn) -> str:
    found = connection.execute(
        f"SELECT {column.cell} FROM {TABLE} WHERE {column.value} IS NOT NULL LIMIT 1"
    ).fetchone()
    return str(found[0]) if found else ""
