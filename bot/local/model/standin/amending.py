"""What is said while a call waits for a yes, or right after it: the question before, changed where
that was said."""

from __future__ import annotations

import re

from .conversation import COMPLETE, Step, Turn
from .findings import Findings
from .moments import DATE, DAYS, OFTEN, ONCE
from .posting import CHANNEL
from .schedules import REMIND
from .view import View

LEAD = re.compile(
    r"^[^\w\"“#<]*(?:(?:no|nope|sorry|actually|wait|oh|ok|okay|yes|please|i mean(?:t)?|oops|hm+|but|and|can you|could you|"
    r"let'?s|better|rather|just)\b[^\w\"“#<]*)*",
    re.IGNORECASE,
)
TAIL = re.compile(
    r"\W*(?:\b(?:instead|rather|please|then|thanks|(?:would be|is) better)\b\W*)*$", re.IGNORECASE
)
POLITE_END = re.compile(r"(?:[\s,]+(?:instead|rather|please|thanks))+\W*$", re.IGNORECASE)
CORRECTS = re.compile(
    r"^\W*(?:(?:and|please|but|oh)\W+)*(?:no|sorry|actually|wait|i mean(?:t)?|oops|rather|instead|only|just|but|without|excluding|make (?:it|that))\b|"
    r"\b(?:instead|rather)\W*$",
    re.IGNORECASE,
)
"""What takes the place of a question rather than being another one."""
SENT_ON = re.compile(r"(?:post|send|share|put) (?:it|that|this)\b", re.IGNORECASE)
"""An order of its own, unless a post waits: the answer before is to go somewhere."""
NARROWS = re.compile(
    r"^\W*(?:(?:and|please|oh)\W+)*(?:only|just|but (?:only|just|without)|without|excluding)\b",
    re.I,
)
"""What is said more of a question, before it is answered, makes one question with it."""
CALLED_OFF = re.compile(
    r"\W*(?:(?:no|nope|please|ok|okay|actually|cancel|sorry|oh|well|thanks|then)\b\W*)*"
    r"(?:no|nope|don'?t(?: do (?:it|that)| post (?:it|that))?|do not(?: do (?:it|that))?|forget (?:it|that)|leave it|not (?:now|yet)|"
    r"cancel(?: (?:it|that))?|skip it|drop it|abort|deny|denied)\W*(?:please|thanks)?\W*",
    re.IGNORECASE,
)
AGAIN = re.compile(
    r"\W*(?:(?:yes|yep|yeah|ok|okay|sure|please|fine|good|great|go ahead|do (?:it|that|so)|approved?|i approve(?: it)?|"
    r"confirm(?:ed)?|(?:post|send|make|create|schedule) it|go for it|try again|ask(?: me)? again|once more|again)\b\W*)+",
    re.IGNORECASE,
)
_VERBS = (
    r"(?:(?:make|change|move|set|put|do|use|send|post|schedule|remind|me|it|that|this|the|time|day|date|channel|"
    r"should|be|is|at|on|to|in|for)\s+)*"
)
CLOCK = r"\d{1,2}(?:[:.]\d\d)?\s*(?:am|pm)?(?: o'clock)?|noon"
CLOCK_TOLD = r"\b(?:\d{1,2}[:.]\d\d(?:\s*(?:am|pm)\b)?|\d{1,2}\s*(?:am|pm)\b|noon\b)"
"""A time within the words of a message, where a bare number is none."""
DAY = rf"every \w+|tomorrow|today|tonight|{'|'.join(DAYS)}|{DATE}"
WHERE = re.compile(rf"{_VERBS}(?P<new><#[A-Z0-9]+(?:\|[^>]*)?>|#[\w-]+)", re.IGNORECASE)
WHEN = re.compile(
    rf"{_VERBS}(?:(?P<day>{DAY})\b)?(?:\s*,?\s*(?:at\s+)?(?P<clock>{CLOCK}))?", re.IGNORECASE
)
SPAN = re.compile(rf"{_VERBS}(?P<new>in (?:\d{{1,3}}|an?|half an) \w+)", re.IGNORECASE)
NAMED = re.compile(
    r"(?:(?:change|set|make|update)\s+)?(?:the\s+)?(?P<name>[a-z]+)\s+(?:to|should be|should say|be|is)\s*:?\s+(?P<new>.+)|"
    r"(?P<title>(?:call|name|title) it)\s+(?P<called>.+)|"
    r"(?:make it (?:say|read)|it should (?:say|read)|say|write)\s*:?\s+(?P<said>.+)|"
    r"(?:(?:make|post|send|use|put)\s+(?:it\s+|that\s+)?)?[\"“](?P<quoted>[^\"”]+)[\"”]?",
    re.IGNORECASE | re.DOTALL,
)
SWAPPED = re.compile(
    r"(?:change|replace|swap)\s+(?P<old>.+?)\s+(?:to|with|by|for)\s+(?P<new>.+)|"
    r"(?:(?:make|use|say|write|put)\s+(?:it\s+|that\s+)?)?"
    r"(?P<right>.+?)(?:,? not|,? instead of|,? rather than) (?P<wrong>.+)",
    re.IGNORECASE | re.DOTALL,
)
ALIASES = {"message": "text", "wording": "text", "name": "title", "heading": "title"}
UNKNOWN = "Nothing was done, as my rules do not know this change"
QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”")
_QUOTES = " \t\n\"“”'‘’"


