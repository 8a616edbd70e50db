"""Types for columns of text: DuckDB does the work, so that a million rows take seconds, but the rules
are ours (`kinds`, `numerals`, `dates`) and look at all values, not at a sample.

Most columns have one plain form, which the first rows show and one pass over all rows confirms. For
the other columns the rules get the shapes of all values: a shape has 1 for each digit except 0.
"""

# ruff: noqa: S608 - the names in these statements are ours, the values quoted

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.library.documents.reading import kinds
from bot.library.documents.reading.formats import duration_note, seconds_name, unused_name
from bot.library.documents.reading.kinds import ALWAYS_EXACT, decimal_type, is_exact, type_of_texts
from bot.library.documents.reading.numerals import (
    MAX_NAMED,
    MISSING_VALUES,
    Numerals,
    Style,
    is_missing_value,
    is_written_number,
    join_some,
    missing_value_note,
    numerals,
)

TABLE = "cells"
"""The DuckDB table with the text columns c0, c1, …"""

_SPACES = " \t\u00a0\u202f\u2007"
_MAX_SHAPES = 50_000
_FIRST_INEXACT, _MAX_INEXACT = 100, 10_000
"""How many numbers that floating point may round are checked: at first, and if these are not enough."""
_MAX_STATEMENT_CELLS, _MAX_STATEMENT_COLUMNS = 1_000_000, 25
"""Limits of one statement: more columns take DuckDB too long, more cells too much memory."""

_DATE = r"(?:[1-9]\d{3}|0[1-9]\d\d|00[1-9]\d|000[1-9])-(?:0[1-9]|[1-9]\d)-(?:0[1-9]|[1-9]\d)"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?"
_PLAIN = {
    "BIGINT": r"[-+]?(?:0|[1-9]\d{0,17})",
    "DOUBLE": r"[-+]?(?:0|[1-9]\d*)(?:\.\d+)?",
    "DATE": _DATE,
    "TIMESTAMP": rf"{_DATE}(?:[ T]{_CLOCK})?",
    "TIMESTAMP WITH TIME ZONE": rf"{_DATE}[ T]{_CLOCK}(?:Z|[-+]\d\d(?::?\d\d)?)",
    "BOOLEAN": "[Tt]rue|TRUE|[Ff]alse|FALSE",
}
"""Patterns whose matches have that type by the rules, independent of the other values."""

_DURATION = r"(?:[-+]?\d{1,6} days?,? [+]?|[-+]?)\d{1,7}:[0-5]\d(?::[0-5]\d(?:\.\d+)?)?"
_DIGITS = str.maketrans("23456789", "11111111")


@dataclass(slots=True)
class TextColumn:
    """A column and how it is read.

    `value` is SQL for the trimmed text of a cell; `sql` is SQL derived from it that can be cast to
    `kind`. `markers` are words for a missing value. `style` is set where both notations of numbers
    fit and one was chosen. `doubt` is why the column stays text, with examples in `others` (shapes).
    `is_verified`: its plain pattern alone tells that every value can be cast without loss;
    `is_rounded`: floating point does not keep all its digits.
    """

    name: str
    index: int
    value: str = ""
    sql: str = ""
    kind: str = "VARCHAR"
    markers: Sequence[str] = ()
    numerals: Numerals | None = None
    style: Style | None = None
    doubt: str = ""
    others: Sequence[str] = ()
    is_verified: bool = False
    is_rounded: bool = False

    def keep_as_text(self, doubt: str) -> None:
        self.kind, self.sql, self.doubt = "VARCHAR", "", doubt

    @property
    def cell(self) -> str:
        return f"c{self.index}"

    @property
    def cast_sql(self) -> str:
        """The SQL of the cell in the column's type."""
        if not self.sql:
            return f"nullif({self.cell}, '')"
        return f"CAST({self.sql} AS {self.kind})" if self.kind != "VARCHAR" else self.sql


