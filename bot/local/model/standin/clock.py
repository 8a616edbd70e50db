"""Clocks: the time somewhere, and a time in another zone."""

from __future__ import annotations

import re
from functools import cache
from zoneinfo import available_timezones

from .findings import Findings
from .outputs import failed, reason
from .times import WEEKDAYS
from .view import View
from .words import has, listed

NOW = re.compile(
    r"\b(?:what(?:'s| is)? (?:the )?(?:current )?(?:local )?time|current time|time is it|time now)\b"
    r"(?:.*?\bin (?P<place>[A-Za-z .,'&-]+))?",
    re.IGNORECASE,
)
_TIME = r"\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm)?|noon|midnight"
CONVERT = re.compile(
    rf"(?P<time>{_TIME})\s*(?:o'clock)?\s*(?:in |at |from )?"
    r"(?P<from>[A-Za-z][A-Za-z .'-]*?)\s*(?:time)?,?\s+"
    r"(?:(?:what(?:'s| is)?|when|how late)\b[a-z' ]*?\s)?(?:to|in|for|into)\s+"
    r"(?P<to>[A-Za-z .,'&-]+)",
    re.IGNORECASE,
)
PLACES = {
    "nyc": "America/New_York", "ny": "America/New_York", "sf": "America/Los_Angeles",
    "san francisco": "America/Los_Angeles", "california": "America/Los_Angeles",
    "seattle": "America/Los_Angeles", "boston": "America/New_York", "washington": "America/New_York",
    "texas": "America/Chicago", "india": "Asia/Kolkata", "mumbai": "Asia/Kolkata",
    "delhi": "Asia/Kolkata", "bangalore": "Asia/Kolkata", "beijing": "Asia/Shanghai",
    "china": "Asia/Shanghai", "japan": "Asia/Tokyo", "germany": "Europe/Berlin",
    "munich": "Europe/Berlin", "france": "Europe/Paris", "uk": "Europe/London",
    "england": "Europe/London", "gmt": "UTC", "utc": "UTC", "cet": "Europe/Berlin",
    "est": "America/New_York", "et": "America/New_York", "pst": "America/Los_Angeles",
    "pt": "America/Los_Angeles",
}  # fmt: skip
OF_SOMETHING = re.compile(
    r"\bwhat time (?:is|was|does|do) (?:the|our|my|this|that)\b", re.IGNORECASE
)
AND_IN = re.compile(
    r"^\W*(?:and|what about|how about)(?: in| for)?\s+(?P<place>[A-Z][A-Za-z .,'&-]+)"
)
CONVERT_ON = re.compile(
    rf"\W*(?:and|what about|how about)\W+(?:at\s+)?(?P<time>{_TIME})?\W*(?:(?:in|for|to)\s+(?P<to>[A-Za-z .,'&-]+))?\W*",
    re.IGNORECASE,
)
NOT_NOW = rf"there|difference|will|do|does|did|should|shall|in \d+|in an?|ago|was|on|{'|'.join(WEEKDAYS)}|tomorrow|yesterday|until|at which"
FOR_SOMEBODY = re.compile(r"\bfor (?!me\b|us\b)@?[A-Z]")
TOLD = re.compile(r"^\w+: (\S+) (\d\d:\d\d)(?::\d\d)? (\w+) \((\S+), (\S+)\)$", re.M)


def is_asked(view: View) -> bool:
    """Whether this asks for the time, here or where a place is meant that is one."""
    asked = _converted(view)
    if asked and (
        re.search(r"[:.]\d\d|[ap]m$|noon|midnight", asked["time"].lower()) or _known(asked)
    ):
        return True
    if view.turn.quoted and OF_SOMETHING.search(
        view.text
    ):  # the message that was pointed at says it
        return False
    if view.earlier and view.earlier[0].tool == "current_time" and AND_IN.search(view.text):
        return True
    now = NOW.search(view.text)
    return bool(now) and not (FOR_SOMEBODY.search(view.text) or has(view.text, NOT_NOW))


def _converted(view: View) -> re.Match[str] | None:
    """The time that is to be told in another zone; what a follow-up does not say is that before."""
    if not (view.earlier and view.earlier[0].tool == "convert_time"):
        return CONVERT.search(view.text)
    asked: re.Match[str] | None = None
    for turn in view.turns:
        said = CONVERT_ON.fullmatch(turn.text)
        if asked and said and (said["time"] or said["to"]):
            time, to = said["time"] or asked["time"], said["to"] or asked["to"]
            asked = CONVERT.search(f"{time} {asked['from']} in {to}")
        else:
            asked = CONVERT.search(turn.text)
    return asked


def _known(asked: re.Match[str]) -> bool:
    zones = [zone(asked["from"]), *map(zone, _places(asked["to"]))]
    return all("/" in each or each == "UTC" for each in zones)


def answer(view: View, found: Findings) -> None:
    """The time now, or a time in another zone."""
    asked = _converted(view)
    now = NOW.search(view.text) or AND_IN.search(view.text)
    if asked:
        outputs = [
            view.do(
                "convert_time", "I convert the time between the zones.",
                time=_clock(asked["time"]), from_zone=zone(asked["from"]), to_zone=zone(place),
            )
            for place in _places(asked["to"])
        ]  # fmt: skip
    else:
        places = _places(now["place"]) if now and now["place"] else [None]
        outputs = [
            view.do("current_time", "I look at the clock.", fresh=True, zone=place and zone(place))
            for place in places
        ]
    told = [list(TOLD.finditer(output)) for output in outputs if not failed(output)]
    # What was converted is said once.
    first = f"{_told(told[0][0])} is " if asked and told and told[0] else ""
    found.summary = first + listed([_told(lines[-1]) for lines in told if lines])
    if found.summary:
        found.summary += "."
        found.source("Time zone database", None, "The times given.")
    for output in filter(failed, outputs):
        found.summary = found.summary or "The time could not be told."
        found.lower(reason(output), "low")


def _places(said: str) -> list[str]:
    """The places of a list, as "Tokyo, Oslo and New York"."""
    pieces = re.split(r",|&|\band\b", said.replace(" right now", "").replace(" now", ""))
    return [place for piece in pieces if (place := piece.strip(" .'-?")) and len(place) > 1]


def _clock(said: str) -> str:
    """A time of day as "15:00"."""
    said = said.strip().lower().replace(".", ":")
    if said in ("noon", "midnight"):
        return "12:00" if said == "noon" else "00:00"
    found = re.match(r"(\d{1,2})(?::(\d\d))?\s*(am|pm)?", said)
    if found is None:
        return said
    hour = int(found[1]) % 12 + 12 * (found[3] == "pm") if found[3] else int(found[1])
    return f"{hour:02}:{found[2] or '00'}"


def _told(line: re.Match[str]) -> str:
    day, clock, weekday, place, offset = line.groups()
    return f"**{clock}** in {place} ({weekday}, {day}, {offset})"


def zone(place: str) -> str:
    """The time zone of a place; the place itself when it is not known."""
    name = place.strip(" .'-?").lower().removesuffix(" time").removesuffix(" right now")
    name = name.removesuffix(" now").removeprefix("the ")
    return PLACES.get(name) or _zones().get(name.replace(" ", "_")) or place.strip(" .?")


@cache
def _zones() -> dict[str, str]:
    zones = sorted(available_timezones(), key=lambda name: name.startswith("Etc"))
    return {name.rsplit("/", 1)[-1].lower(): name for name in reversed(zones) if "/" in name}
