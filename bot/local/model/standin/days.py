"""Dates: today's, another one counted from it, and how long it is until a day."""

from __future__ import annotations

import re
from calendar import isleap
from datetime import date, timedelta
from typing import Any

from .findings import Findings
from .moments import DAYS, to_next
from .outputs import failed
from .times import MONTHS, month_of
from .view import View
from .words import has

TODAY = re.compile(
    r"\bwhat(?:'s| is)?(?: the)? (?:(?:current )?(?:date|day)|weekday)(?: of the week)?(?: (?:is|do we have))?(?: it)?"
    r"\s*(?P<when>today|tomorrow|yesterday|now)?\W*$|\bwhat day (?:is|was) (?P<other>today|tomorrow|yesterday)|"
    r"\b(?:today's|tomorrow's) date\b",
    re.IGNORECASE,
)
UNTIL = re.compile(
    r"\b(?:how (?:many (?P<unit>(?:working |business )?days|weeks)|long)(?: (?:is|are) (?:it|there|left))?|days|weeks) (?:until|till|to|before|since)\s+(?P<day>.+)|"
    r"\bin how many (?P<of>days|weeks) (?:is|are)\s+(?P<on>.+)",
    re.IGNORECASE,
)
NO_DAY = re.compile(
    r"\bhow many (?:hours|days|weeks|months|minutes)\b.*\b(?:until|till|left|to go)\b",
    re.IGNORECASE,
)
WEEKDAY = re.compile(
    r"\b(?:what|which) (?:week)?day(?: of the week)? (?:is|was|will(?: be)?|falls)(?: (?:it|on))*\s+(?P<day>.+)|"
    r"\bwhen is (?P<feast>(?:christmas|halloween|valentine|new year)\b.*)",
    re.IGNORECASE,
)
IS_A = re.compile(
    rf"\b(?:is|was|will) (?P<day>.+?) (?:be )?(?:on )?an? (?P<name>{'|'.join(DAYS)})\W*$",
    re.IGNORECASE,
)
THAT = re.compile(
    r"\W*(?:and )?(?:how many (?P<unit>working days|business days|weekdays|weeks)(?: (?:is|are|was|were|does|makes?) (?:that|this|it|those|these|there)\b.*)?|"
    r"(?:in )?(?P<of>working days|business days|weeks))\W*",
    re.IGNORECASE,
)
"""What the days that were counted just now are in another measure."""
ON = re.compile(
    r"\b(?:what (?:date|day) (?:is|will it be|is it)(?: in)?|date in|in)\s+(?P<count>\d{1,4}) (?P<unit>days?|weeks?|months?|years?)"
    r"(?: from (?:now|today))?\W*$",
    re.IGNORECASE,
)
BETWEEN = re.compile(
    r"\b(?:how many|number of)(?: (?:working|business))? days\b.*?\b(?:between|from)\s+(?P<one>.+?)\s+(?:and|to|until|till)\s+(?P<other>.+)",
    re.IGNORECASE,
)
NEXT = re.compile(
    rf"\b(?:what (?:date|day)|when)(?: is| will)?(?: it)?(?: be)?(?: the)? (?P<which>next|this|coming|last)?\s*(?P<name>{'|'.join(DAYS)})\b",
    re.IGNORECASE,
)
WEEK = re.compile(
    r"\b(?:what|which) (?:calendar )?week(?: number)?(?! (?:had|has|did|was|were|sold|saw|with|brought))\b|\bweek number\b",
    re.IGNORECASE,
)
LEAP = re.compile(
    r"\b(?P<year>\d{4})\b.*\bleap year|\bleap year\b.*?\b(?P<other>\d{4})\b", re.IGNORECASE
)
AGE = re.compile(
    r"\b(?:how old|what age)\b.*?\b(?:born|birthday)\b(?: (?:on|in|is))*\s+(?P<day>.+)",
    re.IGNORECASE,
)
FEASTS = {
    "christmas eve": (12, 24), "christmas": (12, 25), "new year's eve": (12, 31), "new year": (1, 1),
    "halloween": (10, 31), "valentine": (2, 14),
}  # fmt: skip
SHIFTS = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1}
_NAMED = re.compile(
    rf"(?:(?P<first>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? )?(?P<month>{'|'.join(m[:3] for m in MONTHS)})[a-z]*\.?"
    r"(?: (?P<second>\d{1,2})(?!\d)(?:st|nd|rd|th)?)?(?:,? (?P<year>\d{4}))?",
    re.IGNORECASE,
)


