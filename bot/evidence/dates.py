"""Dates and times as people write them, in digits and in words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache

from babel.dates import get_day_names, get_month_names

from bot.evidence.characters import NBSP

_LANGUAGES = ("en", "de", "fr", "es", "pt", "it", "nl")
_YEARS = range(1900, 2101)
_CENTURY = 100
_WORDS = {"out", "set", "ago", "mag", "gen"}  # "3 out of 5" is no date of October


@dataclass(frozen=True, slots=True)
class Day:
    """A date; a part that is not told is 0. A month has no day, a birthday no year."""

    year: int = 0
    month: int = 0
    day: int = 0

    @property
    def keys(self) -> tuple[Day, ...]:
        """The less exact dates that this one supports. Without a year it supports no other."""
        year, month, day = self.year, self.month, self.day
        found = [self, Day(year, 0, 0), Day(year, month, 0), Day(0, month, day), Day(0, month, 0)]
        return tuple(dict.fromkeys(each for each in found if each != Day()))

    @property
    def full(self) -> date | None:
        """The date, None if a part is not told."""
        try:
            return date(self.year, self.month, self.day)
        except ValueError:
            return None

    def is_near(self, today: date | None, days: int = 1) -> bool:
        """Return whether it may be today, or up to so many days from it."""
        near = [today + timedelta(n) for n in range(-days, days + 1)] if today else []
        return any(self in Day(each.year, each.month, each.day).keys for each in near)


@cache
def months() -> dict[str, int]:
    """Return the numbers of months by name, in lower case without points."""
    found = {
        name.casefold().rstrip("."): number
        for language in _LANGUAGES
        for width in ("wide", "abbreviated")
        for context in ("format", "stand-alone")
        for number, name in get_month_names(width, context, language).items()
    }
    return {name: number for name, number in found.items() if name not in _WORDS} | {"sept": 9}


@cache
def weekdays() -> dict[str, int]:
    """Return the numbers of weekdays by name in lower case; Monday is 0."""
    return {
        name.casefold(): number
        for language in _LANGUAGES
        for number, name in get_day_names("wide", "format", language).items()
    }


@cache
def _worded() -> tuple[re.Pattern[str], re.Pattern[str]]:
    names = "|".join(sorted(map(re.escape, months()), key=len, reverse=True))
    space = rf"[ {NBSP}]"
    of = rf"{space}?(?:(?:de|of){space})?"
    year = rf"(?:,?{of}(\d{{4}})(?![\d.,]\d))?"
    after = re.compile(
        rf"(?:\.|st|nd|rd|th|º|er)?(?:{space}?(?:[-–]|bis|to|al|a|au|and|und){space}?"
        rf"(\d{{1,2}})(?:\.|st|nd|rd|th|º)?)?{of}({names})\b\.?{year}",
        re.IGNORECASE,
    )
    before = re.compile(rf"\b({names})\b\.?(?:{space}(?:de{space})?)?$", re.IGNORECASE)
    return after, before


_TAIL = re.compile(
    rf"(?:st|nd|rd|th)?(?:[-–](\d{{1,2}})(?:st|nd|rd|th)?)?(?:,?[ {NBSP}](\d{{4}}))?(?![\d.,:]\d|\d)",
)


def worded(text: str, start: int, end: int) -> tuple[list[Day], int, int] | None:
    """Return the dates that the number at `start` to `end` is part of, with a month in words, and
    where they begin and end: "18–21 May 2027" are two."""
    after, before = _worded()
    number = int(text[start:end])
    if number <= 31 and (found := after.match(text, end)) and found[2] != "may":
        month, year = months()[found[2].casefold()], int(found[3] or 0)
        days = [number, int(found[1])] if found[1] else [number]
        return [Day(year, month, day) for day in days], start, found.end()
    name = before.search(text, max(0, start - 16), start)
    if name and number in _YEARS:
        return [Day(number, months()[name[1].casefold()])], name.start(), end
    if name and 1 <= number <= 31:
        month, tail = months()[name[1].casefold()], _TAIL.match(text, end)
        if tail:
            days = [number, int(tail[1])] if tail[1] else [number]
            year = int(tail[2] or 0)
            return [Day(year, month, day) for day in days], name.start(), tail.end()
    return None


NUMERIC = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d)|\d{4}-(?:0[1-9]|1[0-2])(?![\d-])"
    r"|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})(?!\d)|(?:[0-3]?\d\.[01]?\d\.|[0-3]?\d/[01]?\d)(?![\d/%])"
    r"|(?:\d{4}年)?\d{1,2}月(?:\d{1,2}日(?:(?:から|[〜~–-])\d{1,2}日)?)?|\d{4}年"
)
"""A pattern for dates in digits."""


def numeric(text: str) -> list[Day]:
    """Return the meanings of a date in digits: 02/12/2026 has two. An empty list for no date."""
    parts = [int(each) for each in re.findall(r"\d+", text)]
    if "月" in text or "年" in text:
        year, month, *days = [*([0] if "年" not in text else []), *parts, 0][:4]
        return [Day(year, month, day) for day in days if day] or [Day(year, month)]
    if len(text) - len(text.lstrip("0123456789")) == len("2026"):
        found = [Day(*parts)]
    elif len(parts) == 2:
        found = [Day(0, parts[1], parts[0]), *([Day(0, *parts)] if "/" in text else [])]
    else:
        year = parts[2] + (2000 if parts[2] < _CENTURY else 0)
        found = [Day(year, parts[1], parts[0]), Day(year, parts[0], parts[1])]
    return [each for each in found if _exists(each)]


def _exists(day: Day) -> bool:
    is_year = not day.year or day.year in _YEARS
    in_leap_year = Day(day.year or 2024, day.month, day.day or 1).full
    return is_year and in_leap_year is not None


CLOCK = (
    r"(?:[01]?\d|2[0-4])(?::[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?!\d)|h[0-5]\d(?!\d)"
    r"|時(?:[0-5]?\d分)?|[ \xa0]?[ap]\.?m\b)"
)
"""A pattern for times of day: 14:30, 14h30, 2 pm, 2:30 pm, 14時30分."""

_AFTERNOON = re.compile(r"[ \xa0]?([ap])\.?m\b", re.IGNORECASE)


def clock(text: str, after: str) -> tuple[int, int]:
    """Return hour and minute of a time; `after` is the text that follows it."""
    hour, minute = [*(int(each) for each in re.findall(r"\d+", text)[:2]), 0][:2]
    half = _AFTERNOON.search(text) or _AFTERNOON.match(after)
    if half:
        hour = hour % 12 + (12 if half[1].casefold() == "p" else 0)
    return hour, minute


def is_year(digits: str) -> bool:
    """Return whether a bare number may be a year."""
    return digits.isdecimal() and len(digits) == len("2026") and int(digits) in _YEARS
