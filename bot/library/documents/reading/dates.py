"""Dates as people write them: 31.12.2026, 31/12/2026 or 12/31/2026, with or without a time; and
months: 12.2026 or 12/2026."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

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
    times = ["", " %H:%M:%S", " %H:%M", *(f" {each}" for each in _HALF_DAY_TIMES)]
    plain = f"regexp_replace(regexp_replace({source}, '[,.]', ' ', 'g'), ' +', ' ', 'g')"
    return _parsed_sql(plain, [f"{day}{each}" for day in _NAMED_DAYS for each in times])


def half_day_sql(iso: str) -> str:
    """Return SQL that turns ISO dates with a time that ends with AM or PM into ISO times."""
    plain = f"regexp_replace({iso}, ' +', ' ', 'g')"
    return _parsed_sql(plain, [f"%Y-%m-%d {each}" for each in _HALF_DAY_TIMES])


def _parsed_sql(text: str, forms: Sequence[str]) -> str:
    listed = ", ".join(f"'{each}'" for each in forms)
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
        found or _ISO.fullmatch(text[:10]) for text, found in zip(texts, written, strict=True)
    ):
        return None
    fitting = [
        (month, day)
        for month, day in _ORDERS
        if all(_iso(found, month, day) for found in written if found)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _are_all_months(texts: Sequence[str]) -> bool:
    """Return whether all texts are months. 12.2026 alone may be a number; 01.2026 is a month."""
    written = [_MONTH.fullmatch(text) for text in texts]
    return all(written) and any(
        found and (found[0][0] == "0" or found["mark"] == "/") for found in written
    )


def _iso(written: re.Match[str], month: str, day: str) -> str | None:
    if written["mark"] == "." and month == "first":
        return None
    try:
        found = date(int(written["year"]), int(written[month]), int(written[day]))
    except ValueError:
        return None
    return f"{found}{(written['time'] or '').replace('T', ' ')}"
