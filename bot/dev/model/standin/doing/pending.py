"""What is to come: questions and reminders, and messages that wait to be posted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from ..findings import Findings
from ..outputs import reason
from ..view import Missing, View
from ..words import shortened
from .moments import in_words

Lines = Sequence[re.Match[str]]

DUE = re.compile(r"Reminder: (?P<wish>.+)", re.DOTALL)
SCHEDULE = re.compile(
    r"^(?P<id>\w+) · (?:(?P<often>.+), next|once) (?P<when>\w+ [\d-]+ [\d:]+) (?P<zone>\S+) · (?P<text>.+)$",
    re.M,
)
_MESSAGE = r"(?P<id>\w+) · (?P<when>\w+ [\d-]+ [\d:]+) in (?P<place>[^\n]+?) · (?P<text>.+?)"
MESSAGE = re.compile(rf"^{_MESSAGE}(?=\n\w+ · \w+ [\d-]+ [\d:]+ in |\Z)", re.M | re.DOTALL)
HIDDEN = (
    "More messages of yours wait to be posted; I tell of them only in a direct message with you."
)
LONGEST = 50  # characters of a text that a button names
_MOST_BUTTONS = 3


def schedules(view: View, found: Findings) -> Lines:
    """Questions and reminders."""
    output = view.do("list_schedules", "I look at what is scheduled.", fresh=True)
    lines = list(SCHEDULE.finditer(output))
    if not lines and not output.startswith("No question or reminder"):
        found.lower(reason(output), "low")
    return lines


def messages(view: View, found: Findings) -> Lines:
    """Messages that wait to be posted."""
    output = view.do("list_scheduled_messages", "I look at what waits to be posted.", fresh=True)
    if not re.match(r"\d+ waiting\b", output):
        found.lower(reason(output), "low")
    elif "more wait" in output.partition("\n")[0]:
        found.lower(HIDDEN)
    return list(MESSAGE.finditer(output))


def both(view: View, found: Findings) -> tuple[Lines, Lines]:
    """Schedules are looked at last: "it" is one of them rather than a message."""
    waiting: Lines = ()
    with suppress(Missing):
        waiting = messages(view, found)
    return schedules(view, found), waiting


def tell(found: Findings, asked: Lines, waiting: Lines) -> None:
    """How many there are, each with its time, and buttons that cancel them."""
    numbers = [_number(asked, _noun(asked), "is", "are", "scheduled")] if asked else []
    numbers += [_number(waiting, "message", "waits", "wait", "to be posted")] if waiting else []
    said = f"{', and '.join(numbers)}:" if numbers else _nothing(found)
    found.summary = said[:1].upper() + said[1:]
    show(found, asked, waiting)


def show(found: Findings, asked: Lines, waiting: Lines) -> None:
    """Each with its time, and buttons that cancel them."""
    found.points = [
        *(f"“{each['text']}”, {each['often'] or 'once'}, next on {when(each)}" for each in asked),
        *(f"“{one_line(each)}” in {each['place']}, on {when(each)}" for each in waiting),
    ]
    shown = asked[: _MOST_BUTTONS - bool(waiting)]
    buttons = [_button("schedule", each) for each in shown]
    buttons += [_button("message", each) for each in waiting]
    found.follow_ups = buttons[:_MOST_BUTTONS]


def when(line: re.Match[str]) -> str:
    """When it comes next, in words."""
    return in_words(datetime.fromisoformat(line["when"].partition(" ")[2]))


def one_line(line: re.Match[str]) -> str:
    """Its text, as it fits into a list and a button."""
    return " ".join(line["text"].split())


def _button(kind: str, line: re.Match[str]) -> str:
    return f"Cancel the {kind} “{shortened(one_line(line), LONGEST)}”"


def _noun(asked: Lines) -> str:
    reminders = sum(bool(DUE.match(each["text"])) for each in asked)
    return {0: "question", len(asked): "reminder"}.get(reminders, "question and reminder")


def _number(lines: Lines, noun: str, one: str, several: str, what: str) -> str:
    if len(lines) == 1:
        return f"one {noun} {one} {what}"
    plural = " and ".join(f"{each}s" for each in noun.split(" and "))
    return f"{len(lines)} {plural} {several} {what}"


def _nothing(found: Findings) -> str:
    if found.gaps:
        return "Nothing is scheduled that I can tell of here."
    return "Nothing is scheduled: no question or reminder, and no message waits to be posted."
