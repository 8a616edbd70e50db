"""Times that a question names, as conditions on the column that tells when."""

from __future__ import annotations

import re

from .columns import date_column
from .filters import Filter
from .outputs import Table
from .words import stems

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
MONTH = rf"(?:{'|'.join(MONTHS)}|{'|'.join(month[:3] for month in MONTHS)}|sept)\b"
_YEAR = r"(?:\s+(?:of\s+)?((?:19|20)\d\d))?"
_NAMED = rf"({MONTH}){_YEAR}"
RANGES = tuple(
    re.compile(pattern, re.I)
    for pattern in (
        rf"(?<!difference )\bbetween\s+{_NAMED}\s*and\s*{_NAMED}",
        rf"\b{_NAMED}\s*(?:to|until|till|through|-|–)\s*{_NAMED}",
    )
)
SIDES = {
    ">=": r"since|starting(?: in| from)?|from|as of", ">": r"after",
    "<": r"before", "<=": r"until|till|up to|through",
}  # fmt: skip
DAY = re.compile(
    rf"\b(?:(?P<month>{MONTH})\s+(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?|"
    rf"(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<of>{MONTH}))(?![\d.,]*\d)",
    re.I,
)
ISO = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")
TO = r"to|until|till|through|-|–"
FROM_DAY = re.compile(
    rf"(?:\b(?P<and>between\s+)(?:the\s+)?)?\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s*(?:{TO}|(?(and)and|\Zx))\s*(?:the\s+)?\Z",
    re.I,
)
TO_DAY = re.compile(
    rf"\s*(?:{TO})\s*(?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*(?:of\s+)?{MONTH})", re.I
)
BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?\Z", re.I)
ORDINALS = ("first|1st", "second|2nd", "third|3rd", "fourth|4th")
HALVES = {
    ("1", "2"): r"(?:first|1st) half|h1",
    ("3", "4"): r"(?:second|2nd|last|other) half|h2",
}
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
OF_A_WEEK = re.compile(
    rf"\b(?:(?:on |during |only )(?P<working>weekdays|working days)|(?P<only>weekdays(?= only))|(?P<free>weekends?)|(?:(?:on|every|only) )?(?P<named>{'|'.join(WEEKDAYS)})s?)\b",
    re.I,
)
WEEKS = re.compile(
    r"\bweeks? (?P<first>\d{1,2})(?:\s*(?P<joint>to|until|-|–|and|or|vs|versus)\s*(?:week )?(?P<last>\d{1,2}))?\b",
    re.I,
)


def times(text: str, table: Table) -> list[Filter]:
    """The days, months, quarters and years that the question is about."""
    column = date_column(table, text)
    year_column = next((c for c in table.columns if stems(c) == ["year"]), None)
    years = tuple(re.findall(r"\b(?:19|20)\d\d\b", text))
    if column is None:
        return [Filter(year_column, "in", years)] if years and year_column else []
    if days := [(found.span(), found[0]) for found in ISO.finditer(text)]:
        return _of_days(text, f"day:{column}", days)
    of_weeks = _of_weeks(text, column)
    if span := _span(text, column, years):
        return [*span, *of_weeks]
    found = [Filter(year_column or f"year:{column}", "in", years)] if years else []
    found += of_weeks
    if days := _named_days(text):
        return [*found, *_of_days(text, f"monthday:{column}", days)]
    months = {int(month) for month in re.findall(r"\b(?:19|20)\d\d-(\d\d)\b", text)}
    months |= {month_of(each) for each in mentions(text)}
    if months:
        found.append(Filter(f"month:{column}", "in", tuple(str(each) for each in sorted(months))))
    quarters = {*re.findall(r"\bq([1-4])\b", text, re.I)}
    for number, words in enumerate(ORDINALS, start=1):
        quarters |= (
            {str(number)}
            if re.search(
                rf"\b(?:{words}) (?:quarter|(?:and|to|vs|versus) \w+ quarter)\b", text, re.I
            )
            else set()
        )
    for half, words in HALVES.items():
        quarters |= {*half} if re.search(rf"\b(?:{words})\b", text, re.I) else set()
    if quarters:
        found.append(Filter(f"quarter:{column}", "in", tuple(sorted(quarters))))
    return found


