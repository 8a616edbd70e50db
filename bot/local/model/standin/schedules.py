"""Questions that are asked later: once, as a reminder, or every week; their list, and an end of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from .findings import Findings
from .moments import DAYS, OFTEN, ONCE, PASSED, Now, cron, has_passed, in_words, is_real
from .outputs import failed, not_done, reason
from .view import View
from .words import content, has, overlap

LIST = re.compile(
    r"^(?!.*\bmessages?\b).*\b(?:what(?: is|'s| are)?|which|when(?: is|'s| are)|list|show|any)\b.*\b(?:schedule[ds]?|reminders?)\b(?!.*messages?)",
    re.IGNORECASE,
)
CANCEL = re.compile(
    r"\b(?:cancel|stop|delete|remove|end|unschedule)\b.*\b(?:schedules?|scheduled|reminders?|reminding|every)\b(?!.*messages?)|"
    r"^\W*(?:please )?(?:cancel|unschedule) (?:it|that|this|them|all|the (?:\w+ )?one)\b(?!.*messages?)",
    re.IGNORECASE,
)
REMIND = re.compile(
    r"\b(?:remind (?:me|us)|set (?:up )?(?:a|an|another) (?:reminder|alarm))\b(?:\s+(?:to|of|about|that)\b)?",
    re.IGNORECASE,
)
OVER = re.compile(
    rf"\bremind (?:me|us) {PASSED.pattern}|\bremind (?:me|us) to .+(?<!\bof)(?<!\bfrom) {PASSED.pattern}\W*$",
    re.IGNORECASE,
)
"""A reminder for a time that is over."""
UNKNOWN = re.compile(
    rf"(?:^\W*|\bremind (?:me|us)\b.*)\b(?:(?:every|each) (?:second|other|third|fourth|last|\d+|two|three|few|half|hour|minute|week(?!day)|quarter|year|night|evening|afternoon)\w*(?: (?:{'|'.join(DAYS)}))?|"
    r"hourly|weekly|biweekly|fortnightly|yearly)\b|"
    rf"{OFTEN.pattern}(?:,? (?:and|or|&) (?:every |each |on |at )?(?:{'|'.join(DAYS)}|\d|noon)\w*|,? (?:on the \d|until|till|except|for \d|starting|twice)\w*)",
    re.IGNORECASE,
)
"""A rhythm that is not to be taken for the nearest that is known."""
OTHERS = re.compile(
    r"^\W*(?:(?:please|can you|could you)\W+)*remind (?!(?:me|us)\b)\S+ ", re.IGNORECASE
)
DUE = re.compile(r"^Reminder: (?P<text>.+)", re.DOTALL)
TO_ASK = re.compile(r"^\W*ask (?:me|us) (?P<text>.+)", re.DOTALL | re.IGNORECASE)
"""What comes of "every Monday, ask me what I plan" on a Monday."""
ASKED_AT = re.compile(r"\b(?:ask|tell|send|give|show) (?:me|us)\b", re.IGNORECASE)
PER_EACH = re.compile(
    r"^\W*(?:how|which|what|who|best|worst|top|average|total|number|sum|list)\b.*\beach\b",
    re.IGNORECASE,
)
"""A question by each month, not for each month."""
LINE = re.compile(
    r"^(?P<id>\w+) · (?:(?P<often>.+), next|once) (?P<next>\w+ [\d-]+ [\d:]+) (?P<zone>\S+) · (?P<text>.+)$",
    re.M,
)


@dataclass(frozen=True, slots=True)
class Scheduled:
    """One line of the list."""

    id: str
    when: str
    text: str


def is_asked(view: View) -> bool:
    """Whether this is about something that is asked later."""
    text = view.text
    if PER_EACH.search(text):
        return False
    if view.turn.files:
        return bool(OFTEN.search(text) or REMIND.search(text))
    if (
        CANCEL.search(text)
        and has(text, "it|that|this|them|all|one")
        and not has(text, "schedule[ds]?|reminders?")
    ):
        last = view.earlier[0].tool if view.earlier else ""
        return last in ("schedule_prompt", "list_schedules")
    once = ASKED_AT.search(text) and ONCE.search(text)
    later = once and not once["date"] and not has(text, r"what time|#\S+")  # a date may be asked of
    if UNKNOWN.search(text) or OTHERS.search(text):
        return True
    return bool(later) or any(
        each.search(text) for each in (OFTEN, REMIND, LIST, CANCEL, DUE, TO_ASK)
    )


def answer(view: View, found: Findings) -> None:
    """Schedule it, tell what is scheduled, or end it."""
    text = view.text
    if due := DUE.match(text):
        found.summary = f"Here is your reminder: **{due['text'].strip()}**"
    elif (to_ask := TO_ASK.match(text)) and not (OFTEN.search(text) or ONCE.search(text)):
        found.summary = f"You wanted to be asked **{_as_said_to_you(to_ask['text'])}**"
    elif CANCEL.search(text):
        _cancel(view, found)
    elif OTHERS.search(text):
        found.summary = (
            "I can remind you alone, here: “Remind me tomorrow at 10 to …”. Nothing was scheduled."
        )
    elif rhythm := UNKNOWN.search(text):
        found.summary = (
            f"My rules do not know “{REMIND.sub('', rhythm[0]).strip(' ,')}”, so nothing was scheduled. They know every day, weekday "
            "and month (on its first), and one day of each week."
        )
    elif often := OFTEN.search(text):
        said = _without(text, often)
        if REMIND.search(said):
            said = f"Reminder: {REMIND.sub('', said).strip(' .!?')}"
        _schedule(view, found, said, f"“{said}”", cron=cron(often))
    elif LIST.search(text) and not REMIND.search(text):
        _list(view, found)
    elif OVER.search(text) and (over := PASSED.search(text)) and not ONCE.search(text):
        found.summary = has_passed(f"“{over[0]}”")
    elif once := ONCE.search(text):
        _once(view, found, once)
    else:
        named = re.search(r"\bremind (?:me|us) (?:to|of|about|that) (.+?)\W*$", text, re.I)
        wish = named[1] if named else "call Ben"
        of = "about" if has(text, "remind (?:me|us) (?:of|about)") else "to"
        found.summary = (
            f"When? Tell me the time as well, as in “Remind me tomorrow at 10 {of} {wish}”."
        )


def _as_said_to_you(text: str) -> str:
    yours = {"i": "you", "me": "you", "my": "your", "we": "you", "our": "your", "us": "you"}
    words = (yours.get(word.lower(), word) for word in text.strip(" .!?\n").split())
    return " ".join(words)


def _once(view: View, found: Findings, once: re.Match[str]) -> None:
    rest = _without(view.text, once)
    now = Now.of(view)
    at = now.moment(once)
    if not is_real(once, at):
        found.summary = f"“{once[0].strip()}” is no time there is, so nothing was scheduled. Say it as “tomorrow at 10”."
        return
    if at <= now.at:
        found.summary = has_passed(in_words(at))
        return
    wish = REMIND.sub("", rest).strip(" ,.:;!?\n")
    is_reminder = bool(REMIND.search(rest))
    if also := re.match(r"at (?:\d\S*|noon)", wish, re.IGNORECASE):
        found.summary = f"My rules take “{once[0].strip()}” or “{also[0]}”, not both, so nothing was scheduled. Say the day, as “on Tuesday at 12:00”."
        return
    if is_reminder and (not wish or wish.lower() in ("this", "that", "it")):
        found.summary = "Of what? Say it as well, as in “Remind me tomorrow at 10 to call Ben”."
        return
    text = f"Reminder: {wish}" if is_reminder else rest
    told = f"I will remind you here: “{wish}”" if is_reminder else f"“{rest}”"
    if _schedule(view, found, text, told, at=at.isoformat(timespec="minutes")):
        found.summary = f"{told}, on **{in_words(at)}**."


def _schedule(view: View, found: Findings, text: str, told: str, **when: Any) -> bool:
    """Whether it is scheduled; what it takes the place of is cancelled then."""
    output = view.do("schedule_prompt", "I schedule it, if I may.", fresh=True, text=text, **when)
    if not output.startswith("scheduled"):
        found.summary = not_done(f"“{text}” is not scheduled", output)
        return False
    made = LINE.search(output.removeprefix("scheduled: "))
    often = f", {made['often']}" if made and made["often"] else ""
    first = f", next on **{_next(made)} ({made['zone']})**" if made else ""
    found.summary = f"It is scheduled{often}: {told}{first}."
    if re.search(r"#\w", text):
        found.points.append(
            "I will answer it here in this thread; what goes to a channel needs a yes each time."
        )
    found.follow_ups += ["What is scheduled?"]
    for old in _amended(view):
        view.do("cancel_schedule", "I cancel the one before.", fresh=True, id=old["id"])
        found.points.append(f"The one before, next on {_next(old)}, is cancelled")
    return True


def _next(line: re.Match[str]) -> str:
    """When it comes next, in words."""
    return in_words(datetime.fromisoformat(line["next"].partition(" ")[2]))


def _amended(view: View) -> list[re.Match[str]]:
    """What was scheduled by the turn that this one changes."""
    steps = view.turn.amends.steps if view.turn.amends else []
    outputs = (step.output or "" for step in steps if step.tool == "schedule_prompt")
    return [made for each in outputs if (made := LINE.search(each.removeprefix("scheduled: ")))]


def _list(view: View, found: Findings) -> None:
    listed = _scheduled(view, found)
    if listed:
        number = "One thing is" if len(listed) == 1 else f"{len(listed)} things are"
        found.summary = f"{number} scheduled:"
        found.points = [f"“{each.text}”, {each.when}" for each in listed]
        found.follow_ups.append("Cancel all my schedules")


def _scheduled(view: View, found: Findings) -> list[Scheduled]:
    """What is scheduled; says so when nothing is."""
    output = view.do("list_schedules", "I look at what is scheduled.", fresh=True)
    lines = [
        Scheduled(
            line["id"],
            f"{line['often']}, next on {_next(line)}"
            if line["often"]
            else f"once, on {_next(line)}",
            line["text"],
        )
        for line in LINE.finditer(output)
    ]
    if not lines:
        found.summary = "Nothing is scheduled."
        if failed(output) and not output.startswith("Nothing"):
            found.lower(reason(output), "low")
    return lines


def _cancel(view: View, found: Findings) -> None:
    listed = _scheduled(view, found)
    if not listed:
        return
    chosen = _meant(view, listed)
    if not chosen:
        found.summary = "Which of these shall I cancel? Name it by its words, or say “all”."
        found.points = [f"“{each.text}”, {each.when}" for each in listed]
        return
    for each in chosen:
        view.do("cancel_schedule", f"I cancel “{each.text}”.", fresh=True, id=each.id)
    found.summary = f"Cancelled: {', '.join(f'“{each.text}”' for each in chosen)}."


def _meant(view: View, listed: list[Scheduled]) -> list[Scheduled]:
    """All, the one whose words were said, the one just made, or the only one."""
    if has(view.text, "all|everything|schedules|reminders|them"):
        reminders = [each for each in listed if DUE.match(each.text)]
        only_reminders = has(view.text, "reminders") and not has(view.text, "schedules")
        return reminders if only_reminders else listed
    said = content(view.text)
    named = [
        each
        for each in listed
        if overlap(said, content(f"{each.text.removeprefix('Reminder:')} {each.when}")) >= 1
    ]
    only = (
        listed if len(listed) == 1 and not re.search(r"\b(?:about|of|to|for) \w", view.text) else []
    )
    if len(named) == 1 or only:
        return named or only
    made = next(
        (step.arguments.get("text") for step in view.steps if step.tool == "schedule_prompt"), None
    )
    return [each for each in listed if each.text == made][:1]


def _without(text: str, when: re.Match[str]) -> str:
    rest = text[: when.start()] + " " + text[when.end() :]
    words = " ".join(rest.split())
    rest = re.sub(r"^\W*(?:please )?ask\b(?! (?:me|us)\b)\s*:?", "", words, flags=re.IGNORECASE)
    return rest.strip(" ,.:;")
