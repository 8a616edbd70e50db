"""Schedules: questions that the bot asks itself later, and reminders, once or repeatedly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise

from babel.dates import get_day_names
from cronsim import CronSim, CronSimError
from pydantic import BaseModel, ConfigDict, Field

from bot.core.errors import ToolError
from bot.core.ids import new_id
from bot.core.request import Redacted
from bot.text.locales import locale_of
from bot.text.time_zones import zone_of
from bot.text.translation import Text, list_in_words, reader_locale

MOST = 10  # of one person in a workspace
_LEAST_MINUTES = 15
_CHECKED_TIMES = 100  # times of a schedule: more than a day of them at the shortest interval
_ON_DAYS = re.compile(
    r"(?P<time>at [\d:, and]+) (?:on (?P<days>\w+day(?:(?:, and|,| and| through) \w+day)*)|every day)"
)
_TIME = r"\d\d:\d\d"
_AT_TIMES = re.compile(rf"every (?P<days>.+) at (?P<times>{_TIME}(?:(?:, and|,| and) {_TIME})*)")
_BETWEEN = re.compile(r",? and |, ")
_MONTHLY = re.compile(r"\d+ \d+ (?P<day>\d+) \* \*")
_TIME_IN = re.compile(_TIME)
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAILY_AT = Text("every day at {times}")
_ON_DAYS_AT = Text("every {days} at {times}")
_MONTHLY_AT = Text("on day {day} of each month at {time}")
_DAYS_BETWEEN = Text("{first} through {last}")


class Schedule(BaseModel):
    """A question that is asked on behalf of `user` at set times, or what they are reminded of.

    - `thread`: the thread of `channel` in which it comes; "" for a new message each time.
    - `remind`: the text is posted as it is, and no model is asked.
    - `next_at`: the next time, in seconds since the epoch.
    - `cron`: when it repeats, in `time_zone`; "" for a question that is asked once.
    - `suggested`: nobody approved the text, which the model worded.
    - `refresh`: the id of the run whose answer is kept up to date; "" for a question. `question` is what
      that run answered; "" in schedules of earlier releases.
    - `waits_for`: the MCP server whose account its owner has to connect first, "" for none.
    - `refusals`: how many times in a row it could not be asked.
    - `tries`: how many times a bug kept it from being asked since it was due.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    id: str = Field(default_factory=lambda: new_id("sched", 6))
    team: str
    channel: str
    thread: str
    user: str
    text: Redacted
    cron: str = ""
    time_zone: str = "UTC"
    next_at: int
    remind: bool = False
    suggested: bool = False
    refresh: str = ""
    question: Redacted = ""
    waits_for: str = ""
    refusals: int = 0
    tries: int = 0
    made: datetime = Field(default_factory=lambda: datetime.now(UTC))


def first_time(cron: str, time_zone: str, now: float) -> int:
    """Return the first time of a new schedule, as `next_time` does.

    Also raises ToolError if any two of its times are closer than 15 minutes.
    """
    soon = islice(_due_times(cron, time_zone, now), _CHECKED_TIMES)
    if any(later - sooner < timedelta(minutes=_LEAST_MINUTES) for sooner, later in pairwise(soon)):
        raise ToolError(f"At most every {_LEAST_MINUTES} minutes.")
    return next_time(cron, time_zone, now)


def next_time(cron: str, time_zone: str, now: float) -> int:
    """Return when `cron` is next due after `now`, both in seconds since the epoch.

    `cron` is in the local time of `time_zone`. Raises ToolError if it is invalid or never due.
    """
    due = next(_due_times(cron, time_zone, now), None)
    if due is None:
        raise ToolError(f"{cron!r} never comes.")
    return int(due.timestamp())


def _due_times(cron: str, time_zone: str, now: float) -> Iterator[datetime]:
    try:
        return CronSim(cron, datetime.fromtimestamp(now, zone_of(time_zone)))
    except CronSimError as error:
        raise ToolError(f'{cron!r} is no cron expression ({error}). Write "0 9 * * MON".') from None


def cron_in_words(cron: str) -> str:
    """Return a cron expression in words, "every Monday at 09:00"; unchanged if it is not valid."""
    try:
        words = CronSim(cron, datetime.now(UTC)).explain()
    except CronSimError:
        return cron
    words = words[:1].lower() + words[1:]
    found = _ON_DAYS.fullmatch(words)
    return f"every {found['days'] or 'day'} {found['time']}" if found else words


def often_of(cron: str) -> str:
    """Return `cron_in_words` in the reader's language; in English for times of an unusual form."""
    english = cron_in_words(cron)
    if reader_locale().startswith("en"):
        return english
    if (monthly := _MONTHLY.fullmatch(cron)) and (time := _TIME_IN.search(english)):
        return _MONTHLY_AT(day=monthly["day"], time=time[0])
    found = _AT_TIMES.fullmatch(english)
    if found is None:
        return english
    times = list_in_words(_BETWEEN.split(found["times"]))
    if found["days"] == "day":
        return _DAILY_AT(times=times)
    names = get_day_names("wide", locale=locale_of(reader_locale()))
    days = [
        [names[_WEEKDAYS.index(day)] for day in each.split(" through ")]
        for each in _BETWEEN.split(found["days"])
    ]
    spans = [_DAYS_BETWEEN(first=each[0], last=each[-1]) if each[1:] else each[0] for each in days]
    return _ON_DAYS_AT(days=list_in_words(spans), times=times)


def is_said_whole(cron: str) -> bool:
    """Return whether `cron_in_words` describes all of `cron`: its words give the same times."""
    found = _AT_TIMES.fullmatch(cron_in_words(cron))
    if found is None:
        return False
    days = [each.split(" through ") for each in _BETWEEN.split(found["days"])]
    names = ",".join("-".join(day[:3].upper() for day in each) for each in days)
    hours, minutes = zip(*(each.split(":") for each in _BETWEEN.split(found["times"])), strict=True)
    parsed = f"{','.join(minutes)} {','.join(hours)} * * {'*' if names == 'DAY' else names}"
    try:
        return _times(parsed) == _times(cron)
    except CronSimError:  # such as for days that wrap around the end of the week
        return False


def _times(cron: str) -> tuple[object, ...]:
    """Return the times of an expression in a form that is equal for equal times."""
    sim = CronSim(cron, datetime.now(UTC))
    return sim.seconds, sim.minutes, sim.hours, sim.days, sim.months, sim.weekdays, sim.day_and