def read_columns(
    connection: Any, names: Sequence[str], sample: Sequence[Sequence[str]], *, delimiter: str
) -> tuple[list[TextColumn], list[str]]:
    """Return how each column of `TABLE` is read, and notes on the choices for the reader.

    `sample` has the first values of each column, without blank ones; `delimiter` is that of the file.
    """
    columns = [TextColumn(name, index) for index, name in enumerate(names)]
    candidates = [column for column in columns if not _is_mostly_words(sample[column.index])]
    plain = _confirm_plain(
        connection,
        [column for column in candidates if _guess_from_sample(column, sample[column.index])],
    )
    _read_shapes(connection, [column for column in candidates if column.index not in plain])
    clear = {
        column.numerals.styles[0]
        for column in columns
        if column.numerals and column.numerals.is_clear
    }
    usual = Style.POINT if delimiter == "," and not clear else None
    is_settled = len(clear) == 1
    usual = clear.pop() if is_settled else usual
    for column in columns:
        if column.numerals is not None:
            _settle_notation(column, usual, is_settled=is_settled, is_local=delimiter == ";")
    _verify(
        connection,
        [column for column in columns if column.kind != "VARCHAR" and not column.is_verified],
    )
    notes = _notes(connection, columns)
    return _with_seconds(connection, columns, notes), notes


def _with_seconds(
    connection: Any, columns: Sequence[TextColumn], notes: list[str]
) -> list[TextColumn]:
    """Return the columns, and after each with durations one that has them in seconds. Add a note."""
    texts = [column for column in columns if column.value and not column.sql]
    durations_at = dict[int, bool]()
    for column, counts in _aggregate(
        connection,
        texts,
        lambda each: (
            f"[count({each.value}), count(*) FILTER (regexp_full_match({each.value}, '{_DURATION}')), "
            f"count(*) FILTER (contains({each.value}, '.'))]"
        ),
    ):
        filled, durations, fractions = counts
        if filled and filled == durations:
            durations_at[column.index] = bool(fractions)
    if not durations_at:
        return list(columns)
    all_columns, names = list[TextColumn](), list[str]()
    for text_column in columns:
        all_columns.append(text_column)
        if text_column.index in durations_at:
            taken = [*(column.name for column in columns), *names]
            names.append(unused_name(seconds_name(text_column.name), taken))
            kind = "DOUBLE" if durations_at[text_column.index] else "BIGINT"
            sql = _seconds_sql(text_column.value)
            all_columns.append(
                TextColumn(names[-1], text_column.index, text_column.value, sql, kind)
            )
    first = next(column for column in columns if column.index in durations_at)
    [(text, seconds)] = connection.execute(
        f"SELECT {first.value}, {_seconds_sql(first.value)} FROM {TABLE} "
        f"WHERE {first.value} IS NOT NULL AND {first.value} <> '' LIMIT 1"
    ).fetchall()
    notes.append(f"{duration_note(names)} {text} is {seconds:.15g} s.")
    return all_columns


def _seconds_sql(text: str) -> str:
    """Return SQL for the seconds of a duration such as 30:05:00, -1:30 or 2 days 03:00:00."""
    days = f"coalesce(TRY_CAST(regexp_extract({text}, '^([-+]?\\d+) day', 1) AS BIGINT), 0)"
    clock = f"regexp_extract({text}, '[0-9:.]+$')"
    hours, minutes = (f"CAST(split_part({clock}, ':', {n}) AS BIGINT)" for n in (1, 2))
    seconds = f"coalesce(TRY_CAST(split_part({clock}, ':', 3) AS DOUBLE), 0)"
    sign = f"CASE WHEN starts_with({text}, '-') AND NOT contains({text}, 'day') THEN -1 ELSE 1 END"
    return f"({days} * 86400 + {sign} * ({hours} * 3600 + {minutes} * 60 + {seconds}))"


