"""Results of checks: how serious each one is, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

SECONDS = 10.0
"""How long a service may take to answer one check."""

SKEW_SECONDS = 5.0
"""Clocks further apart than this get a warning; Slack's signatures allow 300 s."""


class Level(StrEnum):
    """How serious a check is: a problem keeps the bot from working, a warning does not."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check, a line of the report; `fix` says what to do unless it is OK."""

    level: Level
    subject: str
    text: str
    fix: str = ""


def ok(subject: str, text: str) -> Check:
    """Return a check that passed."""
    return Check(Level.OK, subject, text)


def warning(subject: str, text: str, fix: str) -> Check:
    """Return a check that failed, although the bot can work."""
    return Check(Level.WARNING, subject, text, fix)


def problem(subject: str, text: str, fix: str) -> Check:
    """Return a check that failed and keeps the bot from working."""
    return Check(Level.PROBLEM, subject, text, fix)


def clock(subject: str, ahead: float) -> Check:
    """Check a clock: this machine's is `ahead` seconds ahead of the one of `subject`."""
    if abs(ahead) <= SKEW_SECONDS:
        return ok(subject, f"the clock agrees with this machine's to {SKEW_SECONDS:.0f} s")
    direction = "ahead of" if ahead > 0 else "behind"
    return warning(
        subject,
        f"this machine's clock is {abs(ahead):.0f} s {direction} it",
        "synchronise its clock (NTP): signed events and daily limits depend on it",
    )
