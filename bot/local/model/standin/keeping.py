"""What is wanted later: something remembered or told of again, and questions asked every week."""

from __future__ import annotations

import re

from .findings import Findings
from .outputs import failed
from .view import View

REMEMBER = re.compile(r"^\W*(?:please )?(?:remember|note)(?: that)?[: ]+(?P<text>.+)", re.I | re.S)
RECALL = re.compile(r"\bwhat (?:do|can) you (?:remember|know about (?:me|us|this))", re.IGNORECASE)
LIST = re.compile(r"\b(?:what is|what's|which|list|show)\b.*\bschedule[ds]?\b", re.IGNORECASE)
WHEN = re.compile(
    r"\b(?:every|each) (?P<day>day|weekday|mon|tues|wednes|thurs|fri|satur|sun)(?:day)?s?"
    r"\s*(?:at (?P<hour>\d{1,2}|noon)(?:[:.](?P<minute>\d\d))?\s*(?P<half>am|pm)?\b)?",
    re.IGNORECASE,
)
DAYS = {"day": "*", "weekday": "MON-FRI"}
_MORNING = 9


def wanted(view: View) -> bool:
    """Whether this is about something to keep."""
    return any(each.search(view.text) for each in (REMEMBER, RECALL, LIST, WHEN))


def answer(view: View, found: Findings) -> None:
    """Keep it, or tell what is kept."""
    if asked := WHEN.search(view.text):
        _schedule(view, found, asked)
    elif asked := REMEMBER.search(view.text):
        _remember(view, found, asked["text"].strip())
    elif RECALL.search(view.text):
        output = view.do("recall", "I look at what is remembered here.", fresh=True)
        _tell(found, "This is remembered here:", output)
    else:
        output = view.do("list_schedules", "I look at what is scheduled.", fresh=True)
        _tell(found, "This is scheduled:", output)


def _schedule(view: View, found: Findings, asked: re.Match[str]) -> None:
    text = WHEN.sub(" ", view.text, count=1).strip(" ,.:;\n")
    cron = _cron(asked)
    output = view.do("schedule_prompt", "I schedule it, if I may.", text=text, cron=cron)
    if not output.startswith("scheduled"):
        found.summary = "It is not scheduled."
        found.lower(output.split("\n", 1)[0], "low")
        return
    when = re.search(r"next (\w+ [\d-]+ [\d:]+ \S+)", output)
    found.summary = f"It is scheduled: “{text}”" + (f", next on **{when[1]}**." if when else ".")
    found.follow_ups.append("What is scheduled?")


def _cron(asked: re.Match[str]) -> str:
    """The time said, as cron has it; nine in the morning where none was."""
    said, half = asked["hour"] or str(_MORNING), (asked["half"] or "").lower()
    hour = 12 if said == "noon" else int(said)
    if half:
        hour = hour % 12 + 12 * (half == "pm")
    day = asked["day"].lower()
    return f"{int(asked['minute'] or 0)} {hour} * * {DAYS.get(day, day[:3].upper())}"


def _remember(view: View, found: Findings, text: str) -> None:
    output = view.do("remember", "I keep this in mind.", text=text)
    if not output.startswith("Remembered"):
        found.summary = "I could not remember this."
        found.lower(output.split("\n", 1)[0], "low")
        return
    found.summary = (
        f"I will remember “{text.rstrip('.')}” in direct messages with you. The Home tab shows what is "
        "remembered, and has it forgotten."
    )


def _tell(found: Findings, opening: str, output: str) -> None:
    if failed(output):
        found.lower(output.split("\n", 1)[0], "low")
        return
    lines = [line.split(" · ", 1)[-1] for line in output.strip().splitlines()]
    if len(lines) == 1 and lines[0].startswith("Nothing"):
        found.summary = lines[0]
        return
    found.summary, found.points = opening, lines