def _aggregate(
    connection: Any, columns: Sequence[TextColumn], sql: Callable[[TextColumn], str]
) -> Iterator[tuple[TextColumn, Any]]:
    """Yield each column with the value of its aggregate `sql`; one statement serves many columns."""
    for some in _slices(connection, columns):
        expressions = ", ".join(map(sql, some))
        values = connection.execute(f"SELECT {expressions} FROM {TABLE}").fetchone()
        yield from zip(some, values, strict=True)


def _count_values(
    connection: Any, columns: Sequence[TextColumn], sql: Callable[[TextColumn], str]
) -> dict[int, dict[str, int]]:
    """Return the different values of `sql` and their counts for each column, by its index. A column
    with too many different values is missing."""
    counted: dict[int, dict[str, int]] = {}
    for some in _slices(connection, columns):
        places = ", ".join(str(column.index) for column in some)
        texts = ", ".join(map(sql, some))
        cells = f"SELECT unnest([{places}]) AS place, unnest([{texts}]) AS text FROM {TABLE}"
        rows = connection.execute(
            f"WITH found AS MATERIALIZED (SELECT place, text, count(*) AS times FROM ({cells}) "
            f"WHERE text <> '' GROUP BY ALL) SELECT * FROM found WHERE place IN "
            f"(SELECT place FROM found GROUP BY place HAVING count(*) < {_MAX_SHAPES})"
        ).fetchall()
        for place, text, times in rows:
            counted.setdefault(place, {})[text] = times
    return counted


