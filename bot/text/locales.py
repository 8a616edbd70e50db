"""Numbers, money and dates in the format of a locale (CLDR, through Babel)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, time
from decimal import Decimal
from functools import lru_cache

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_time
from babel.numbers import format_decimal, get_decimal_symbol

_SLACK_NAMES = {"es-LA": "es-419"}

_NUMBER = re.compile(r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d++)(?:\.(\d++))?(?![\w.,]*\d)")
_NUMBER_WITH_UNIT = r"[-+−±~≈<>≤≥(]*\s?[$€£¥₹]?\s?\d[\d.,\s']*\)?\s?(?:%|[^\W\d_]{0,3}|[$€£¥₹])"
_FIGURE = re.compile(rf"{_NUMBER_WITH_UNIT}(?:\s?[–/±]\s?{_NUMBER_WITH_UNIT})?")
"""A number or a range of two, each with an optional sign, currency and short unit."""
_ENGLISH = re.compile(r"\d,\d{3}\.\d|\d{4}\.\d|(?<!\d)0\.\d|\.(?:\d{1,2}|\d{4,})(?!\d)")
_OTHER = re.compile(r"\d,(?:\d{1,2}|\d{4,})(?!\d)|\d\.\d{3}[.,]\d|\d[\s']\d{3}(?!\d)")
_EITHER = re.compile(r"(?<![\d.])[1-9]\d{0,2}\.\d{3}(?!\d)")
_SIGN = "[$€£₹]"
_MONEY = re.compile(
    rf"(?P<whole>[-+−(]{{0,2}}(?:{_SIGN}\s?-?\d[\d,]*+|\d[\d,]*+(?=[\d.]*+\s?{_SIGN})))"
    rf"(?:\.(?P<cents>\d{{1,2}}))?(?P<end>\s?{_SIGN}?\)?)"
)
"""An amount in English format with a currency sign."""
_VERSIONS = re.compile(r"vers[iã]", re.IGNORECASE)


@lru_cache(maxsize=64)
def locale_of(name: str) -> Locale:
    """Return the locale with the name that Slack uses ("de-DE"), else its language's, else en-US."""
    name = _SLACK_NAMES.get(name, name)
    for candidate in (name, name.partition("-")[0]):
        try:
            return Locale.parse(candidate, sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    return Locale("en", "US")


def number(value: float | Decimal, locale: str, *, digits: int | None = None) -> str:
    """Format a number with grouped digits and `digits` decimals; by default at most three."""
    pattern = None if digits is None else f"{_grouping(locale)}.{'0' * digits}".rstrip(".")
    return format_decimal(value, format=pattern, locale=locale_of(locale))


def money(dollars: float, locale: str) -> str:
    """Format an amount in dollars with two decimals, or with four below ten cents."""
    digits = 2 if dollars >= 0.1 or dollars == 0 else 4
    found = locale_of(locale)
    pattern: str = found.currency_formats["standard"].pattern
    # The plain "$" that budgets use everywhere, not US$ or $US.
    pattern = pattern.replace("¤", "$").replace("0.00", f"0.{'0' * digits}")
    return format_decimal(dollars, format=pattern, locale=found)


def day(iso: str, locale: str) -> str:
    """Format a date given as YYYY-MM-DD. Return other text unchanged."""
    try:
        return format_date(date.fromisoformat(iso.strip()), locale=locale_of(locale))
    except ValueError:
        return iso


def day_and_time(iso: str, locale: str) -> str:
    """Format a time given as YYYY-MM-DD HH:MM, or a date. Return other text unchanged."""
    date_, _, clock = iso.strip().replace("T", " ").partition(" ")
    try:
        at = time.fromisoformat(clock) if clock else None
    except ValueError:
        return iso
    shown = day(date_, locale)
    if at is None or shown == date_:
        return shown
    return f"{shown}, {format_time(at, 'short', locale=locale_of(locale))}"


def rewritten(english: str, locale: str) -> str:
    """Return `english` with its numbers (1,234.5) in the format of `locale`."""
    found = locale_of(locale)

    def localized(match: re.Match[str]) -> str:
        whole, fraction = match.groups()
        if "," in whole:
            whole = format_decimal(int(whole.replace(",", "")), locale=found)
        return f"{whole}{get_decimal_symbol(found)}{fraction}" if fraction else whole

    return _NUMBER.sub(localized, english)


def figures(rows: Sequence[Sequence[str]], locale: str) -> list[list[str]]:
    """Return the rows of a table, heading first, with each cell that is one number localized.

    Digits without grouping stay ungrouped, because years and order numbers are not amounts. A table
    with numbers that are not in English format does not change, nor does an ambiguous cell such as
    1.234 when no other cell shows that the point is a decimal point. The first column is text.
    """
    if not rows:
        return []
    columns = [n for n, name in enumerate(rows[0]) if n and not _VERSIONS.search(name)]
    found = [row[n] for row in rows[1:] for n in columns if _FIGURE.fullmatch(row[n].strip())]
    if any(map(_OTHER.search, found)):
        return [list(row) for row in rows]
    is_english = any(map(_ENGLISH.search, found))
    return [
        list(rows[0]),
        *(
            [
                _localized_cell(cell, locale, is_english=is_english) if n in columns else cell
                for n, cell in enumerate(row)
            ]
            for row in rows[1:]
        ),
    ]


def in_cents(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the rows of a table, heading first, with two decimals in columns where money has cents.

    A column with $100 and $1,234.5 gets $100.00 and $1,234.50. The first column is text.
    """
    columns = list(zip(*rows, strict=True))
    aligned = columns[:1] + [(name, *_with_cents(cells)) for name, *cells in columns[1:]]
    return [list(row) for row in zip(*aligned, strict=True)]


def _with_cents(cells: Sequence[str]) -> list[str]:
    found = [_MONEY.fullmatch(cell.strip()) for cell in cells]
    if not any(each and each["cents"] for each in found):
        return list(cells)
    return [
        f"{each['whole']}.{each['cents'] or '':0<2}{each['end']}" if each else cell
        for each, cell in zip(found, cells, strict=True)
    ]


def _localized_cell(text: str, locale: str, *, is_english: bool) -> str:
    if not _FIGURE.fullmatch(text.strip()) or (not is_english and _EITHER.search(text)):
        return text
    return rewritten(text, locale)


def _grouping(locale: str) -> str:
    """Return the pattern of whole numbers: "#,##0", or "#,##,##0" in India."""
    return str(locale_of(locale).decimal_formats[None].pattern).partition(".")[0]
