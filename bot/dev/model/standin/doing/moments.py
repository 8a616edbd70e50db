"""When something is to be done: at a time that was named, or again and again."""

from __future__ import annotations

import re
from calendar import month_name
from datetime import UTC, date, datetime, time, timedelta, timezone

from ..view import View

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS = tuple(name[:3].lower() for name in month_name[1:])
PARTS = {"morning": 9, "afternoon": 14, "evening": 18, "tonight": 20}
"""The hour of a part of the day where none is said."""
_MONTH = rf"(?:{'|'.join(MONTHS)})[a-z]*"
_DAY_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?"
DATE = rf"(?:\d{{4}}-\d\d-\d\d|{_DAY_OF_MONTH} {_MONTH}(?:,? \d{{4}})?|{_MONTH} {_DAY_OF_MONTH}(?:,? \d{{4}})?)"
CLOCK = r"(?<!\w)(?:\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|noon|midnight)\b"
DAY = rf"(?:today|tomorrow|(?:next )?(?:{'|'.join(DAYS)})|{DATE})"
SPAN = r"in (?:\d{1,3}|an?|half an) (?:minute|hour|day|week)s?\b"
ONCE = (
    rf"(?:{SPAN}|(?:on )?{DAY}(?: (?:morning|afternoon|evening))?(?:,?(?: at)? {CLOCK})?|"
    rf"tonight(?: at {CLOCK})?|this (?:afternoon|evening)|at {CLOCK}(?: (?:today|tomorrow))?)"
)
EVERY = rf"every (?:day|morning|weekday|month|{'|'.join(DAYS)})\b"
OFTEN = rf"{EVERY}(?: at {CLOCK})?"
RHYTHMS = "every day, morning, weekday and month (on its first), and one day of each week"
_CLOCK = re.compile(r"(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?(?: ?(?P<half>[ap])m)?", re.I)
_SPAN = re.compile(r"in (?P<count>\S+|half an) (?P<unit>minute|hour|day|week)s?", re.IGNORECASE)
_DATED = re.compile(
    rf"(?P<iso>\d{{4}}-\d\d-\d\d)|(?:(?P<first>\d{{1,2}})\w* )?(?P<month>{_MONTH})(?: (?P<second>\d{{1,2}})(?:\D\D)?\b)?"
    r"(?:,? (?P<year>\d{4}))?",
    re.IGNORECASE,
)
TOLD = re.compile(r"^\w+: (\S+) (\d\d:\d\d)(?::\d\d)? (\w+) \((\S+), (\S+)\)$", re.M)
"""A time as the clock tells it."""


def now(view: View) -> datetime:
    """The asker's own time, with the offset of the place. Raises Need."""
    told = TOLD.search(view.do("current_time", "I look at the clock, to count from now."))
    if told is None:
        return datetime.now(UTC)
    sign, hours, minutes = re.findall(r"UTC([+-])(\d\d):(\d\d)", told[5])[0]
    ahead = timedelta(hours=int(hours), minutes=int(minutes))
    zone = timezone(-ahead if sign == "-" else ahead)
    return datetime.fromisoformat(f"{told[1]}T{told[2]}").replace(tzinfo=zone)


def moment(said: str, at: datetime) -> datetime | None:
    """The time that is meant by ONCE, counted from `at`: of an hour alone the next; None for one
    that there is not."""
    if span := _SPAN.match(said):
        number = {"a": 1.0, "an": 1.0, "half": 0.5}.get(span["count"].lower())
        count = float(span["count"]) if number is None else number
        return at + timedelta(**{f"{span['unit'].lower()}s": count})
    day, clock = day_of(said, at.date()), _time(re.sub(DATE, "", said, flags=re.IGNORECASE))
    if clock is None or (day is None and re.search(DATE, said, re.IGNORECASE)):
        return None
    found = datetime.combine(day or at.date(), clock, at.tzinfo)
    return found + timedelta(1) if not day and found <= at else found


def cron(said: str) -> str:
    """The time that is meant by OFTEN, as cron has it; "" for one that there is not."""
    clock, which = _time(said), said.lower().split()[1]
    if clock is None:
        return ""
    if which == "month":
        return f"{clock.minute} {clock.hour} 1 * *"
    days = {"day": "*", "morning": "*", "weekday": "MON-FRI"}.get(which, which[:3].upper())
    return f"{clock.minute} {clock.hour} * * {days}"