def _slices(connection: Any, columns: Sequence[TextColumn]) -> Iterator[Sequence[TextColumn]]:
    [rows] = connection.execute(f"SELECT count(*) FROM {TABLE}").fetchone()
    size = max(1, min(_MAX_STATEMENT_COLUMNS, _MAX_STATEMENT_CELLS // max(rows, 1)))
    return (columns[index : index + size] for index in range(0, len(columns), size))


def _assume_exact(_: str) -> bool:
    """Return True: shapes cannot tell whether floating point keeps a number; `_verify` checks it."""
    return True


def _is_mostly_words(sample: Sequence[str]) -> bool:
    """Return whether most of the first values are words, so that the column stays text."""
    plain = {"true", "false"}
    words = sum(
        not (is_missing_value(text) or is_written_number(text) or kinds.looks_like_date(text))
        and text.casefold() not in plain
        and ":" not in text
        for text in sample
    )
    return words * 2 > len(sample)


def _guess_from_sample(column: TextColumn, sample: Sequence[str]) -> bool:
    """Choose a type by the first values. Return False where later values of the same form could
    lead to another type."""
    shapes = {text.translate(_DIGITS) for text in sample}
    column.kind, column.numerals = type_of_texts(shapes, _assume_exact), numerals(list(shapes))
    is_clear = column.numerals is not None and column.numerals.is_clear
    column.value = column.sql = f"nullif({column.cell}, '')"
    return column.kind in _PLAIN and (column.kind != "DOUBLE" or is_clear)


def _confirm_plain(connection: Any, columns: Sequence[TextColumn]) -> set[int]:
    """Return the indexes of the columns whose values all match the plain pattern of their type."""

    def others(column: TextColumn) -> str:
        is_plain = f"regexp_full_match({column.cell}, '{_PLAIN[column.kind]}')"
        count = f"count(*) FILTER (WHERE {column.cell} <> '' AND NOT {is_plain})"
        return f"{{'others': {count}, 'longest': max(length({column.cell}))}}"

    plain = set()
    for column, found in _aggregate(connection, columns, others):
        if found["others"] == 0:
            plain.add(column.index)
            column.is_verified = column.kind == "BIGINT" or (
                column.kind == "DOUBLE" and found["longest"] <= ALWAYS_EXACT
            )
    return plain


def _read_shapes(connection: Any, columns: Sequence[TextColumn]) -> None:
    """Choose types by the shapes of all values; ambiguous numbers wait for `_settle_notation`."""
    spaced = f"'^[{_SPACES}]|[{_SPACES}]$'"
    for column, is_spaced in _aggregate(
        connection, columns, lambda each: f"bool_or(regexp_matches({each.cell}, {spaced}))"
    ):
        column.value = f"trim({column.cell}, '{_SPACES}')" if is_spaced else column.cell
    shapes = _count_values(connection, columns, lambda each: _shape(each.value))
    days = []
    for column in columns:
        own_shapes = shapes.get(column.index, {})
        rest = {shape: count for shape, count in own_shapes.items() if not is_missing_value(shape)}
        column.kind, column.numerals, column.sql = "VARCHAR", None, ""
        if not own_shapes:
            continue
        column.markers = sorted(own_shapes.keys() - rest.keys())  # which have no digits
        column.value = _without(column.value, column.markers)
        if not rest:
            column.sql = column.value
            continue
        column.kind, column.numerals = type_of_texts(rest, _assume_exact), numerals(list(rest))
        if column.kind != "VARCHAR":
            column.sql = column.value
        elif column.numerals is None:
            days.append((column, rest))
    _read_dates(
        connection, [each for each, rest in days if all(map(kinds.may_be_date, rest))], shapes
    )
    for column, rest in days:
        if not column.sql:
            _explain_text(column, rest)


def _shape(text: str) -> str:
    """Return SQL for the shape of a text: 1 for each of 2 to 9, fractions cut after 8 digits."""
    short = rf"regexp_replace({text}, '([.,]\d{{8}})\d+', '\1')"
    return (
        f"translate(CASE WHEN length({text}) > 10 THEN {short} ELSE {text} END, "
        "'23456789', '11111111')"
    )


def _without(text: str, markers: Sequence[str]) -> str:
    """Return SQL for the text, NULL where it is blank or one of the markers."""
    blank = ", ".join("'" + marker.replace("'", "''") + "'" for marker in ["", *markers])
    return f"CASE WHEN {text} NOT IN ({blank}) THEN {text} END"


def _explain_text(column: TextColumn, shapes: dict[str, int]) -> None:
    """Set `doubt` and `others`: why the column is not one of numbers or dates."""
    total = sum(shapes.values())
    others = [shape for shape in sorted(shapes) if not is_written_number(shape)]
    count = sum(shapes[shape] for shape in others)
    if all(map(kinds.looks_like_date, shapes)):
        column.doubt = "days that may be read in two ways, or are none"
    elif count == 0 and not all(map(str.isdecimal, shapes)):  # codes like 007 need no word
        column.doubt = "codes, or numbers of several currencies or notations"
        odd = [shape for shape in sorted(shapes) if type_of_texts([shape]) == "VARCHAR"]
        column.others = odd[:3] if len(odd) < len(shapes) else []
    elif 0 < count * 2 < total:
        column.doubt, column.others = f"{count:,} of {total:,} values are no number", others[:3]


def _settle_notation(
    column: TextColumn, usual: Style | None, *, is_settled: bool, is_local: bool
) -> None:
    """Choose the notation of numbers: their own if it is clear, else the usual one of the file, which
    is settled where other columns leave no doubt."""
    reading = column.numerals
    assert reading is not None  # noqa: S101 - the caller checks it
    style = reading.style or usual
    if style is None and column.kind != "VARCHAR" and not is_local:
        style = Style.POINT  # as programs write, unless another column says otherwise
    if style is None:
        column.keep_as_text("with a decimal comma they are other numbers than without")
        return
    if not reading.style and not is_settled:
        column.style = style
    if style is Style.COMMA or column.kind == "VARCHAR":
        column.sql = style.sql(column.value)
        column.kind = type_of_texts([style.number(text) for text in reading.texts], _assume_exact)


def _read_dates(
    connection: Any, columns: Sequence[TextColumn], shapes: dict[int, dict[str, int]]
) -> None:
    """Turn dates and months as people write them into ISO form, where all have one reading."""
    counted = _count_values(
        connection, columns, lambda each: f"regexp_extract({each.value}, '^[^ T]+')"
    )
    for column in columns:
        days = list(counted.get(column.index, ()))
        texts = [each for each in shapes[column.index] if not is_missing_value(each)]
        if kinds.are_named(texts):
            _read_parsed(connection, column, kinds.named_date_sql(column.value), texts)
            continue
        if kinds.are_half_days(texts):
            if iso := kinds.iso_date_sql(days, column.value) or _iso_alone(column, days):
                _read_parsed(connection, column, kinds.half_day_sql(iso), texts)
            continue
        if not days or not all(map(kinds.looks_like_date, days)):
            continue
        sql = kinds.iso_date_sql(days, column.value)
        if sql is None:
            continue
        column.sql = sql
        if "lpad" not in sql:  # months stay text
            is_timed = any(":" in shape for shape in shapes[column.index])
            column.kind = "TIMESTAMP" if is_timed else "DATE"


def _iso_alone(column: TextColumn, days: Sequence[str]) -> str:
    """Return the SQL of the value where all days are in ISO form already."""
    return column.value if type_of_texts(days) == "DATE" else ""


def _read_parsed(connection: Any, column: TextColumn, sql: str, shapes: Sequence[str]) -> None:
    """Read a column as dates or times by SQL that is NULL for what is none, if it has no such value."""
    counts = f"SELECT count({column.value}), count({sql}) FROM {TABLE}"
    [(filled, parsed)] = connection.execute(counts).fetchall()
    if filled == parsed:
        is_timed = any(":" in shape for shape in shapes)
        column.sql = sql if is_timed else f"({sql})[:10]"
        column.kind = "TIMESTAMP" if is_timed else "DATE"


def _verify(connection: Any, columns: Sequence[TextColumn]) -> None:
    """Keep columns as text where a value cannot be cast, such as 30 February; use DECIMAL where
    floating point would round."""

    def counts(column: TextColumn) -> str:
        cast = f"TRY_CAST({column.sql} AS {column.kind})"
        first = f"min({column.sql}, {_FIRST_INEXACT}) FILTER ({_is_rounded(column.sql)})"
        rounded = first if column.kind == "DOUBLE" else "[]"
        return f"{{'filled': count({column.sql}), 'cast': count({cast}), 'rounded': {rounded}}}"

    inexact = []
    for column, measured in list(_aggregate(connection, columns, counts)):
        filled, lost = (
            measured["filled"],
            measured["filled"] - measured["cast"],
        )
        if lost:
            column.keep_as_text(f"{lost:,} of {filled:,} values are no {column.kind}")
        elif _loses_digits(connection, column, measured["rounded"] or []):
            inexact.append(column)
    _make_exact(connection, inexact)


def _is_rounded(number: str) -> str:
    """Return SQL that is true where floating point writes a number differently, trailing zeros apart:
    then digits of it may be lost."""
    shortest = f"rtrim(TRY_CAST({number} AS DOUBLE)::VARCHAR, '0')"
    return f"length({number}) > {ALWAYS_EXACT} AND {shortest} <> rtrim({number}, '0')"


def _loses_digits(connection: Any, column: TextColumn, some: Sequence[str]) -> bool:
    """Return whether floating point would lose digits of a value. `some` are the first candidates;
    the others are fetched only where these do not decide."""
    if len(some) < _FIRST_INEXACT or not all(map(is_exact, some)):
        return not all(map(is_exact, some))
    rows = connection.execute(
        f"SELECT DISTINCT {column.sql} FROM {TABLE} WHERE {_is_rounded(column.sql)} "
        f"LIMIT {_MAX_INEXACT}"
    ).fetchall()
    return len(rows) == _MAX_INEXACT or not all(is_exact(text) for (text,) in rows)


def _make_exact(connection: Any, columns: Sequence[TextColumn]) -> None:
    """Change columns of fractions to DECIMAL. With too many digits for it, or exponents, they are rounded,
    but text where they have long whole numbers."""

    def longest(column: TextColumn) -> str:
        number = f"ltrim({column.sql}, '+-')"
        whole, scale = (f"max(length(split_part({number}, '.', {part})))" for part in (1, 2))
        exponents = f"count(*) FILTER (contains(lower({number}), 'e'))"
        is_long = f"length({number}) >= {ALWAYS_EXACT} AND regexp_full_match({number}, '\\d+')"
        return f"[{whole}, {scale}, {exponents}, count(*) FILTER ({is_long})]"

    for column, (whole, scale, exponents, ids) in list(_aggregate(connection, columns, longest)):
        kind = decimal_type(whole + scale, scale) if not exponents else "VARCHAR"
        if kind != "VARCHAR":
            column.kind = kind
        elif ids:
            column.keep_as_text("numbers with more digits than can be kept")
        else:
            column.is_rounded = True  # a measured number: only whole ones may be codes


def _notes(connection: Any, columns: Sequence[TextColumn]) -> list[str]:
    read = [column for column in columns if column.sql]
    changed = [column for column in read if column.sql != column.value]
    kinds_of_notes = (
        ("Read as empty", [column for column in read if column.markers], _describe_markers),
        ("Read as dates", [column for column in changed if not column.numerals], _describe_change),
        ("Read as numbers", [column for column in changed if column.numerals], _describe_change),
        ("Rounded to 15 digits", [column for column in read if column.is_rounded], _describe_name),
        ("In two notations", [column for column in read if column.style], _describe_readings),
        ("Kept as text", [column for column in columns if column.doubt], _describe_doubt),
    )
    notes = []
    for what, noted, words in kinds_of_notes:
        # Only the columns that the note names need a query for an example.
        named = [text for item in noted[:MAX_NAMED] if (text := words(connection, item))]
        if named:
            more = [item.name for item in noted[MAX_NAMED:]]
            notes.append(f"{what}: {join_some([*named, *more])}.")
    return [*notes, *missing_value_note(_count_missing_words(connection, columns))]


def _count_missing_words(
    connection: Any, columns: Sequence[TextColumn]
) -> dict[str, dict[str, int]]:
    """Count the words for a missing value in each text column, by column name."""
    words = ", ".join("'" + word.replace("'", "''") + "'" for word in sorted(MISSING_VALUES))
    counts = _aggregate(
        connection,
        [column for column in columns if not column.sql],
        lambda each: f"histogram({each.cell}) FILTER (lower({each.cell}) IN ({words}))",
    )
    return {column.name: count or {} for column, count in counts}


def _describe_name(_: Any, column: TextColumn) -> str:
    return column.name


def _describe_markers(_: Any, column: TextColumn) -> str:
    return f"{column.name} ({', '.join(dict.fromkeys(column.markers))})"


def _describe_change(connection: Any, column: TextColumn) -> str:
    """Return the column name with a value before and after; "" if none was changed."""
    row = connection.execute(
        f"SELECT {column.value}, {column.sql} FROM {TABLE} "
        f"WHERE {column.value} <> {column.sql} LIMIT 1"
    ).fetchone()
    return f"{column.name} ({row[0]} as {row[1]})" if row else ""


def _describe_readings(connection: Any, column: TextColumn) -> str:
    first, chosen = _first_value(connection, column), column.style
    other = next(style for style in Style if style is not chosen)
    read = f"{chosen.number(first)} or {other.number(first)}" if chosen else ""
    return f"{column.name} ({first} may be {read}, the first was taken)"


def _describe_doubt(connection: Any, column: TextColumn) -> str:
    examples = [
        connection.execute(
            f"SELECT min({column.value}) FROM {TABLE} WHERE {_shape(column.value)} = ?", [shape]
        ).fetchone()[0]
        if any(map(str.isdigit, shape))
        else shape
        for shape in column.others
    ]
    if examples:
        return f"{column.name} ({column.doubt}: {join_some(examples)})"
    return f"{column.name} ({_first_value(connection, column)}: {column.doubt})"


def _first_value(connection: Any, column: TextColumn) -> str:
    row = connection.execute(
        f"SELECT {column.cell} FROM {TABLE} WHERE {column.value} IS NOT NULL LIMIT 1"
    ).fetchone()
    return str(row[0]) if row else ""
