"""Dates: today's, another one counted from it, and how long it is until a day."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

from ..doing.moments import DAY, day_of
from ..findings import Findings
from ..outputs import failed
from ..phrasing import phrase
from ..view import View

FEASTS = {"christmas eve": "24 December", "christmas": "25 December", "new year": "1 January"}
_DAY = rf"(?:{DAY}|{'|'.join(FEASTS)})"
_MANY = r"how (?:many (?:(?:working |business )?days|weeks)|long)(?: (?:is|are) (?:it|there|left))?"
TODAY = phrase(
    r"what(?:['’]?s| is) (?:the date(?: of)?(?: (?P<day>today|tomorrow))?|today['’]?s date|today)|"
    r"what (?:day|date) is (?:it(?: today)?|today|(?P<other>tomorrow))"
)
UNTIL = phrase(rf"{_MANY} (?:until|till|to|before|since) (?P<day>{_DAY})")
BETWEEN = phrase(
    rf"{_MANY} (?:between|from) (?P<day>{_DAY}) (?:and|to|until|till) (?P<other>{_DAY})"
)
WEEKDAY = phrase(
    rf"(?:what|which) (?:date|(?:week)?day(?: of the week)?) (?:is|was|will be) (?P<day>{_DAY})"
)
AHEAD = phrase(
    r"what (?:date|day) (?:is it|will it be) in (?P<count>\d{1,4}) (?P<unit>day|week|month|year)s?"
)


def is_asked(view: View) -> bool:
    """Whether this asks for a date or for a number of days, and today's date is known."""
    ways = (TODAY, UNTIL, BETWEEN, WEEKDAY, AHEAD)
    return bool(view.turn.day) and any(way.fullmatch(view.text) for way in ways)


def answer(view: View, found: Findings) -> None:
    """Count with the tools for dates, from the day on which it was asked."""
    today = date.fromisoformat(view.turn.day)
    text = view.text
    if asked := TODAY.fullmatch(text):
        ahead = asked["day"] == "tomorrow" or bool(asked["other"])
        day = today + timedelta(ahead)
        found.summary = f"{'Tomorrow' if ahead else 'Today'} is **{day:%A}, {_written(day)}**."
    elif asked := UNTIL.fullmatch(text):
        _count(view, found, today, _day(asked["day"], today))
    elif asked := BETWEEN.fullmatch(text):
        _count(view, found, _day(asked["day"], today), _day(asked["other"], today))
    elif asked := WEEKDAY.fullmatch(text):
        if named := _day(asked["day"], today):
            verb = "was" if named < today else "is"
            found.summary = f"{_written(named)} {verb} a **{named:%A}**."
    elif asked := AHEAD.fullmatch(text):
        _shift(view, found, today, asked)
    found.summary = found.summary or "There is no such day in the calendar."
    found.source("Calendar", None, "The date where you are.")


def _day(said: str, today: date) -> date | None:
    return day_of(FEASTS.get(said.lower(), said), today)


def _written(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


def _shift(view: View, found: Findings, today: date, asked: re.Match[str]) -> None:
    unit, count = asked["unit"].lower(), int(asked["count"])
    given: dict[str, Any] = {"days": 0, "working_days": 0, "months": 0, "years": 0}
    given["days" if unit == "week" else f"{unit}s"] = count * 7 if unit == "week" else count
    output = view.do("shift_date", "I count on from today.", start=today.isoformat(), **given)
    told = re.search(r"date: (\S+) \((\w+)\)", output)
    many = f"{count} {unit}{'s' * (count != 1)}"
    found.summary = f"In {many} it is **{told[2]}, {told[1]}**." if told else output


def _count(view: View, found: Findings, start: date | None, end: date | None) -> None:
    if not (start and end):
        return
    output = view.do("count_days", "I count the days.", start=str(start), end=str(end))
    days = re.search(r"^days: -?([\d,]+)", output, re.M)
    if failed(output) or days is None:
        found.summary = "These days cannot be counted."
        return
    number = int(days[1].replace(",", ""))
    until = f"until {end:%A}, {_written(end)}" if end >= start else f"since {_written(end)}"
    if start.isoformat() != view.turn.day:
        until = f"from {_written(start)} to {_written(end)}"
    found.summary = f"It is **{days[1]} day{'s' * (number != 1)}** {until}."
    if "week" in view.text.lower():
        found.points.append(f"These are {number // 7} weeks and {number % 7} days.")
    if working := re.search(r"^working days: -?([\d,]+)", output, re.M):
        found.points.append(f"Of these, {working[1]} are working days, Monday to Friday.")
