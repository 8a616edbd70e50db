"""What was found: how bad it is, and how to mend it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SECONDS = 10.0
"""How long one thing may take to answer."""

SKEW_SECONDS = 5.0
"""Clocks further apart than that are worth a word; Slack's signatures bear 300 s."""


class Level(StrEnum):
    """A problem keeps the bot from working; with a warning it works worse than it could."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report. `mend` says what to do about anything that is not OK."""

    level: Level
    subject: str
    text: str
    mend: str = ""


def ok(subject: str, text: str) -> Finding:
    """As it should be."""
    return Finding(Level.OK, subject, text)


def warning(subject: str, text: str, mend: str) -> Finding:
    """The bot works, and would be better off otherwise."""
    return Finding(Level.WARNING, subject, text, mend)


def problem(subject: str, text: str, mend: str) -> Finding:
    """The bot does not work like that."""
    return Finding(Level.PROBLEM, subject, text, mend)


def clock(subject: str, ahead: float) -> Finding:
    """What to think of it that `ahead` is how far this machine's clock is before the other."""
    if abs(ahead) <= SKEW_SECONDS:
        return ok(subject, f"the clock agrees with this machine's to {SKEW_SECONDS:.0f} s")
    direction = "ahead of" if ahead > 0 else "behind"
    return warning(
        subject,
        f"this machine's clock is {abs(ahead):.0f} s {direction} it",
        "let the machine keep its time (NTP): signed events and limits by day hang on it",
    )
