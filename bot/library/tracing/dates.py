"""Dates and times of day as people write them, in digits and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from bot.library.tracing.cldr import Words, folded, plain, words_for

_YEARS = range(1900, 2101)
_SHORT_YEARS = 69  # 69 is 1969 and 68 is 2068, as strptime has it
_WORD = r"(?P<word>[^\W\d_][^\s\d!-/:-@\[-`{-~،。、，]{0,20}+)\.?"
_GAP = r"[ \xa0]?"
_OF = rf"{_GAP}(?:(?:de|of|del){_GAP})?"
_YEAR = r"(?P<year>\d{4})(?![\d.,]\d|\d)"
_NTH = r"(?:\.|st|nd|rd|th|er|º|ª)?"
_TO = rf"{_NTH}{_GAP}(?:[-–]|bis|to|al|au|a|and|und|et|y|e){_GAP}"
_BEFORE, _AFTER = r"(?<![A-Za-z\d.,/-])", r"(?![\d/.-]\d|\d)"
_PATTERNS = [
    re.compile(pattern)
    for pattern in (
        r"(?<![A-Za-z\d.,-])(?P<year>\d{4})(?:(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
        r"|-(?P<only>\d\d))(?![.-]\d|\d)",
        rf"{_BEFORE}(?P<first>\d{{1,2}})(?P<mark>[./-])(?P<second>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d\d){_AFTER}",
        rf"{_BEFORE}(?P<first>\d{{1,2}})(?:(?P<mark>\.)(?P<second>\d\d?)\.(?!\d)|/(?P<other>\d\d?)(?![\d/%]))",
        rf"{_BEFORE}(?:(?P<year>\d{{4}})年)?(?P<month>\d{{1,2}})月"
        r"(?:(?P<day>\d{1,2})日(?:(?:から|[〜~–-])(?P<to>\d{1,2})日)?)?",
        rf"(?<![\w.,:/-])(?:(?P<day>\d{{1,2}}){_TO})?(?P<to>\d{{1,2}}){_NTH}{_OF}{_WORD}(?:,?{_OF}{_YEAR})?",
        rf"(?<!\w){_WORD}{_GAP}(?P<day>\d{{1,2}}){_NTH}(?:[-–](?P<to>\d{{1,2}}){_NTH})?"
        rf"(?![\d.,:]\d|\d|[%€])(?:,?{_GAP}{_YEAR})?",
        rf"(?<!\w){_WORD},?{_OF}{_YEAR}",
    )
]
_DIGIT = re.compile(r"\d")
_CLOCK = re.compile(
    r"(?<![\d:.,])(?P<hour>[01]?\d|2[0-4])(?:"
    r":(?P<minute>[0-5]\d)(?::[0-5]\d(?:[.,]\d+)?)?(?![\d:])"
    r"|[ \xa0]?[hH][ \xa0]?(?P<after>[0-5]\d)?(?![\d\w])(?!,\d|[ \xa0]?min)"
    r"|(?:時|点)(?!間)(?:(?P<then>[0-5]?\d)分)?|[ \xa0]Uhr\b|(?=[ \xa0]?[ap]\.?m\b))"
    r"(?:[ \xa0]?(?P<half>[ap])\.?[ \xa0]?m\b\.?)?",
    re.IGNORECASE,
)
_ALSO_WORDS = {"out", "set", "ago", "may", "mar", "des", "ene"}  # "3 out of 5", "10 des 12 clients"


class DateParts(NamedTuple):
    """One meaning of a written date. What is not told is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    quarter: int | None = None