def is_asked(view: View) -> bool:
    """Whether this asks for a date or for a number of days, and today's date is known."""
    if not view.turn.day:
        return False
    today = _today(view)
    if _between(view) or _reckoned(view.text, today) or _until(view):
        return True
    if _counted_before(view) or NO_DAY.search(view.text):
        return True
    return bool(TODAY.search(view.text) or ON.search(view.text))


def answer(view: View, found: Findings) -> None:
    """Count with the tools for dates, from the day on which it was asked."""
    today = _today(view)
    if counted := _counted_before(view):
        found.summary = _in_another_measure(view.text, counted)
    elif between := _between(view):
        _count(view, found, *between)
    elif reckoned := _reckoned(view.text, today):
        found.summary = reckoned
    elif until := _until(view):
        _count(view, found, today, until)
    elif NO_DAY.search(view.text):
        found.summary = "I can count the days until a day that you name, as in “How many days until 24 December?”."
        return
    elif asked := ON.search(view.text):
        unit = asked["unit"].lower().rstrip("s")
        count = int(asked["count"]) * (7 if unit == "week" else 1)
        known: dict[str, Any] = {f"{'day' if unit == 'week' else unit}s": count}
        output = view.do(
            "shift_date", "I count on from today.", start=today.isoformat(), **_shift(known)
        )
        told = re.search(r"date: (\S+) \((\w+)\)", output)
        found.summary = (
            f"In {asked['count']} {asked['unit']} it is **{told[2]}, {told[1]}**."
            if told
            else output
        )
    else:
        said = next((word for word in SHIFTS if word in view.text.lower()), "today")
        day = today + timedelta(SHIFTS[said])
        verb = "was" if said == "yesterday" else "is"
        found.summary = f"{said.replace('now', 'today').capitalize()} {verb} **{day:%A}, {day.day} {day:%B %Y}**."
    found.source("Calendar", None, "The date where you are.")


def _reckoned(text: str, today: date) -> str:
    """What a look at the calendar tells; "" when nothing of the kind is asked."""
    if asked := NEXT.search(text):
        last = (asked["which"] or "").lower() == "last"
        day = today + to_next(asked["name"].lower(), today)
        if last:
            day -= timedelta(14 if day.weekday() == today.weekday() else 7)
        return f"{'Last' if last else 'The next'} {day:%A} {'was' if last else 'is'} **{day.day} {day:%B %Y}**."
    if named := _weekday(text, today):
        return named
    if WEEK.search(text):
        on = _day(text, today)
        when = f"{on.day} {on:%B %Y} is in" if on else "It is"
        week = (on or today).isocalendar()
        return f"{when} week **{week.week}** of {week.year}."
    if asked := LEAP.search(text):
        year = int(asked["year"] or asked["other"])
        return f"{'Yes' if isleap(year) else 'No'}: {year} {'has' if isleap(year) else 'does not have'} a 29 February."
    asked = AGE.search(text)
    born = _day(asked["day"], today) if asked else None
    if born is None or born > today:
        return ""
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    return f"Somebody born on {born.day} {born:%B %Y} is **{age} years old**."


def _weekday(text: str, today: date) -> str:
    """The day of the week of a date, or whether it is the one that was said; "" where none is asked."""
    asked, named = IS_A.search(text), WEEKDAY.search(text)
    if asked and (on := _shifted(asked["day"], today) or _day(asked["day"], today)):
        told = "Yes: " if DAYS[on.weekday()] == asked["name"].lower() else "No: "
    elif named and (on := _day(named["day"] or named["feast"], today)):
        told = ""
    else:
        return ""
    return f"{told}{on.day} {on:%B %Y} {'was' if on < today else 'is'} a **{on:%A}**."