def time_of(said: str) -> time | None:
    """A time of day that was named; None for one that there is not."""
    if word := re.search(r"\b(?:noon|midnight)\b", said, re.IGNORECASE):
        return time(12 if word[0].lower() == "noon" else 0)
    found = _CLOCK.search(said)
    if found is None or int(found["hour"]) > 23 or int(found["minute"] or 0) > 59:
        return None
    hour, half = int(found["hour"]), (found["half"] or "").lower()
    return time(hour % 12 + 12 * (half == "p") if half else hour, int(found["minute"] or 0))


def _time(said: str) -> time | None:
    """A time of day, or the hour of the part of a day that was named."""
    if re.search(CLOCK, said, re.IGNORECASE):
        return time_of(said)
    return time(next((hour for part, hour in PARTS.items() if part in said.lower()), 9))


def day_of(said: str, today: date) -> date | None:
    """A day that was named: of a name, or a date without its year, the next; None for none."""
    words = said.lower().split()
    for word, shift in {
        "today": 0,
        "tonight": 0,
        "this": 0,
        "tomorrow": 1,
        "yesterday": -1,
    }.items():
        if word in words:
            return today + timedelta(shift)
    if name := next((word for word in words if word.strip(",?") in DAYS), None):
        return today + to_next(name.strip(",?"), today)
    return _dated(said, today)


def _dated(said: str, today: date) -> date | None:
    found = _DATED.search(said)
    if found is None or not (found["iso"] or found["first"] or found["second"]):
        return None
    try:
        if found["iso"]:
            return date.fromisoformat(found["iso"])
        month = MONTHS.index(found["month"][:3].lower()) + 1
        day = date(int(found["year"] or today.year), month, int(found["first"] or found["second"]))
        return day if found["year"] or day >= today else day.replace(year=day.year + 1)
    except ValueError:
        return None


def has_passed(at: datetime) -> str:
    """What to say of a time that is over."""
    return f"{in_words(at)} has passed, so nothing was scheduled. Tell me a time to come, as “tomorrow at 10”."


def no_time(said: str) -> str:
    """What to say of a time that there is not."""
    return f"“{said}” is no time there is, so nothing was scheduled. Say it as “tomorrow at 10”."


def in_words(at: datetime) -> str:
    """A time as people write it."""
    return f"{at:%A}, {at.day} {at:%B} at {at:%H:%M}"


def to_next(name: str, day: date) -> timedelta:
    """From a day to the next of that name, which is never the day itself."""
    return timedelta((DAYS.index(name) - day.weekday() - 1) % 7 + 1)


def absolute(text: str, day: str) -> str:
    """A text with "last month", "this year" and the like as the month or year that they are on that
    day (ISO; "" when it is not known: then the text as it is)."""
    if not day:
        return text
    today = date.fromisoformat(day)
    before = today.replace(day=1) - timedelta(1)
    quarter = (today.month - 1) // 3
    week, last_week = today.isocalendar(), (today - timedelta(7)).isocalendar()
    ended = date(today.year - (quarter == 0), (quarter or 4) * 3, 1)
    named = {
        "yesterday(?:'s)?": f"on {today - timedelta(1)}",
        r"(?:in |of |for )?last week(?:'s)?": f"in week {last_week[1]} of {last_week[0]}",
        r"(?:in |of |for )?(?:this|current) week(?:'s)?": f"in week {week[1]} of {week[0]}",
        r"(?:in |of |for )?last quarter(?:'s)?": f"in Q{quarter or 4} {ended.year}",
        r"(?:in |of |for )?(?:this|current) quarter(?:'s)?": f"in Q{quarter + 1} {today.year}",
        r"(?:in |of |for )?(?:the )?last month(?:'s)?": f"in {before:%B %Y}",
        r"(?:in |of |for )?(?:the )?(?:this|current) month(?:'s)?": f"in {today:%B %Y}",
        r"(?:in |of |for )?(?:the )?last year(?:'s)?": f"in {today.year - 1}",
        r"(?:in |of |for )?(?:the )?(?:this|current) year(?:'s)?": f"in {today.year}",
    }
    for words, when in named.items():
        text = re.sub(rf"\b{words}\b(?!\w)", when, text, flags=re.IGNORECASE)
    return text