def amended(turns: list[Turn], waiting: list[Turn]) -> list[Turn]:
    """Those that wait for an answer, without the ones whose place a later one takes: it corrects the
    one before, or says yes or no to what waited. A change of what was done is a question anew."""
    overtaken = set()
    for at, turn in enumerate(turns[1:], 1):
        before = _changed_by_it(turns[:at])
        revised = None if turn.files or turn.edited else _revised(before, turn.text)
        waits = any(before is each for each in waiting)
        if waits and (revised or CORRECTS.search(turn.text) or is_off(before, turn.text)):
            overtaken.add(id(before))
            if NARROWS.match(turn.text):
                more = re.sub(r"^\W*(?:(?:and|please|oh)\W+)*", "", turn.text, flags=re.IGNORECASE)
                turn.text = f"{before.text.rstrip(' .?!')}, {more}"
            turn.notes[:0] = before.notes
            turn.steps[:0] = [s for s in before.steps if not (revised and s.is_undone)]
        if revised:
            turn.text, turn.amends = revised, before.amends if waits else before
    return [turn for turn in waiting if id(turn) not in overtaken]


def _changed_by_it(earlier: list[Turn]) -> Turn:
    """The turn that a message may change: the one before, or what that failed to change."""
    *others, last = earlier
    while others and last.steps and _said(last).startswith(UNKNOWN):
        last = others.pop()
    return last


def _said(turn: Turn) -> str:
    return str(turn.steps[-1].arguments.get("summary") or "")


def is_off(turn: Turn, text: str) -> bool:
    """Whether a message says no to what waited for a yes."""
    return any(step.is_undone for step in turn.steps) and bool(CALLED_OFF.fullmatch(text))


def is_asked(view: View) -> bool:
    """Whether the message calls off what waited for a yes."""
    return is_off(view.turn, view.text)


def answer(_: View, found: Findings) -> None:
    """What waited is left undone."""
    found.summary = "All right, I leave it. Nothing was done."


def is_unclear(view: View) -> bool:
    """Whether the message is a change, of what waited for a yes, that no rule knows."""
    return any(step.is_undone for step in view.turn.steps)


def tell_unclear(_: View, found: Findings) -> None:
    """Nothing was done, and how a change is said."""
    found.summary = (
        f"{UNKNOWN}. Say it as “change the text to …”, or "
        "“April, not March”, or ask for all of it anew."
    )


def _revised(before: Turn, said: str) -> str | None:
    """The question before as the message changes it; None when it says nothing of the kind."""
    last = next(
        (s for s in reversed(before.steps) if s.tool not in (COMPLETE, "acquire_tools")), None
    )
    if last and last.is_undone and AGAIN.fullmatch(said):
        return before.text
    if (
        REMIND.search(before.text)
        and not ONCE.search(before.text)
        and ONCE.match(said)
        and not REMIND.search(said)
    ):
        return f"{before.text} {said}"  # it was asked when
    core = TAIL.sub("", LEAD.sub("", said)).strip()
    changes = [_moved(before.text, core)]
    if (last and last.is_undone) or not SENT_ON.match(core):
        changes.append(_elsewhere(before.text, core))
    if last and last.is_undone:
        changes.append(_retimed(before.text, core, last))
        if WHEN.fullmatch(core) and core and CHANNEL.search(before.text):
            changes.append(f"{before.text} {core}")  # not now, but then
        whole = POLITE_END.sub("", LEAD.sub("", said)).strip()
        changes += [_reworded(before.text, whole, last), _swapped(before.text, core)]
    return next((each for each in changes if each and each != before.text), None)


