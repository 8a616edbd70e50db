"""Dates and times of day as people write them, in digits and in words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import NamedTuple

from bot.library.tracing.cldr import folded, plain, words_for

_YEARS = range(1900, 2101)
_SHORT_YEARS = 69  # 69 is 1969 and 68 is 2068, as strptime has it
_WORD = r"[^\W\d_][^\s\d!-/:-@\[-`{-~،。、，]{0,20}+"
_GAP = r"[ \xa0]?"
_OF = rf"{_GAP}(?:(?:de|of|del){_GAP})?"
_YEAR = r"\d{4}(?![\d.,]\d|\d)"
_DAY = r"\d{1,2}(?:\.|st|nd|rd|th|er|º|ª)?"
_IN_DIGITS = re.compile(
    r"(?<![A-Za-z\d.,-])(?P<first>\d{4})(?:(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})"
    r"|-(?P<only>\d\d))(?![.-]\d|\d)"
    r"|(?<![A-Za-z\d.,/-])(?:(?P<a>\d{1,2})(?P<by>[./-])(?P<b>\d{1,2})(?P=by)(?P<last>\d{4}|\d\d)(?![\d/.-]\d|\d)"
    r"|(?P<c>\d{1,2})(?:\.(?P<d>\d\d?)\.(?!\d)|/(?P<e>\d\d?)(?![\d/%]))"
    r"|(?:(?P<y>\d{4})年)?(?P<m>\d{1,2})月(?:(?P<from>\d{1,2})日(?:(?:から|[〜~–-])(?P<to>\d{1,2})日)?)?)"
)
_DAY_FIRST = re.compile(
    rf"(?<![\w.,:/-])(?:(?P<from>\d{{1,2}})\.?{_GAP}(?:[-–]|bis|to|al|au|a|and|und|et|y|e){_GAP})?"
    rf"(?P<day>{_DAY}){_OF}(?P<word>{_WORD})\.?(?:,?{_OF}(?P<year>{_YEAR}))?"
)
_MONTH_FIRST = re.compile(
    rf"(?<!\w)(?P<word>{_WORD})\.?(?:,?{_OF}(?P<year>{_YEAR})|{_GAP}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"(?:[-–](?P<to>\d{{1,2}})(?:st|nd|rd|th)?)?(?![\d.,:]\d|\d|[%€])(?:,?{_GAP}(?P<then>{_YEAR}))?)"
)
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
    words = words_for(text)
    for match in _IN_DIGITS.finditer(text):
        meant = [[parts for parts in day if _exists(parts)] for day in _in_digits(match)]
        if all(meant):
            yield *match.span(), meant, match["c"] is not None
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        at = 0
        while match := pattern.search(text, at):
            at = match.end("word")
            month = words.months.get(folded(match["word"]))
            if month and (meant := _in_words(match, month)):
                at = match.end()
                yield *match.span(), meant, False
    for match in _quarters(tuple(words.quarters)).finditer(text):
        year, name = match["year"] or match["before"], folded(match["quarter"])
        if year or name[0] == "q" or len(name) > 2:  # T4 is a GPU, too
            parts = DateParts(int(year) if year else None, quarter=words.quarters[name])
            yield *match.span(), [[parts]], False


def _in_digits(match: re.Match[str]) -> list[list[DateParts]]:
    if match["m"]:
        year, month = match["y"] and int(match["y"]), int(match["m"])
        days = [int(day) for day in (match["from"], match["to"]) if day]
        return [[DateParts(year or None, month, day)] for day in days or [None]]
    if match["first"]:
        day = int(match["day"]) if match["day"] else None
        return [[DateParts(int(match["first"]), int(match["month"] or match["only"]), day)]]
    if match["c"]:
        first, second = int(match["c"]), int(match["d"] or match["e"])
        other = [DateParts(None, first, second)] if match["e"] else []
        return [[DateParts(None, second, first), *other]]
    first, second, year = int(match["a"]), int(match["b"]), int(match["last"])
    if len(match["last"]) == 2:
        year += 2000 if year < _SHORT_YEARS else 1900
    day_first, month_first = DateParts(year, second, first), DateParts(year, first, second)
    if match["by"] == ".":
        return [[day_first if _exists(day_first) else month_first]]
    return [[month_first, day_first]]


def _in_words(match: re.Match[str], month: int) -> list[list[DateParts]]:
    """Return a meaning for each of one or two days beside the name of a month."""
    named = match.groupdict()
    year = named.get("year") or named.get("then")
    days = [day for day in (named.get("from"), named["day"], named.get("to")) if day]
    numbers = [int(re.sub(r"\D", "", day)) for day in days]
    word = match["word"]
    is_doubtful = word in _ALSO_WORDS and not match[0].endswith(".")
    if is_doubtful and not year and " de " not in match[0]:
        return []
    meant = [DateParts(int(year) if year else None, month, day) for day in numbers or [None]]
    return [[parts] for parts in meant] if all(map(_exists, meant)) else []


def _exists(parts: DateParts) -> bool:
    try:
        date(parts.year or 2024, parts.month or 1, parts.day or 1)
    except ValueError:
        return False
    return parts.year is None or parts.year in _YEARS


@lru_cache(maxsize=32)
def _quarters(names: tuple[str, ...]) -> re.Pattern[str]:
    forms = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(
        rf"(?<!\w)(?:(?P<before>\d{{4}})(?:[-/ \xa0]|年)?)?(?P<quarter>{forms})(?!\w)"
        rf"(?:(?:[-/]|,?{_OF})(?P<year>{_YEAR}))?",
        re.IGNORECASE,
    )
