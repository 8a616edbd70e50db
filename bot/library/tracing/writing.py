"""Figures as the readers of a language write them (CLDR, through Babel)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache

from babel import Locale
from babel.numbers import (
    NumberPattern,
    format_compact_decimal,
    format_decimal,
    format_percent,
    parse_pattern,
)

_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d{1,3})?")
PERCENT = re.compile(
    r"%|\bper ?cent|\bpct\b|_pct\b|prozent|pour ?cent|por ?c[ie]ento", re.IGNORECASE
)
NUMBERS_OF_THINGS = re.compile(
    r"(?:^|[\s_])(?:id|ids|no|nr|number|code|zip|plz|phone|year|jahr|année|año|ano|yr)$|年$",
    re.IGNORECASE,
)
_FIRST_YEAR, _LAST_YEAR = 1800, 2200
_MOST_DECIMALS, _EXACT_DECIMALS, _PERCENT_DECIMALS, _FEWEST_DIGITS = 3, 4, 1, 2
_NUMBER = re.compile(r"[#,0.]+")  # of a pattern
_MOST_DIGITS = 15  # before or after the mark: longer numbers stay as they are
FORM = re.compile(r"0(?:\.(0{1,9}))?|%|abs|compact")


def value_of(text: str) -> Decimal | None:
    """Return the value of a cell that holds one number as tools write it (-1234.5, 2.59e-05)."""
    if not _PLAIN.fullmatch(text.strip()):
        return None
    try:
        return Decimal(text.strip())
    except InvalidOperation:
        return None


def written(
    text: str, *, column: str, others: Iterable[str], forms: Sequence[str], locale: Locale | None
) -> str:
    """Return a cell as a text in `locale` shows it; as a plain number (1234.5) without one.

    Numbers are grouped, with at most three decimals, or the four of a cell that has just four (an
    exchange rate, a rounded p-value), but never fewer than two significant digits, so that 0.0000259
    shows. Years and numbers of things stay as they are: `others` are the cells of the
    column. `forms` are "0" or "0.00" (decimals), "%", "abs" and "compact".
    """
    value = value_of(text)
    if value is None:
        return text
    if abs(value.adjusted()) > _MOST_DIGITS:
        return text.strip()
    if "abs" in forms:
        value = abs(value)
    is_percent = bool(PERCENT.search(column))
    if "%" in forms and not is_percent:
        value *= 100
    pattern = next((form for form in forms if form.startswith("0")), "")
    if pattern:
        places = len(pattern) - 2 if "." in pattern else 0
    elif not forms and _is_name(value, column, others):
        return text.strip()
    else:
        is_exact = value.as_tuple().exponent == -_EXACT_DECIMALS
        most = _EXACT_DECIMALS if is_exact else _MOST_DECIMALS
        places = _places(value, _PERCENT_DECIMALS if "%" in forms else most)
    if locale is None:
        fixed = pattern or "%" in forms
        return (
            text.strip()
            if not forms
            else f"{value:.{places}f}"
            if fixed
            else f"{value.normalize():f}"
        )
    return _in_locale(value, places, forms, locale, is_fixed=bool(pattern))


def _in_locale(
    value: Decimal, places: int, forms: Sequence[str], locale: Locale, *, is_fixed: bool
) -> str:
    if "compact" in forms:
        short: str = format_compact_decimal(
            value, format_type="short", locale=locale, fraction_digits=1
        )
        if any(map(str.isalpha, short)):
            return short
        places = 0  # a language without a short form for this size
    digits = f".{('0' if is_fixed else '#') * places}" if places else ""
    number = f"{_grouping(locale)}{digits}"
    if "%" in forms:
        standard = str(locale.percent_formats[None].pattern)
        return format_percent(value / 100, format=_NUMBER.sub(number, standard), locale=locale)
    return format_decimal(value, format=_pattern(number), locale=locale)


def _places(value: Decimal, most: int) -> int:
    """Return how many decimals a number is shown with."""
    if value == value.to_integral_value():
        return 0
    size = value.adjusted()  # 0.0123 has -2
    return max(most, _FEWEST_DIGITS - 1 - size) if size < 0 else most


def _is_name(value: Decimal, column: str, others: Iterable[str]) -> bool:
    """Return whether a whole number names something rather than counts it: a year, an order."""
    if value != value.to_integral_value():
        return False
    if NUMBERS_OF_THINGS.search(column.strip()):
        return True
    years = set[Decimal]()
    for year in (number for number in map(value_of, others) if number is not None):
        if not _FIRST_YEAR <= year <= _LAST_YEAR or year != year.to_integral_value():
            return False
        years.add(year)
    return len(years) > 1


@lru_cache(maxsize=256)
def _pattern(written: str) -> NumberPattern:
    return parse_pattern(written)


@lru_cache(maxsize=64)
def _grouping(locale: Locale) -> str:
    """Return the pattern of whole numbers: "#,##0", or "#,##,##0" in India."""
    return str(locale.decimal_formats[None].pattern).partition(".")[0]
