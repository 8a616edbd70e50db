"""A question that is asked again later, by itself."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cronsim import CronSim, CronSimError
from pydantic import BaseModel, ConfigDict, Field

from bot.core.ids import new_id
from bot.core.request import Redacted

_ON_DAYS = re.compile(
    r"(?P<time>at [\d:, and]+) (?:on (?P<days>\w+day(?:(?:, and|,| and| through) \w+day)*)|every day)"
)
_TIME = r"\d\d:\d\d"
_AT_TIMES = re.compile(rf"every (?P<days>.+) at (?P<times>{_TIME}(?:(?:, and|,| and) {_TIME})*)")
_BETWEEN = re.compile(r",? and |, ")


class Schedule(BaseModel):
    """`text` is asked for `user` in `thread` at `next_at` (seconds since the epoch), and then as often
    as `cron` says, in `time_zone`; an empty `cron` is once. `refusals` counts times in a row at which
    it could not be asked."""

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
    refusals: int = 0
    made: datetime = Field(default_factory=lambda: datetime.now(UTC))


def cron_in_words(cron: str) -> str:
    """A cron expression as people say it, "every Monday at 09:00"; as it stands where it is none."""
    try:
        said = CronSim(cron, datetime.now(UTC)).explain()
    except CronSimError:
        return cron
    said = said[:1].lower() + said[1:]
    found = _ON_DAYS.fullmatch(said)
    return f"every {found['days'] or 'day'} {found['time']}" if found else said


def is_said_whole(cron: str) -> bool:
    """Whether its words say all of it: read back, they are the same expression."""
    found = _AT_TIMES.fullmatch(cron_in_words(cron))
    if found is None:
        return False
    days = [each.split(" through ") for each in _BETWEEN.split(found["days"])]
    named = ",".join("-".join(day[:3].upper() for day in each) for each in days)
    hours, minutes = zip(*(each.split(":") for each in _BETWEEN.split(found["times"])), strict=True)
    read = f"{','.join(minutes)} {','.join(hours)} * * {'*' if named == 'DAY' else named}"
    try:
        return _moments(read) == _moments(cron)
    except CronSimError:  # as of days that go on into the next week, from Monday through Sunday
        return False


def _moments(cron: str) -> tuple[object, ...]:
    """What an expression means, however it is written."""
    sim = CronSim(cron, datetime.now(UTC))
    return sim.seconds, sim.minutes, sim.hours, sim.days, sim.months, sim.weekdays, sim.day_and