def _named_days(text: str) -> list[tuple[tuple[int, int], str]]:
    """The days that are named, as "03-15", and where; of "15 to 20 March" both."""
    days = []
    for found in DAY.finditer(text):
        month = f"{month_of(found['month'] or found['of']):02}"
        before, after = FROM_DAY.search(text[: found.start()]), TO_DAY.match(text[found.end() :])
        if before:
            days.append((before.span("day"), f"{month}-{int(before['day']):02}"))
        days.append((found.span(), f"{month}-{int(found['day'] or found['first']):02}"))
        if after and found["month"]:
            start, end = (found.end() + place for place in after.span("day"))
            days.append(((start, end), f"{month}-{int(after['day']):02}"))
    return days


def _of_days(text: str, part: str, days: list[tuple[tuple[int, int], str]]) -> list[Filter]:
    """From one day to another, on one side of a day, or on each of them."""
    (start, end), first = days[0]
    before = text[:start]
    if len(days) == 2:
        joint = text[end : days[1][0][0]].strip().lower()
        if re.fullmatch(TO, joint) or (joint == "and" and BETWEEN.search(before)):
            return [Filter(part, ">=", (first,)), Filter(part, "<=", (days[1][1],))]
    for operator, words in SIDES.items() if len(days) == 1 else ():
        if re.search(rf"\b(?:{words})\s+(?:the\s+)?\Z", before, re.I):
            return [Filter(part, operator, (first,))]
    return [Filter(part, "in", tuple(day for _, day in days))]


def _of_weeks(text: str, column: str) -> list[Filter]:
    """The days of the week, and the weeks by their number in the year (ISO 8601)."""
    found, days = [], set()
    for said in OF_A_WEEK.finditer(text):
        days |= (
            {*WEEKDAYS[:5]}
            if said["working"] or said["only"]
            else {*WEEKDAYS[5:]}
            if said["free"]
            else set()
        )
        days |= {said["named"].lower()} if said["named"] else set()
    if days:
        found.append(Filter(f"weekday:{column}", "in", tuple(d for d in WEEKDAYS if d in days)))
    if weeks := WEEKS.search(text):
        first, last = int(weeks["first"]), int(weeks["last"] or weeks["first"])
        both = (
            {first, last}
            if (weeks["joint"] or "").isalpha() and weeks["joint"].lower() not in ("to", "until")
            else range(first, last + 1)
        )
        found.append(Filter(f"week:{column}", "in", tuple(map(str, sorted(both)))))
    return found


def _span(text: str, column: str, years: tuple[str, ...]) -> list[Filter]:
    """From one month to another, or on one side of a month."""
    if match := next(filter(None, (each.search(text) for each in RANGES)), None):
        first, year, last, last_year = match.groups()
        return _between(
            column, month_of(first), month_of(last), year or last_year, last_year or year
        )
    for operator, words in SIDES.items():
        match = re.search(rf"\b(?:{words})\s+{_NAMED}", text, re.I)
        if match is None:
            continue
        month, year = month_of(match[1]), match[2] or (years[0] if years else None)
        if year:
            return [Filter(f"yearmonth:{column}", operator, (f"{year}-{month:02}",))]
        first = month + (operator == ">") if operator in (">", ">=") else 1
        last = month - (operator == "<") if operator in ("<", "<=") else 12
        return _between(column, first, last, None, None)
    return []


def _between(
    column: str, first: int, last: int, year: str | None, last_year: str | None
) -> list[Filter]:
    if year and last_year:
        bounds = ((">=", f"{year}-{first:02}"), ("<=", f"{last_year}-{last:02}"))
        return [Filter(f"yearmonth:{column}", operator, (value,)) for operator, value in bounds]
    months = [
        n
        for n in range(1, 13)
        if (first <= n <= last if first <= last else n >= first or n <= last)
    ]
    return [Filter(f"month:{column}", "in", tuple(map(str, months)))]


def mentions(text: str) -> list[str]:
    """The months by name; "may" only where it cannot be the verb."""
    return [
        match[0]
        for match in re.finditer(rf"\b{MONTH}", text, re.I)
        if match[0].lower() != "may"
        or re.search(r"\b(?:in|and|or|vs|versus|of|than|for|with)\s$", text[: match.start()], re.I)
        or (match[0] == "May" and match.start() > 0)
        or re.search(
            r"(?:^|\b(?:compare|about|only|just|during|by))\W*$", text[: match.start()], re.I
        )
        or re.match(
            rf"\W+(?:(?:and|or|vs|versus|to|with|against)\s+)?{MONTH}", text[match.end() :], re.I
        )
    ]


def month_of(name: str) -> int:
    """A month's number, by at least the first three letters of its name."""
    return [month[:3] for month in MONTHS].index(name[:3].lower()) + 1