@dataclass(frozen=True, slots=True)
class Day:
    """A date in a text: 02/12/2026 has two readings, "Q3 2026" has no month and no day.

    A date in digits without a year ("3/10", "4.5.") `may_be_number`.
    """

    start: int
    end: int
    text: str
    readings: tuple[DateParts, ...]
    may_be_number: bool = False


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in a text. "8 h 30" `may_be_number`: eight and a half hours."""

    start: int
    end: int
    text: str
    hour: int
    minute: int
    may_be_number: bool = False


def dates_in(text: str) -> list[Day]:
    """Return the dates of a text in order, as offsets of `text`. A bare year is no date."""
    clear, offsets = plain(text)
    days, end = [], 0
    for start, stop, readings, doubtful in sorted(
        _dates(clear), key=lambda date: (date[0], -date[1])
    ):
        if start >= end:
            first, last = (offsets[start], offsets[stop - 1] + 1) if offsets else (start, stop)
            days += [
                Day(first, last, text[first:last], tuple(meant), doubtful) for meant in readings
            ]
            end = stop
    return days


def clocks_in(text: str) -> list[Clock]:
    """Return the times of day of a text in order: 14:05, 2:05 pm, 14 h 05, 14 Uhr, 14時05分."""
    clear, offsets = plain(text)
    clocks = []
    for match in _CLOCK.finditer(clear):
        start, end = match.span()
        first, last = (offsets[start], offsets[end - 1] + 1) if offsets else (start, end)
        hour, half = int(match["hour"]), (match["half"] or "").lower()
        if half and 1 <= hour <= 12:
            hour = hour % 12 + (12 if half == "p" else 0)
        minute = int(match["minute"] or match["after"] or match["then"] or 0)
        doubtful = "h" in match[0].lower().removesuffix("uhr")
        clocks.append(Clock(first, last, text[first:last], hour, minute, doubtful))
    return clocks


def is_same_date(claimed: Day, read: Day) -> bool:
    """Return whether a read date says all that the claimed one says: 2026-11-23 says "Q4 2026"."""
    return any(_says(there, said) for there in read.readings for said in claimed.readings)


def _says(there: DateParts, said: DateParts) -> bool:
    quarter = there.quarter or (there.month and (there.month + 2) // 3)
    return all(
        part is None or part == other
        for part, other in zip(said, (*there[:3], quarter), strict=True)
    )


_Written = tuple[int, int, list[list[DateParts]], bool]


def _dates(text: str) -> Iterator[_Written]:
    """Yield where dates are, the readings of each (a range has two), and whether they are doubtful."""
    words = words_for(text)
    with_digits = _PATTERNS if _DIGIT.search(text) else ()
    for pattern in (*with_digits, _quarters(tuple(words.quarters))):
        groups, at = pattern.groupindex, 0
        while match := pattern.search(text, at):
            days = _days(match, words)
            readings = [[parts for parts in day if _exists(parts)] for day in days]
            at = match.end()
            if days and all(readings):
                yield *match.span(), readings, "first" in groups and "year" not in groups
            elif "word" in groups:
                at = match.end("word")


def _days(match: re.Match[str], words: Words) -> list[list[DateParts]]:
    """Return the readings of one or two dates; an empty list where it is none."""
    named = match.groupdict()
    number = {name: int(value) for name, value in named.items() if value and value.isdecimal()}
    year, month = number.get("year"), number.get("month") or number.get("only")
    if "first" in number:
        first, second = number["first"], number.get("second") or number.get("other", 0)
        if year is not None and year < 100:
            year += 2000 if year < _SHORT_YEARS else 1900
        day_first, month_first = DateParts(year, second, first), DateParts(year, first, second)
        if named.get("mark") == ".":
            return [[day_first if _exists(day_first) else month_first]]
        return [[month_first, day_first]]
    if name := named.get("quarter"):
        year, name = year or number.get("before"), folded(name)
        is_sure = year or name[0] == "q" or len(name) > 2  # T4 is a GPU, too
        return [[DateParts(year, quarter=words.quarters[name])]] if is_sure else []
    if word := named.get("word"):
        month = words.months.get(folded(word))
        is_told = year or " de " in match[0] or match[0].endswith(".")
        if not month or (word in _ALSO_WORDS and not is_told):
            return []
    days = [number.get(name) for name in ("day", "to") if name in number]
    return [[DateParts(year, month, day)] for day in days or [None]]


def _exists(parts: DateParts) -> bool:
    try:
        date(parts.year or 2024, parts.month or 1, parts.day or 1)
    except ValueError:
        return False
    return parts.day != 0 and parts.month != 0 and (parts.year is None or parts.year in _YEARS)


@lru_cache(maxsize=32)
def _quarters(names: tuple[str, ...]) -> re.Pattern[str]:
    forms = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(
        rf"(?<!\w)(?:(?P<before>\d{{4}})(?:[-/ \xa0]|年)?)?(?P<quarter>{forms})(?!\w)"
        rf"(?:(?:[-/]|,?{_OF}){_YEAR})?",
        re.IGNORECASE,
    )
