"""Types of columns. A wrong guess would silently change values, so a column gets a type only where
every value in it has exactly one reading; every other column stays text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from math import isfinite

from bot.library.documents.results import Cell

_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_WRITTEN = re.compile(
    r"(?P<first>\d{1,2})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{4})"
    r"(?P<time>[ T]\d{1,2}:\d\d(?::\d\d)?)?"
)
_MONTH = re.compile(r"(?P<month>0?[1-9]|1[0-2])(?P<mark>[./])(?P<year>(?:19|20)\d\d)")
_MONTH_SHAPE = re.compile(r"[01]{1,2}[./][01]{4}")
_YEAR_FIRST = re.compile(
    r"\d{4}(?P<mark>[./])\d{1,2}(?P=mark)\d{1,2}(?:[ T]\d{1,2}:\d\d(?::\d\d)?)?"
)
_SHORT = re.compile(r"\d{1,2}(?P<mark>[./-])\d{1,2}(?P=mark)\d{2}(?:[ T].*)?")
_HALF_DAY = re.compile(
    r"(?:\d{1,2}[./-]\d{1,2}[./-]\d{4}|\d{4}-\d\d-\d\d) +\d{1,2}:\d\d(?::\d\d)? ?[ap]m",
    re.IGNORECASE,
)
_MONTH_NAME = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_NAMED = re.compile(
    rf"(?:[a-z]{{3,9}},? +)?(?:{_MONTH_NAME} +\d{{1,2}},?|\d{{1,2}}[ -]+{_MONTH_NAME}),?[ -]+\d{{4}}"
    r"(?:,? +\d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?)?",
    re.IGNORECASE,
)
_NAMED_DAYS = [
    f"{weekday}{day}"
    for weekday in ("", "%a ", "%A ")
    for day in ("%b %d %Y", "%B %d %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%B-%Y")
]
_HALF_DAY_TIMES = ["%I:%M:%S %p", "%I:%M %p", "%I:%M:%S%p", "%I:%M%p"]
_ORDERS = (("second", "first"), ("first", "second"))
"""The groups of `_WRITTEN` that are (month, day): with the day first, and with the month first."""


def looks_like_date(text: str) -> bool:
    """Return whether a text may be a date or a month in some form."""
    forms = (_WRITTEN, _MONTH, _YEAR_FIRST, _SHORT, _NAMED, _HALF_DAY)
    return bool(_ISO.match(text)) or any(form.fullmatch(text) for form in forms)


def may_be_date(shape: str) -> bool:
    """Return whether texts of a shape (with 1 for each digit except 0) may be dates or months."""
    return looks_like_date(shape) or bool(_MONTH_SHAPE.fullmatch(shape))


def are_named(texts: Sequence[str]) -> bool:
    """Return whether all texts are dates with the name of a month."""
    return bool(texts) and all(map(_NAMED.fullmatch, texts))


def are_half_days(texts: Sequence[str]) -> bool:
    """Return whether all texts are dates with a time that ends with AM or PM."""
    return bool(texts) and all(map(_HALF_DAY.fullmatch, texts))


def named_date_sql(source: str) -> str:
    """Return SQL that turns dates with an English name of a month into ISO dates and times, and other
    texts into NULL."""
    times = ["", " %H:%M:%S", " %H:%M", *(f" {time_of_day}" for time_of_day in _HALF_DAY_TIMES)]
    plain = f"regexp_replace(regexp_replace({source}, '[,.]', ' ', 'g'), ' +', ' ', 'g')"
    return _parsed_sql(
        plain, [f"{day}{time_of_day}" for day in _NAMED_DAYS for time_of_day in times]
    )


def half_day_sql(iso: str) -> str:
    """Return SQL that turns ISO dates with a time that ends with AM or PM into ISO times."""
    plain = f"regexp_replace({iso}, ' +', ' ', 'g')"
    return _parsed_sql(plain, [f"%Y-%m-%d {time_of_day}" for time_of_day in _HALF_DAY_TIMES])


def _parsed_sql(text: str, forms: Sequence[str]) -> str:
    listed = ", ".join(f"'{form}'" for form in forms)
    return f"strftime(try_strptime({text}, [{listed}]), '%Y-%m-%d %H:%M:%S')"


def iso_date_sql(texts: Sequence[str], source: str) -> str | None:
    """Return SQL that turns `source` into ISO dates, or ISO months where all `texts` are months.

    `source` is the SQL of a column and `texts` are all its values, in any mixture of forms. Returns
    None where a value is no date, or where day and month could be swapped in all of them, as in
    01/02/2026; between points the day is always first.
    """
    if all(map(_YEAR_FIRST.fullmatch, texts)):
        return rf"regexp_replace({source}, '^(\d+)[./](\d+)[./](\d+)', '\1-\2-\3')"
    if _are_all_months(texts):
        month = rf"lpad(regexp_extract({source}, '^\d+'), 2, '0')"
        return rf"(regexp_extract({source}, '\d+$') || '-' || {month})"
    order = _order(texts)
    if order is None:
        return None
    parts = r"\3-\2-\1" if order == _ORDERS[0] else r"\3-\1-\2"
    return rf"regexp_replace({source}, '^(\d\d?)[./-](\d\d?)[./-](\d{{4}})', '{parts}')"


def _order(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the one order of month and day that fits all texts; None when a text is no date, or
    both orders fit."""
    written = [_WRITTEN.fullmatch(text) for text in texts]
    if not all(
        match or _ISO.fullmatch(text[:10]) for text, match in zip(texts, written, strict=True)
    ):
        return None
    fitting = [
        (month, day)
        for month, day in _ORDERS
        if all(_iso(match, month, day) for match in written if match)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _are_all_months(texts: Sequence[str]) -> bool:
    """Return whether all texts are months. 12.2026 alone may be a number; 01.2026 is a month."""
    written = [_MONTH.fullmatch(text) for text in texts]
    return all(written) and any(
        match and (match[0][0] == "0" or match["mark"] == "/") for match in written
    )


def _iso(written: re.Match[str], month: str, day: str) -> str | None:
    if written["mark"] == "." and month == "first":
        return None
    try:
        parsed = date(int(written["year"]), int(written[month]), int(written[day]))
    except ValueError:
        return None
    return f"{parsed}{(written['time'] or '').replace('T', ' ')}"


WHOLE = r"[-+]?(?:0|[1-9]\d*)"
"""Whole numbers without leading zeros: 007 is a code."""
FRACTION = r"[-+]?(?:0|[1-9]\d*)?\.\d+|[-+]?(?:0|[1-9]\d*)\."
_EXPONENT = r"(?:\d+\.?\d*|\.\d+)[eE][-+]?\d{1,3}"
_SCIENTIFIC = r"(?:\d*\.\d+|\d+\.)[eE][-+]?\d{1,3}|\d+[eE][-+]\d{1,3}"
"""Numbers with an exponent that cannot be codes: 1E2 and 12E10 may also be product names."""

ISO_DATE = r"\d{4}-\d\d-\d\d"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?"
ISO_TIME = rf"{ISO_DATE}[ T]{_CLOCK}"
_ZONE = r"(?:Z|[+-]\d\d(?::?\d\d)?)"

_MAX_DIGITS = 38
"""Limit of a DECIMAL in DuckDB and Parquet."""


def matcher(*patterns: str) -> re.Pattern[str]:
    """Compile the patterns into one alternative for `fullmatch`, with ASCII digits only."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.ASCII)


_NUMBER = matcher(WHOLE, FRACTION, rf"[-+]?(?:{_SCIENTIFIC})")
_NUMBER_OR_CODE = matcher(WHOLE, FRACTION, rf"[-+]?(?:{_EXPONENT})")
_IS_WHOLE, _IS_FRACTION = matcher(WHOLE), matcher(FRACTION, rf"[-+]?(?:{_SCIENTIFIC})")
_DATE, _TIME, _CLOCK_ALONE = matcher(ISO_DATE), matcher(ISO_TIME), matcher(_CLOCK)
_ZONED = matcher(rf"{ISO_TIME}{_ZONE}")


ALWAYS_EXACT = 16
"""Characters of a number, at most, of which floating point keeps all digits."""


def is_exact(number: str) -> bool:
    """Return whether floating point keeps all digits of a number."""
    return len(number) <= ALWAYS_EXACT or Decimal(repr(float(number))) == Decimal(number)


def type_of_texts(values: Collection[str], exact: Callable[[str], bool] = is_exact) -> str:
    """Return the DuckDB type that fits all texts, VARCHAR where none does.

    The texts are stripped and not empty; `exact` says whether floating point keeps a number.
    """
    if values and all(map(_NUMBER_OR_CODE.fullmatch, values)):
        return _type_of_numbers(values, exact)
    fitting = (kind for kind, fits in _TYPE_CHECKS if values and all(map(fits, values)))
    return next(fitting, "VARCHAR")


def _type_of_numbers(values: Collection[str], exact: Callable[[str], bool]) -> str:
    """Return a type that keeps every digit, VARCHAR where none does."""
    if all(map(_IS_WHOLE.fullmatch, values)):
        digits = max(len(value.lstrip("+-")) for value in values)
        return "BIGINT" if digits <= 18 else decimal_type(digits, 0)
    if not any(map(_IS_FRACTION.fullmatch, values)):
        return "VARCHAR"  # 1E2 among whole numbers is a code
    if all(map(exact, values)):
        return "DOUBLE"
    if not any("e" in value.lower() for value in values):
        decimals = [Decimal(value).as_tuple() for value in values]
        scale = max(-int(number.exponent) for number in decimals)
        whole = max(len(number.digits) + int(number.exponent) for number in decimals)
        return decimal_type(max(whole, 0) + scale, scale)
    return "VARCHAR"


def decimal_type(digits: int, scale: int) -> str:
    """Return the DECIMAL for that many digits, `scale` of them decimals; VARCHAR if too many."""
    return f"DECIMAL({max(digits, 1)},{scale})" if digits <= _MAX_DIGITS else "VARCHAR"


def _is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text)) and _parses(date.fromisoformat, text)


def _is_date_time(text: str) -> bool:
    return _is_date(text) or (bool(_TIME.fullmatch(text)) and _parses(_parse_date_time, text))


def _is_zoned(text: str) -> bool:
    return bool(_ZONED.fullmatch(text)) and _parses(_parse_date_time, text)


def _is_clock(text: str) -> bool:
    return bool(_CLOCK_ALONE.fullmatch(text)) and _parses(
        time.fromisoformat, text if text[1] != ":" else f"0{text}"
    )


def _parses(read: Callable[[str], object], text: str) -> bool:
    """Return whether the date or time exists, unlike 30 February."""
    try:
        read(text)
    except ValueError:
        return False
    return True


def _parse_date_time(text: str) -> datetime:
    """Parse an ISO date and time whose hour may have one digit."""
    return datetime.fromisoformat(f"{text[:10]}T{'0' if text[12] == ':' else ''}{text[11:]}")


_TYPE_CHECKS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("BOOLEAN", lambda text: text.casefold() in {"true", "false"}),
    ("DATE", _is_date),
    ("TIMESTAMP", _is_date_time),
    ("TIMESTAMP WITH TIME ZONE", _is_zoned),
    ("TIME", _is_clock),
)


def type_of_cells(cells: Sequence[Cell]) -> str:
    """Return the DuckDB type of a column of Python values. Text stays text, except ISO dates and
    times; a column of several types becomes text."""
    filled = [cell for cell in cells if cell not in (None, "") and not is_not_finite(cell)]
    types = {type(cell) for cell in filled}
    if types == {str}:
        kind = type_of_texts({str(cell).strip() for cell in filled} - {""})
        return kind if kind.startswith(("DATE", "TIME")) else "VARCHAR"
    if types and types <= {date, datetime}:
        return _type_of_dates(filled)
    if types and types <= {int, float, Decimal}:
        return _type_of_number_cells(filled)
    simple = {frozenset({bool}): "BOOLEAN", frozenset({time}): "TIME"}
    return simple.get(frozenset(types), "VARCHAR")


def _type_of_dates(cells: Iterable[Cell]) -> str:
    zones = {isinstance(cell, datetime) and cell.tzinfo is not None for cell in cells}
    if zones == {True}:
        return "TIMESTAMP WITH TIME ZONE"
    if True in zones:
        return "VARCHAR"
    days = all(not isinstance(cell, datetime) or cell.time() == time() for cell in cells)
    return "DATE" if days else "TIMESTAMP"


def _type_of_number_cells(cells: Sequence[Cell]) -> str:
    if all(isinstance(cell, int) for cell in cells):
        most = max(abs(cell) for cell in cells if isinstance(cell, int))
        return "BIGINT" if most < 2**63 else decimal_type(len(str(most)), 0)
    if all(isinstance(cell, float) or is_exact(str(cell)) for cell in cells):
        return "DOUBLE"
    texts = {f"{cell:f}" if isinstance(cell, Decimal) else repr(cell) for cell in cells}
    return _type_of_numbers(texts, is_exact) if all(map(_NUMBER.fullmatch, texts)) else "VARCHAR"


def is_not_finite(cell: Cell) -> bool:
    """Return whether the cell is NaN or infinite, and would make every sum so."""
    return (
        not cell.is_finite()
        if isinstance(cell, Decimal)
        else (isinstance(cell, float) and not isfinite(cell))
    )
