"""Conditions on rows in words: "for West in May 2026"."""

from __future__ import annotations

import re

from ..words import listed, shown, stems
from .columns import DATES
from .filters import Filter
from .times import MONTHS

SIDES = {">=": "from", ">": "after", "<=": "to", "<": "before"}
JOINED = ("with", "for", "without")
"""What is not said again: "with status open and priority high"."""
COMPARED = {">": "over", ">=": "of at least", "<": "under", "<=": "of at most"}


def in_scope(filters: tuple[Filter, ...], said: str) -> str:
    """The conditions in words, without those that `said` holds already."""
    filters = tuple(f for f in filters if not all(value in said.split() for value in f.values))
    filters = tuple(sorted(filters, key=_place))
    words: list[str] = []
    before, date = "", ""
    for each in filters:
        phrase = _span(each) or f"{_link(each)} {listed(values_in_words(each))}"
        link, _, rest = phrase.partition(" ")
        again = link in JOINED and before.startswith(f"{link} ")
        several = " and " in phrase or " and " in before
        of_time = _of_time(each) if each.dated and each.of != date else ""
        words.append(f"and {phrase if several else rest}" if again else f"{of_time}{phrase}")
        before, date = phrase, each.of
    if len(filters) > 1 and [_place(each) for each in filters[-2:]] == [1, 2]:
        words[-1] = words[-1].removeprefix("in ")  # "in May 2026"
    return f" {' '.join(words)}" if words else ""


def _span(each: Filter) -> str:
    """Months that follow one another, by the first and the last; "" for anything else."""
    if not re.match("month:", each.column) or len(each.values) < 3:
        return ""
    months = [int(value) for value in each.values]
    if months != list(range(months[0], months[-1] + 1)):
        return ""
    return f"from {_value(each, each.values[0])} to {_value(each, each.values[-1])}"


def _place(each: Filter) -> int:
    """Where a condition stands in a sentence: times last, the year behind its month."""
    if re.match(r"(?:\w*day|week|month|yearmonth|quarter):", each.column):
        return 1
    return 2 if re.match("year", each.column) else 0


def _link(each: Filter) -> str:
    if (
        not each.dated
        and all(value.islower() for value in each.values)
        and each.values[0] != "true"
    ):
        return f"with {each.column}{' not' if each.operator == 'not in' else ''}"
    if each.operator == "in":
        if re.match(r"\w*day:", each.column):
            return "on"
        return "in" if each.dated else "for"
    if each.operator == "not in":
        return "without"
    if re.match("(?:yearmonth|day|monthday):", each.column):
        return SIDES[each.operator]
    return f"with {each.column} {COMPARED[each.operator]}"


def _of_time(each: Filter) -> str:
    """Which time is meant where it has to be said, or its name does not say that it is a time."""
    if not each.named and {*stems(each.of)} & DATES:
        return ""
    plain = re.sub(r" (?:on|at|date)$", "", each.of.replace("_", " ").lower())
    return f"{plain} " if plain.endswith("ed") else f"whose `{each.of}` is "


def values_in_words(each: Filter) -> list[str]:
    """The values in words, those that differ only in their letters' case once."""
    words = [_value(each, value) for value in each.values]
    return list({word.casefold(): word for word in words}.values())


def _value(each: Filter, value: str) -> str:
    column = each.column
    if value == "true":  # of a column of yes and no
        return column.replace("_", " ")
    if column.startswith("month:"):
        return MONTHS[int(value) - 1].title()
    if named := re.match(
        r"(?:yearmonth:.*\n(?P<year>\d{4})-|monthday:.*\n)(?P<month>\d\d)(?:-(?P<day>\d\d))?",
        f"{column}\n{value}",
    ):
        month = MONTHS[int(named["month"]) - 1].title()
        return f"{month} {named['year']}" if named["year"] else f"{int(named['day'])} {month}"
    told = {"weekday": f"{value.title()}s", "week": f"week {value}", "quarter": f"Q{value}"}
    return told.get(column.partition(":")[0]) or shown(value)