def _shifted(said: str, today: date) -> date | None:
    days = SHIFTS.get(said.strip().lower())
    return None if days is None else today + timedelta(days)


def _until(view: View) -> date | None:
    asked = UNTIL.search(view.text)
    return _day(asked["day"] or asked["on"], _today(view)) if asked else None


def _counted_before(view: View) -> str:
    """What was counted just now, where the question is about no more; "" otherwise."""
    before = view.earlier[0] if view.earlier else None
    said = THAT.fullmatch(view.text) and before and before.tool == "count_days"
    return (before.output or "") if said and before else ""


def _in_another_measure(text: str, counted: str) -> str:
    wanted = THAT.fullmatch(text)
    if wanted and "week" in (wanted["unit"] or wanted["of"]).lower().replace("weekday", ""):
        told = re.search(r"^days: -?([\d,]+)", counted, re.M)
        weeks, days = divmod(int(told[1].replace(",", "")), 7) if told else (0, 0)
        rest = f" and {days} day{'s' * (days != 1)}" if days else ""
        return f"These are **{weeks} week{'s' * (weeks != 1)}{rest}**."
    working = re.search(r"^working days: -?([\d,]+)", counted, re.M)
    return (
        f"Of these, **{working[1]}** are working days, Monday to Friday."
        if working
        else "I cannot tell."
    )


def _between(view: View) -> tuple[date, date] | None:
    asked = BETWEEN.search(view.text)
    if asked is None:
        return None
    one, other = _day(asked["one"], _today(view)), _day(asked["other"], _today(view))
    return (one, other) if one and other else None


def _shift(known: dict[str, Any]) -> dict[str, Any]:
    return {"days": 0, "working_days": 0, "months": 0, "years": 0} | known


def _count(view: View, found: Findings, today: date, day: date) -> None:
    output = view.do(
        "count_days", "I count the days.", start=today.isoformat(), end=day.isoformat()
    )
    counted = re.search(r"^days: -?([\d,]+)", output, re.M)
    if failed(output) or counted is None:
        found.summary = "These days cannot be counted."
        return
    working = re.search(r"^working days: -?([\d,]+)", output, re.M)
    days = f"{counted[1]} day{'' if counted[1] == '1' else 's'}"
    if today != _today(view):
        when = f"from {today.day} {today:%B %Y} to {day.day} {day:%B %Y}"
    else:
        when = _when(today, day)
    found.summary = f"It is **{days}** {when}."
    if has(view.text, "weeks"):
        found.points.append(_in_another_measure("weeks", output))
    if working:
        found.points.append(f"Of these, {working[1]} are working days, Monday to Friday.")


def _when(today: date, day: date) -> str:
    if day < today:
        return f"since {day.day} {day:%B %Y}"
    return f"until {day:%A}, {day.day} {day:%B %Y}"


def _today(view: View) -> date:
    return date.fromisoformat(view.turn.day)


def _day(said: str, today: date) -> date | None:
    """A day that was named; the next one of that name when no year was said."""
    if written := re.search(r"\d{4}-\d\d-\d\d", said):
        return _valid(*map(int, written[0].split("-")))
    for name, (month, day) in FEASTS.items():
        if name in said.lower():
            return _next(month, day, today)
    named = _NAMED.search(said)
    if named is None or not (named["first"] or named["second"]):
        return None
    month, day = month_of(named["month"]), int(named["first"] or named["second"])
    return _valid(int(named["year"]), month, day) if named["year"] else _next(month, day, today)


def _next(month: int, day: int, today: date) -> date | None:
    found = _valid(today.year, month, day)
    return found if found is None or found >= today else _valid(today.year + 1, month, day)


def _valid(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None