def _moved(text: str, core: str) -> str | None:
    """At another time; the day or the hour that is not said stays as it was."""
    old = OFTEN.search(_bare(text)) or ONCE.search(_bare(text))
    if old is None or not core:
        return None
    was = old[0].rstrip()
    rest = text[old.start() + len(was) :]
    if after := SPAN.fullmatch(core):
        return text[: old.start()] + after["new"] + rest
    new = WHEN.fullmatch(core)
    if new is None or not (new["day"] or new["clock"]):
        return None
    days = re.search(DAY, was, re.IGNORECASE)
    of_clock = re.sub(DATE, "", was, flags=re.IGNORECASE).strip()
    clocks = re.search(rf"\b(?:{CLOCK})$", of_clock, re.IGNORECASE)
    day, clock = new["day"] or (days and days[0]), new["clock"] or (clocks and clocks[0])
    if days and days[0].lower().startswith("every") and day and not re.match("every", day, re.I):
        day = f"every {day}"
    when = " ".join(filter(None, (day, clock and f"at {clock}")))
    return text[: old.start()] + when + rest


def _retimed(text: str, core: str, call: Step) -> str | None:
    """With another hour or day in the words of the call, which name one."""
    new, said = WHEN.fullmatch(core), str(call.arguments.get("text") or "")
    for name, form in (("clock", CLOCK_TOLD), ("day", rf"\b(?:{DAY})\b")):
        told = re.findall(form, said, re.IGNORECASE)
        if new and new[name] and not new["day" if name == "clock" else "clock"] and len(told) == 1:
            return _put(text, told[0], new[name].strip())
    return None


def _elsewhere(text: str, core: str) -> str | None:
    """In another channel."""
    new, old = WHERE.fullmatch(core), CHANNEL.search(_bare(text))
    if new is None:
        return None
    if old:
        return text[: old.start()] + new["new"] + text[old.end() :]
    return _beside_its_kind(text, f"in {new['new']}") or f"{text} in {new['new']}"


def _beside_its_kind(text: str, said: str) -> str | None:
    """What is to be made, with more said of it: before what is to stand in it."""
    more = re.sub(r"\b(canvas)\b", rf"\1 {said}", text, count=1, flags=re.IGNORECASE)
    return more if more != text else None


def _reworded(text: str, core: str, call: Step) -> str | None:
    """With another value of an argument that is named, where the question holds the one it had."""
    said = NAMED.fullmatch(core)
    if said is None:
        return None
    name = "title" if said["title"] else (said["name"] or "text").lower()
    name = ALIASES.get(name, name)
    old = str(call.arguments.get(name) or "")
    if call.tool == "schedule_prompt":
        old = old.removeprefix("Reminder: ")  # which the question did not say
    new = (said["new"] or said["called"] or said["said"] or said["quoted"]).strip(_QUOTES)
    if old and name == "title" and old.lower() not in text.lower():
        return _beside_its_kind(text, f"called “{new}”")
    return _put(text, old, new)


def _swapped(text: str, core: str) -> str | None:
    """With other words where these stood."""
    said = SWAPPED.fullmatch(core)
    if said is None:
        return None
    old, new = said["old"] or said["wrong"], said["new"] or said["right"]
    return _put(text, old.strip(_QUOTES), new.strip(_QUOTES))


def _put(text: str, old: str, new: str) -> str | None:
    at = text.lower().find(old.lower()) if old else -1
    return None if at < 0 else text[:at] + new + text[at + len(old) :]


def _bare(text: str) -> str:
    """The text with what is quoted in it blanked: no time and no place of the question's own."""
    return QUOTED.sub(lambda quoted: "_" * len(quoted[0]), text)
