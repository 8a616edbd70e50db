"""Arithmetic, clocks, and the tools that rules know nothing special about."""

from __future__ import annotations

import re
from functools import cache
from typing import Any
from zoneinfo import available_timezones

from .fill import nullable, options
from .findings import Findings
from .outputs import failed
from .view import ACQUIRE, COMPLETE, View
from .words import content, listed, overlap, shown

SUM = re.compile(
    r"(?<![\w.])(?:sqrt\(\d[\d.,]*\)|[-+(]*\d[\d.,]*\s*(?:%|(?:[-+*/^×÷x]|\*\*)\s*[-+(]*\d))"
    r"(?:[\d\s.,+*/^()×÷x%-]|sqrt(?=\())*"
)
NUMBER = r"[$€£]?(\d[\d,]*(?:\.\d+)?)"
WRITTEN = (
    (rf"{NUMBER}\s*(?:%|percent)\s+of\s+{NUMBER}", r"(\1 / 100 * \2)"),
    (rf"square root of {NUMBER}", r"sqrt(\1)"),
    (rf"{NUMBER}\s+(?:[a-z]+\s){{1,2}}(?:of|at)\s+{NUMBER}(?:\s+each)?", r"(\1 * \2)"),
    (r"(?<=[\d)])\s+(?:plus|and then)\s+(?=[\d($€£])", " + "),
    (r"(?<=[\d)])\s+(?:minus|less)\s+(?=[\d($€£])", " - "),
    (r"(?<=[\d)])\s+(?:times|multiplied by)\s+(?=[\d($€£])", " * "),
    (r"(?<=[\d)])\s+(?:divided by)\s+(?=[\d($€£])", " / "),
    (r"[$€£](?=\d)", ""),
)
"""What people write in words, and how a calculator takes it; in this order."""
NOW = re.compile(
    r"\b(?:what(?:'s| is)? (?:the )?(?:current )?(?:local )?time|current time|time is it|time now)\b"
    r"(?:.*?\bin (?P<place>[A-Za-z .,'&-]+))?",
    re.IGNORECASE,
)
CONVERT = re.compile(
    r"(?P<time>\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm)?|noon|midnight)\s*(?:o'clock)?\s*(?:in |at |from )?"
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
TOLD = re.compile(r"^\w+: (\S+) (\d\d:\d\d)(?::\d\d)? (\w+) \((\S+), (\S+)\)$", re.M)
GENERIC_ENOUGH = 1.5


def expression(text: str) -> str | None:
    """The arithmetic in a question, as an expression."""
    for words, symbols in WRITTEN:
        text = re.sub(words, symbols, text, flags=re.IGNORECASE)
    for match in SUM.finditer(text):
        code = _plain(match[0].strip(" .,?-+*/")).translate(str.maketrans("×÷x", "*/*"))
        code = code.removeprefix("(").removesuffix(")") if _is_wrapped(code) else code
        if code.startswith("sqrt(") or (
            re.search(r"\d\s*[-+*/^]+\s*[(\d]", code) and not _is_a_date(code)
        ):
            return code.replace("^", "**")
    return None


def calculate(view: View, found: Findings) -> None:
    """Let the calculator work it out."""
    code = expression(view.text) or ""
    output = view.do("calculate", f"I work out {code} with the calculator.", expression=code)
    if failed(output):
        found.summary = f"`{code}` could not be worked out."
        found.lower(output.split("\n", 1)[0], "low")
        return
    result = output.strip().splitlines()[0].removeprefix("result: ")
    found.summary = f"{code} = **{shown(result)}**"
    found.source("Calculator", None, f"The result of {code}.")


def clock(view: View, found: Findings) -> None:
    """The time now, or a time in another zone."""
    asked, now = CONVERT.search(view.text), NOW.search(view.text)
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
        found.lower(output.split("\n", 1)[0], "low")


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


def fitting_tool(view: View) -> str | None:
    """The tool whose name and description speak most of the question, if any does."""
    asked = content(view.text)
    described = {name: tool.get("description", "") for name, tool in view.offered.items()}
    described.update(view.catalogue)
    scores = {
        name: 2 * overlap(asked, content(name)) + overlap(asked, content(words)) / 2
        for name, words in described.items()
        if name not in (ACQUIRE, COMPLETE)
    }
    best = max(scores, key=lambda name: scores[name], default=None)
    return best if best and scores[best] >= GENERIC_ENOUGH else None


def generic(view: View, found: Findings, name: str) -> None:
    """Call a tool of which only its schema is known, and quote what it says."""
    schema = view.offered.get(name, {}).get("parameters") or {}
    output = view.do(name, f"{name} fits the words of the question.", **_guessed(schema, view))
    if failed(output):
        found.summary = f"{name} did not work."
        found.lower(output.split("\n", 1)[0], "low")
        return
    found.summary = output.strip()[:600]
    found.source(name, None, "What it returned, quoted.")
    found.lower("The arguments were guessed from the words of the question.")


def _guessed(schema: dict[str, Any], view: View) -> dict[str, Any]:
    """Values for the required arguments: choices by the question's words, numbers, names."""
    text = view.text
    numbers = re.findall(r"\d+(?:\.\d+)?", text)
    quoted = re.findall(r"[\"“'‘]([^\"”'’]+)[\"”'’]", text)
    named = re.findall(r"(?<!^)(?<![.?!] )\b[A-Z]\w+(?: [A-Z]\w+)*", text)
    known: dict[str, Any] = {}
    for name, part in schema.get("properties", {}).items():
        shape = next(iter(options(part, schema.get("$defs", {}))), {})
        choice = next((c for c in shape.get("enum", ()) if str(c).lower() in text.lower()), None)
        if choice is not None:
            known[name] = choice
        elif nullable(part):
            continue
        elif shape.get("type") in ("integer", "number") and numbers:
            value = float(numbers.pop(0))
            known[name] = int(value) if shape["type"] == "integer" else value
        elif shape.get("type") == "string" and not shape.get("enum"):
            known[name] = next(iter(quoted + named), text)
    return known


def _is_wrapped(code: str) -> bool:
    """Whether one pair of brackets holds all of it."""
    return bool(re.fullmatch(r"\([^()]*\)", code))


def _plain(text: str) -> str:
    return re.sub(r"(?<=\d),(?=\d{3})", "", text).strip(" .,")


def _is_a_date(code: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}/\d{1,2}(?:/\d{2,4})?", code.strip()))


@cache
def _zones() -> dict[str, str]:
    zones = sorted(available_timezones(), key=lambda name: name.startswith("Etc"))
    return {name.rsplit("/", 1)[-1].lower(): name for name in reversed(zones) if "/" in name}
