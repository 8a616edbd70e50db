"""Times that a question names, as conditions on the column that tells when."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from .filters import Filter

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH = rf"(?:{'|'.join(MONTHS)}|{'|'.join(month[:3] for month in MONTHS)}|sept)\b"
_YEAR = r"(?:19|20)\d\d"
_OF = r"(?:,?\s+(?:of\s+|in\s+)?"
_ORDINALS = ("first", "second", "third", "fourth")
ATOM = re.compile(
    rf"\b(?:(?P<iso>{_YEAR}-\d\d-\d\d)|(?P<isomonth>{_YEAR}-\d\d)(?!-?\d)|"
    rf"(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<dm>{MONTH}){_OF}(?P<dy>{_YEAR}))?|"
    rf"(?P<md>{MONTH})\s+(?P<mday>\d{{1,2}})(?:st|nd|rd|th)?(?!\d|:|-){_OF}(?P<mdy>{_YEAR}))?|"
    rf"(?P<month>{MONTH}){_OF}(?P<my>{_YEAR}))?|"
    rf"(?:q(?P<quarter>[1-4])|(?:the\s+)?(?P<nth>{'|'.join(_ORDINALS)})\s+quarter){_OF}(?P<qy>{_YEAR}))?|"
    rf"(?:h(?P<half>[12])|(?:the\s+)?(?P<nthhalf>first|second)\s+half)(?:\s+of(?=\s+{_YEAR}))?{_OF}(?P<hy>{_YEAR}))?|"
    rf"week\s+(?P<week>\d{{1,2}}){_OF}(?P<wy>{_YEAR}))?|"
    rf"(?P<weekday>{'|'.join(WEEKDAYS)})s?|(?P<weekend>weekends?)|(?P<year>{_YEAR}))(?![\w-])",
    re.IGNORECASE,
)
"""One time; "first half of 2025" and the like with their year."""
LAST = {"month": 12, "quarter": 4}
"""The number of the last one of a year."""
DAYS = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s*(to|until|till|and|-|–)\s*(?:the\s+)?(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTH})",
    re.IGNORECASE,
)
"""Two days of one month, as "1 to 15 March"."""


@dataclass(frozen=True)
class Time:
    """A time: a part of dates (of `Filter`), its values, and its year; "" where none is said."""

    kind: str
    values: tuple[str, ...]
    year: str = ""

    @property
    def has_year(self) -> bool:
        """Whether it is one time only, and not one of each year."""
        return bool(self.year) or self.kind in ("year", "day", "weekday")


def apart(text: str) -> str:
    """A text in which "1 to 15 March" is "1 March to 15 March"."""
    return DAYS.sub(r"\1 \4 \2 \3 \4", text)


def time_of(said: re.Match[str]) -> Time:
    """What an `ATOM` says."""
    part = {name: value for name, value in said.groupdict().items() if value}
    year = next((part[name] for name in ("dy", "mdy", "my", "qy", "hy", "wy") if name in part), "")
    return _day(part, year) or _span(part, year)


def _day(part: dict[str, str], year: str) -> Time | None:
    """A day of the year or of the week; None for a longer time."""
    if day := part.get("iso"):
        return Time("day", (day,))
    if day := part.get("day") or part.get("mday"):
        on = f"{month_of(part.get('dm') or part['md']):02}-{int(day):02}"
        return Time("day", (f"{year}-{on}",)) if year else Time("monthday", (on,))
    if day := part.get("weekday"):
        return Time("weekday", (day.lower(),))
    return Time("weekday", WEEKDAYS[5:]) if "weekend" in part else None


def _span(part: dict[str, str], year: str) -> Time:
    if whole := part.get("isomonth"):
        return Time("month", (str(int(whole[5:])),), whole[:4])
    if name := part.get("month"):
        return Time("month", (str(month_of(name)),), year)
    if quarter := part.get("quarter") or _nth(part.get("nth")):
        return Time("quarter", (quarter,), year)
    if half := part.get("half") or _nth(part.get("nthhalf")):
        return Time("quarter", ("1", "2") if half == "1" else ("3", "4"), year)
    return Time("week", (part["week"],), year) if "week" in part else Time("year", (part["year"],))


def among(times: list[Time], column: str) -> tuple[Filter, ...] | None:
    """The conditions that a date is in one of these; None where one condition cannot say so."""
    years = list(dict.fromkeys(time.year for time in times if time.year))
    kinds = {time.kind for time in times}
    if len(kinds) > 1:
        return None
    kind, values = times[0].kind, dict.fromkeys(value for time in times for value in time.values)
    if len(years) > 1:
        if kind != "month" or not all(time.year for time in times):
            return None
        months = tuple(f"{time.year}-{int(time.values[0]):02}" for time in times)
        return (Filter(f"yearmonth:{column}", "in", months),)
    found = Filter(f"{kind}:{column}", "in", tuple(values))
    return (found, Filter(f"year:{column}", "in", tuple(years))) if years else (found,)


def between(first: Time, last: Time, column: str) -> tuple[Filter, ...] | None:
    """The conditions that a date lies from one time to another."""
    if first.kind == last.kind and first.kind in ("day", "monthday"):
        part = f"{first.kind}:{column}"
        return Filter(part, ">=", first.values[:1]), Filter(part, "<=", last.values[-1:])
    first = replace(first, year=first.year or last.year)
    last = replace(last, year=last.year or first.year)
    since, until = since_of(first), until_of(last)
    if since and until:
        part = f"yearmonth:{column}"
        return Filter(part, ">=", (since,)), Filter(part, "<=", (until,))
    if first.kind != last.kind or first.kind not in ("month", "quarter", "week"):
        return None
    one, other = int(first.values[0]), int(last.values[-1])
    many = {"month": 12, "quarter": 4, "week": 53}[first.kind]
    span = range(one, other + 1) if one <= other else (*range(one, many + 1), *range(1, other + 1))
    return (Filter(f"{first.kind}:{column}", "in", tuple(map(str, span))),)


def beside(operator: str, time: Time, column: str) -> tuple[Filter, ...] | None:
    """The condition that a date lies on one side of a time: ">=" since, ">" after, "<" before and "<="
    until it."""
    if time.kind in ("day", "monthday"):
        return (Filter(f"{time.kind}:{column}", operator, time.values),)
    bound = since_of(time) if operator in (">=", "<") else until_of(time)
    if bound:
        return (Filter(f"yearmonth:{column}", operator, (bound,)),)
    if time.kind != "month":
        return None
    month = int(time.values[0])
    first = {">=": month, ">": month + 1}.get(operator, 1)
    last = {"<=": month, "<": month - 1}.get(operator, 12)
    months = tuple(map(str, range(first, last + 1)))
    return (Filter(f"month:{column}", "in", months),) if months else None


def one_before(filters: tuple[Filter, ...], kind: str) -> tuple[Filter, ...] | None:
    """The conditions with the month, quarter or year that they name moved to the one before; None
    where they name none, or more than one."""
    single = {
        each.part: each for each in filters if len(each.values) == 1 and each.operator == "in"
    }
    dated, year = single.get(kind), single.get("year")
    if dated is None or sum(each.dated for each in filters) > 1 + (
        year is not None and kind != "year"
    ):
        return None
    value = int(dated.values[0]) - 1
    moved = {dated: value or LAST.get(kind, 0)}
    if not value:
        if year is None:
            return None
        moved[year] = int(year.values[0]) - 1
    return tuple(
        replace(each, values=(str(moved.get(each, each.values[0])),)) if each in moved else each
        for each in filters
    )


def since_of(time: Time) -> str:
    """The first month of a time with its year, as "2025-04"; "" without one."""
    return _edge(time, 0)


def until_of(time: Time) -> str:
    """Its last month."""
    return _edge(time, -1)


def _edge(time: Time, end: int) -> str:
    if time.kind == "year":
        return f"{time.values[end]}-{'12' if end else '01'}"
    if not time.year or time.kind not in ("month", "quarter"):
        return ""
    value = int(time.values[end])
    month = value if time.kind == "month" else value * 3 - (0 if end else 2)
    return f"{time.year}-{month:02}"


def month_of(name: str) -> int:
    """A month's number, by at least the first three letters of its name."""
    return [month[:3] for month in MONTHS].index(name[:3].lower()) + 1


def _nth(word: str | None) -> str:
    return str(_ORDINALS.index(word.lower()) + 1) if word else ""
