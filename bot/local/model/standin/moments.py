"""When something is to be done: at a time that was named, or again and again."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone

from .clock import TOLD
from .times import MONTHS, month_of
from .view import View

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MORNING = 9
PARTS = {"morning": MORNING, "afternoon": 14, "evening": 18, "tonight": 20}
"""The hour of a part of the day where none is said."""
AT = r"(?:\s*,?\s*at (?P<hour>\d{1,2}|noon)(?:[:.](?P<minute>\d\d))?\s*(?P<half>am|pm)?\b(?: o'clock)?)?"
OFTEN = re.compile(
    r"\b(?:every|each) (?P<day>month|(?:first|1st)(?: day)? of (?:the|each|every) month|day|morning|weekday|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?s?\b"
    + AT,
    re.IGNORECASE,
)
_MONTH = rf"(?:{'|'.join(MONTHS)}|{'|'.join(month[:3] for month in MONTHS)}|sept)"
DATE = (
    r"\d{4}-\d\d-\d\d|"
    rf"(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? 20\d\d)?|{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?:,? 20\d\d)?"
)
_HOUR = r"(?:\s*,?\s*(?:at\s+)?(?P<hour>\d{1,2}|noon)(?:[:.](?P<minute>\d\d))?\s*(?P<half>am|pm)?\b(?: o'clock)?)"
ONCE = re.compile(
    rf"\b(?<!last )(?:(?:on |for |next )*(?P<day>tomorrow|today|tonight|this(?= (?:morning|afternoon|evening)\b)|{'|'.join(DAYS)}|(?P<date>{DATE}))\b(?:\s+(?P<part>morning|afternoon|evening))?{_HOUR}?|"
    r"in (?P<count>\d{1,3}|an?|half an) (?P<unit>minutes?|mins?|hours?|days?|weeks?)\b|"
    rf"at (?P<only>\d{{1,2}}(?:[:.]\d\d)?\s*(?:am|pm)?|noon)\b(?:\s*(?P<after>tomorrow|today)\b)?)",
    re.IGNORECASE,
)
PASSED = re.compile(
    rf"\b(?:yesterday|last (?:night|week|month|year|{'|'.join(DAYS)})|(?:\d{{1,3}}|an?) \w+ ago)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Now:
    """The asker's own time, with the offset of the place."""

    at: datetime

    @classmethod
    def of(cls, view: View) -> Now:
        """As the clock tells it. Raises Need."""
        told = TOLD.search(view.do("current_time", "I look at the clock, to count from now."))
        if told is None:
            return cls(datetime.now(UTC))
        sign, hours, minutes = re.findall(r"UTC([+-])(\d\d):(\d\d)", told[5])[0]
        ahead = timedelta(hours=int(hours), minutes=int(minutes))
        zone = timezone(-ahead if sign == "-" else ahead)
        return cls(datetime.fromisoformat(f"{told[1]}T{told[2]}").replace(tzinfo=zone))

    def moment(self, said: re.Match[str]) -> datetime:
        """The time that was meant: of a day alone nine in the morning, of a time or of a date without
        its year alone the next."""
        if said["date"]:
            return self._dated(said["date"], _time(said))
        if said["count"]:
            return self.at + _span(said["count"].lower(), said["unit"].lower())
        day, clock = self.at.date(), _time(said)
        name = (said["day"] or said["after"] or "").lower().split(" ")[0]
        if name in DAYS:
            day += to_next(name, day)
        elif name == "tomorrow":
            day += timedelta(1)
        found = datetime.combine(day, clock, self.at.tzinfo)
        return found + timedelta(1) if not name and found <= self.at else found

    def _dated(self, date_said: str, clock: time) -> datetime:
        if re.match(r"\d{4}-", date_said):
            return datetime.combine(date.fromisoformat(date_said), clock, self.at.tzinfo)
        year = re.search(r"\b20\d\d\b", date_said)
        day = re.search(r"\b(\d{1,2})(?:st|nd|rd|th)?\b", date_said)
        month = re.search(_MONTH, date_said, re.IGNORECASE)
        if day is None or month is None:
            return self.at
        for of in [int(year[0])] if year else [self.at.year, self.at.year + 1]:
            last = monthrange(of, month_of(month[0]))[1]
            on = date(of, month_of(month[0]), max(1, min(int(day[1]), last)))
            if (found := datetime.combine(on, clock, self.at.tzinfo)) > self.at:
                break
        return found


def is_real(said: re.Match[str], at: datetime) -> bool:
    """Whether the day and the hour that were said are those of the time that was made of them."""
    hour = said["hour"] or re.sub(r"\D.*", "", said["only"] or "")
    day = re.search(r"\b\d{1,2}(?!\d)", re.sub(r"\d{4}-\d\d-", "", said["date"] or ""))
    return int(hour if hour.isdigit() else 0) < 24 and (day is None or int(day[0]) == at.day)


def has_passed(said: str) -> str:
    """What to say of a time that is over."""
    return (
        f"{said} has passed, so nothing was scheduled. Tell me a time to come, as “tomorrow at 10”."
    )


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


def to_next(name: str, day: date) -> timedelta:
    """From a day to the next of that name, which is never the day itself."""
    return timedelta((DAYS.index(name) - day.weekday() - 1) % 7 + 1)


def cron(said: re.Match[str]) -> str:
    """A time that comes again, as cron has it; nine in the morning where none was said."""
    clock = _at(said["hour"] or str(MORNING), said["minute"], said["half"])
    day = said["day"].lower()
    if day.endswith("month"):
        return f"{clock.minute} {clock.hour} 1 * *"
    days = {"day": "*", "morning": "*", "weekday": "MON-FRI"}.get(day, day[:3].upper())
    return f"{clock.minute} {clock.hour} * * {days}"


def in_words(at: datetime) -> str:
    """A time as people write it."""
    return f"{at:%A}, {at.day} {at:%B} at {at:%H:%M}"


def _time(said: re.Match[str]) -> time:
    if said["only"]:
        only = re.match(r"(\d+|noon)(?:[:.](\d\d))?\s*(am|pm)?", said["only"].lower())
        return _at(only[1], only[2], only[3]) if only else time(MORNING)
    part = (said["part"] or said["day"] or "").lower()
    return _at(said["hour"] or str(PARTS.get(part, MORNING)), said["minute"], said["half"])


def _at(hour: str, minute: str | None, half: str | None) -> time:
    if hour == "noon":
        return time(12)
    plain = int(hour) % 12 + 12 * (half.lower() == "pm") if half else int(hour) % 24
    return time(plain, int(minute or 0) % 60)


def _span(count: str, unit: str) -> timedelta:
    number = {"a": 1.0, "an": 1.0, "half an": 0.5}.get(count) or float(count)
    names = {"min": "minutes", "hou": "hours", "day": "days", "wee": "weeks"}
    return timedelta(**{names[unit[:3]]: number})
