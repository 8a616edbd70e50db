"""Clocks: the time somewhere, and a time in another zone."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import available_timezones

from ..doing.moments import CLOCK, TOLD, time_of
from ..findings import Findings
from ..outputs import failed, reason
from ..phrasing import phrase
from ..view import View
from ..words import listed

_PLACE = r"[a-z][a-z .'-]*?"
_PLACES = r"(?P<places>[a-z][a-z ,.'-]*?)"
"""One place, or several with commas and "and" between them."""
_ASKED = r"what(?:['’]?s| is)? (?:the )?(?:current )?(?:local )?time"
NOW = phrase(
    rf"(?:{_ASKED}(?: is it)?|current time|time)(?: now)?(?: in {_PLACES})?(?: right now)?"
)
_AT = rf"(?P<time>{CLOCK})(?: o'clock)?(?: in)? (?P<from>{_PLACE})(?: time)?"
CONVERT = (
    phrase(rf"(?:when|if) it(?:['’]?s| is) {_AT},? {_ASKED} is it in {_PLACES}"),
    phrase(rf"{_ASKED} is it in {_PLACES},? (?:when|if) it(?:['’]?s| is) {_AT}"),
    phrase(rf"(?:convert |what(?:['’]?s| is) )?{_AT} (?:to|in|into) {_PLACES}"),
)
AND_IN = phrase(rf"(?:(?:what|how) about(?: in)?|in) {_PLACES}")
PLACES = {
    "nyc": "America/New_York", "san francisco": "America/Los_Angeles", "california": "America/Los_Angeles",
    "seattle": "America/Los_Angeles", "boston": "America/New_York", "india": "Asia/Kolkata",
    "mumbai": "Asia/Kolkata", "delhi": "Asia/Kolkata", "beijing": "Asia/Shanghai", "china": "Asia/Shanghai",
    "japan": "Asia/Tokyo", "germany": "Europe/Berlin", "munich": "Europe/Berlin", "france": "Europe/Paris",
    "uk": "Europe/London", "england": "Europe/London", "gmt": "UTC", "utc": "UTC", "cet": "Europe/Berlin",
    "est": "America/New_York", "pst": "America/Los_Angeles",
}  # fmt: skip
"""Places that no zone is called by."""


def is_asked(view: View) -> bool:
    """Whether this asks for the time, here or elsewhere."""
    return bool(NOW.fullmatch(view.text) or _converted(view) or _goes_on(view))


def _converted(view: View) -> re.Match[str] | None:
    asked = next((each for way in CONVERT if (each := way.fullmatch(view.text))), None)
    if asked and asked.re is CONVERT[-1] and _known(asked["from"]) is None:
        return None  # as "5 apples in kilos"
    return asked


def _goes_on(view: View) -> re.Match[str] | None:
    """ "And in Oslo?" after a time was told."""
    last = view.earlier[0].tool if view.earlier else ""
    return AND_IN.fullmatch(view.text) if last in ("current_time", "convert_time") else None


def answer(view: View, found: Findings) -> None:
    """The time now, or a time in another zone."""
    if asked := _converted(view):
        time = time_of(asked["time"])
        clock = f"{time:%H:%M}" if time else asked["time"]
        _convert(view, found, clock, zone(asked["from"]), _places(asked["places"]))
        return
    goes_on, now = _goes_on(view), NOW.fullmatch(view.text)
    asked_of = goes_on or now
    named = asked_of and asked_of["places"]
    before = view.earlier[0] if goes_on else None
    if before and before.tool == "convert_time":
        given = before.arguments
        _convert(view, found, given["time"], given["from_zone"], _places(named or ""))
        return
    zones = [zone(place) for place in _places(named)] if named else [None]
    _tell(found, [
        view.do("current_time", "I look at the clock.", fresh=True, zone=each) for each in zones
    ])  # fmt: skip


def _convert(view: View, found: Findings, time: str, start: str, places: list[str]) -> None:
    thought = "I convert the time between the zones."
    outputs = [
        view.do("convert_time", thought, time=time, from_zone=start, to_zone=zone(place))
        for place in places
    ]
    _tell(found, outputs)


def _tell(found: Findings, outputs: list[str]) -> None:
    """The times that the tools told; what was converted is said once."""
    told = [list(TOLD.finditer(output)) for output in outputs if not failed(output)]
    times = [lines for lines in told if lines]
    first = f"{_told(times[0][0])} is " if times and len(times[0]) > 1 else ""
    if times:
        found.summary = f"{first}{listed([_told(lines[-1]) for lines in times])}."
        found.source("Time zone database", None, "The times given.")
    for output in filter(failed, outputs):
        found.summary = found.summary or "The time could not be told."
        found.lower(reason(output), "low")


def _told(line: re.Match[str]) -> str:
    day, clock, weekday, place, offset = line.groups()
    return f"**{clock}** in {place} ({weekday}, {day}, {offset})"


def _places(said: str) -> list[str]:
    return [place for each in re.split(r",|\band\b", said) if (place := each.strip())]


def zone(place: str) -> str:
    """The time zone of a place; the place itself when it is not known."""
    return _known(place) or place


def _known(place: str) -> str | None:
    name = place.strip().lower()
    return PLACES.get(name) or _zones().get(name.replace(" ", "_"))


@cache
def _zones() -> dict[str, str]:
    zones = sorted(available_timezones(), key=lambda name: name.startswith("Etc"))
    return {name.rsplit("/", 1)[-1].lower(): name for name in reversed(zones) if "/" in name}
