"""What is said while a call waits for a yes: no, or the same with another text, place or time."""

from __future__ import annotations

import re

from ..conversation import COMPLETE, Turn
from ..findings import Findings
from ..phrasing import CHANNEL, phrase, unquoted
from ..view import ACQUIRE, View
from .moments import CLOCK, OFTEN, ONCE

NO = phrase(
    r"(?:no|nope|cancel(?: it| that)?|don['’]?t|leave it|forget it|not now)(?:,? (?:cancel(?: it)?|don['’]?t))?"
)
YES = phrase(r"(?:yes|yep|ok|okay|sure|go ahead|do it|approved?|try again)")
TEXT = phrase(r"change the text to:? (?P<new>.+)")
_NO = r"(?:(?:no|actually|sorry),? )?(?:make (?:it|that) |change it to |(?:post|put|send) it )?"
PLACE = phrase(rf"{_NO}(?:use |in |to )*(?P<new>{CHANNEL})(?: instead)?")
TIME = phrase(rf"{_NO}(?P<new>{OFTEN}|{ONCE}|{CLOCK})(?: instead)?")
_WHEN = re.compile(rf"\b(?:{OFTEN}|{ONCE})", re.IGNORECASE)
_CLOCK = re.compile(rf"(?:\bat )?{CLOCK}$", re.IGNORECASE)
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")


def amended(turns: list[Turn], waiting: list[Turn]) -> list[Turn]:
    """The turns that wait for an answer, without the ones whose place a later one takes."""
    taken: list[Turn] = []
    for at, turn in enumerate(turns[1:], 1):
        before = None if turn.files or turn.edited else _undone(turns[:at])
        changed = before and _changed(before, turn.text)
        if before and (changed or NO.fullmatch(turn.text)):
            taken.append(before)
            turn.text = changed or turn.text
    return [turn for turn in waiting if not any(turn is each for each in taken)]


def _undone(turns: list[Turn]) -> Turn | None:
    """The last turn that did something, if somebody wrote anew instead of allowing it."""
    for turn in reversed(turns):
        steps = [step for step in turn.steps if step.tool not in (COMPLETE, ACQUIRE)]
        if steps:
            return turn if steps[-1].is_undone else None
    return None


def is_asked(view: View) -> bool:
    """Whether the message calls off what waited for a yes."""
    return bool(NO.fullmatch(view.text) and _undone(view.turns[:-1]))


def answer(_: View, found: Findings) -> None:
    """What waited is left undone."""
    found.summary = "All right, I leave it. Nothing was done."


def is_unclear(view: View) -> bool:
    """Whether no rule knows what was said instead of a yes."""
    return any(step.is_undone for turn in view.open for step in turn.steps)


def tell_unclear(_: View, found: Findings) -> None:
    """How a change is said."""
    found.summary = (
        "Nothing was done. To have it otherwise, say “change the text to …”, “in #general instead” or "
        "“at 10:00 instead”."
    )


def _changed(before: Turn, said: str) -> str | None:
    """The question before as the message changes it; None when it says nothing of the kind."""
    text = before.text
    bare = _QUOTED.sub(lambda each: "_" * len(each[0]), text)
    if YES.fullmatch(said):
        return text
    if new := TEXT.fullmatch(said):
        call = before.steps[-1]
        old = str(call.arguments.get("text") or "")
        if call.tool == "schedule_prompt":
            old = old.removeprefix("Reminder: ")  # which the question did not say
        return text.replace(old, unquoted(new["new"])) if old and old in text else None
    if new := PLACE.fullmatch(said):
        place = re.search(CHANNEL, bare)
        return text[: place.start()] + new["new"] + text[place.end() :] if place else None
    if (new := TIME.fullmatch(said)) and (when := _last(_WHEN, bare)):
        time = _retimed(when[0], new["new"])
        return time and text[: when.start()] + time + text[when.end() :]
    return None


def _retimed(old: str, new: str) -> str | None:
    """The new time; of an hour alone with the old day, of a day alone with the old hour. None for
    once instead of again and again, or the reverse."""
    clock = _CLOCK.search(old)
    if _CLOCK.fullmatch(new):
        day = old[: clock.start()].rstrip(" ,") if clock else old
        at = new if new.lower().startswith("at ") else f"at {new}"
        return f"{day} {at}".strip()
    if old.lower().startswith("every") != new.lower().startswith("every"):
        return None
    if clock is None or _CLOCK.search(new) or new.lower().startswith("in "):
        return new
    return f"{new} {clock[0].strip()}"


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(iter([*pattern.finditer(text)][-1:]), None)
