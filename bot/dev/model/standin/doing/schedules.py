"""Questions that are asked later: once, as a reminder, or every week; their list, and an end of them."""

from __future__ import annotations

import re
from typing import Any

from ..findings import Findings
from ..outputs import not_done
from ..phrasing import phrase
from ..view import View
from . import moments, pending, posting
from .amending import TIME
from .moments import CLOCK, DAY, DAYS, EVERY, OFTEN, ONCE, RHYTHMS, SPAN
from .pending import DUE, SCHEDULE, Lines

_TO = r"(?:(?:to|of|about|that)\b|:) ?"
_ASKED = r"(?:ask|tell|send|give|show) (?:me|us) "
_QUESTION = rf"(?:{_ASKED}|summari[sz]e |what|who|which|how|when|where|list |count |read |post )"
REMIND = (
    phrase(
        rf"(?:remind (?:me|us),?|set (?:up )?a reminder(?: for)?) (?P<when>{ONCE}|{OFTEN}):? ?{_TO}(?P<wish>.+?)"
    ),
    phrase(rf"remind (?:me|us) {_TO}(?P<wish>.+?),? (?P<when>{ONCE}|{OFTEN})"),
)
ASK = (
    phrase(rf"(?P<when>{OFTEN})[,:]? (?P<wish>{_QUESTION}.+)"),
    phrase(rf"(?P<when>{SPAN}|(?:on )?(?:{DAY} )?at {CLOCK})[,:]? (?P<wish>{_ASKED}.+)"),
    phrase(rf"(?P<wish>{_ASKED}.+?),? (?P<when>(?:{EVERY}|tomorrow) at {CLOCK})"),
)
OPEN_END = re.compile(
    r"\b(?:every|each|and|or|last|past|until|till|by|before|after|for|of|the|\w+ing on)$", re.I
)
"""What stands before a time that is no time to do it at: "on Monday and" Friday."""
_UNIT = rf"(?:minute|hour|day|week|weekday|month|quarter|year|morning|evening|night|{'|'.join(DAYS)})s?(?![\w'’])"
MEANT = phrase(
    rf"(?:remind|set (?:up )?an? (?:reminder|alarm)|schedule (?:an? reminder|it|this|that)|(?:every|each) (?:\w+ )?{_UNIT}|"
    rf"(?:ask|tell|send) (?:me|us) .*(?<!for )(?<!of )(?<!in )\bevery (?:\w+ )?{_UNIT})\b.*"
)
"""An order for later, also where its time or its wish is not understood."""
TIMES = re.compile(rf"\d|\bevery\b|{'|'.join(DAYS)}", re.IGNORECASE)
WITHOUT_TIME = phrase(rf"remind (?:me|us) {_TO}(?P<wish>.+?)")
LIST = phrase(
    r"what(?:['’]?s| is| are)(?: all)?(?: (?:already|currently))? (?:scheduled|my (?:schedules|reminders))|"
    r"what(?: all)? (?:(?:have|did) (?:i|we)|(?:i|we)(?: have|['’]ve)?) scheduled?|(?:is |do (?:i|we) have )?(?:any|every)thing scheduled|"
    r"(?:which|what) (?:schedules|reminders) (?:are there|do (?:i|we) have)|do (?:i|we) have (?:any )?(?:schedules|reminders)|"
    r"(?:list|show)(?: me)?(?: all)?(?: my| the| our)? (?:schedules|reminders)"
)
CANCEL = phrase(
    r"(?:cancel|stop|delete|remove)(?: all)?(?: of)? ?(?:(?:my |the |our |that |this )?(?P<all>schedules|reminders)|"
    r"(?:my |the |that |this )?(?:schedule|reminder|reminding (?:me|us))(?: “(?P<text>.+)”| (?P<about>.+))?)"
)
CANCEL_IT = phrase(r"(?:cancel|stop) (?:it|that|this)")
MOVE_IT = phrase(
    r"(?:move|change|make|set|put|postpone|shift|reschedule) (?:it|that|this|the (?:reminder|schedule))\b.+"
)
POINTS = re.compile(
    r"\W*(?:\w+ (?:me|us) )?(?:this|that|it|these|those|them|the same)\W*", re.IGNORECASE
)
"""What says nothing any more by then."""
TO_ASK = re.compile(r"ask (?:me|us) (?P<wish>.+)", re.DOTALL | re.IGNORECASE)
"""What comes of "every Monday, ask me what I plan" on a Monday."""
HOW = (
    f"Nothing was scheduled. I understand “Remind me tomorrow at 10 to call Ben” and “Every Monday at 9, "
    f"tell me the total revenue”: for you, here, once or {RHYTHMS}."
)

VAGUE = (
    "Nothing was scheduled: by then “this” says nothing. Say it in full, as “Remind me tomorrow at 10 to "
    "call Ben” or “Every Monday at 9, tell me the total revenue”."
)


def is_asked(view: View) -> bool:
    """Whether this is about something that is asked later."""
    text = view.text
    if _wish(text) or DUE.match(text) or TO_ASK.match(text):
        return True
    if any(_is_of_it(view, each) for each in (CANCEL_IT, MOVE_IT, TIME)):
        return True
    return any(each.fullmatch(text) for each in (MEANT, LIST, CANCEL))


def answer(view: View, found: Findings) -> None:
    """Schedule it, tell what is scheduled, or end it."""
    text = view.text
    if due := DUE.match(text):
        found.summary = f"Here is your reminder: **{due['wish'].strip()}**"
    elif LIST.fullmatch(text):
        pending.tell(found, *pending.both(view, found))
    elif _is_of_it(view, CANCEL_IT) or CANCEL.fullmatch(text):
        _cancel(view, found)
    elif _is_of_it(view, MOVE_IT) or _is_of_it(view, TIME):
        found.summary = "Nothing was changed: what is scheduled cannot be moved. Cancel it, and ask for it anew."
        found.follow_ups = ["Cancel it", "What is scheduled?"]
    elif wish := _wish(text):
        if POINTS.fullmatch(wish["wish"]):
            found.summary = VAGUE
        else:
            _schedule(view, found, wish)
    elif to_ask := TO_ASK.match(text):
        found.summary = f"You wanted to be asked this: **{to_ask['wish'].strip()}**"
    else:
        found.summary = HOW
        timeless = WITHOUT_TIME.fullmatch(text)
        if timeless and not TIMES.search(timeless["wish"]):
            found.follow_ups = [f"Remind me tomorrow at 10 to {timeless['wish']}"]


def _wish(text: str) -> re.Match[str] | None:
    """The order with its time and its wish, if it is understood as a whole."""
    for pattern in (*REMIND, *ASK):
        asked = pattern.fullmatch(text)
        if asked and not OPEN_END.search(asked["wish"]):
            return asked
    return None


def _schedule(view: View, found: Findings, asked: re.Match[str]) -> None:
    wish, when = asked["wish"].strip(), asked["when"]
    is_reminder = asked.re in REMIND
    text = f"Reminder: {wish}" if is_reminder else wish
    told = f"I will remind you here: “{wish}”" if is_reminder else f"“{wish}”"
    if when.lower().startswith("every"):
        again = moments.cron(when)
        if not again:
            found.summary = moments.no_time(when)
        elif made := _add(view, found, text, cron=again):
            line = SCHEDULE.search(made)
            often = f", {line['often']}" if line else ""
            first = f", next on **{pending.when(line)} ({line['zone']})**" if line else ""
            found.summary = f"It is scheduled{often}: {told}{first}."
        return
    start = moments.now(view)
    at = moments.moment(when, start)
    if at is None:
        found.summary = moments.no_time(when)
    elif at <= start:
        found.summary = moments.has_passed(at)
    elif _add(view, found, text, at=at.isoformat(timespec="minutes")):
        found.summary = f"{told}, on **{moments.in_words(at)}**."


def _add(view: View, found: Findings, text: str, **when: Any) -> str:
    """The line of the schedule that was made; "" if none was, which is said."""
    output = view.do("schedule_prompt", "I schedule it, if I may.", fresh=True, text=text, **when)
    if not output.startswith("scheduled: "):
        found.summary = not_done(f"“{text}” is not scheduled", output)
        return ""
    found.follow_ups = ["What is scheduled?"]
    return output.removeprefix("scheduled: ")


def _is_of_it(view: View, order: re.Pattern[str]) -> bool:
    """Whether this is an order about "it", a schedule just made or told of."""
    last = view.earlier[0].tool if view.earlier else ""
    is_of_schedules = last in ("schedule_prompt", "list_schedules")
    return is_of_schedules and bool(order.fullmatch(view.text))


def _cancel(view: View, found: Findings) -> None:
    """After a list of both, "it" is one of these only if there is no other."""
    told_both = view.earlier[:1] and view.earlier[0].tool == "list_schedules"
    if told_both and CANCEL_IT.fullmatch(view.text):
        lines, waiting = pending.both(view, found)
    else:
        lines, waiting = pending.schedules(view, found), ()
    if waiting and not lines:
        posting.cancel(view, found)
        return
    if not lines:
        found.summary = "No question or reminder of yours is scheduled."
        found.follow_ups = ["Which messages wait to be posted?"]
        return
    chosen = () if waiting else _chosen(view, lines)
    if not chosen:
        all_of = "" if waiting else " “Cancel all my schedules” ends them all."
        found.summary = f"Which of these shall I cancel?{all_of}"
        pending.show(found, lines, waiting)
        return
    for line in chosen:
        view.do("cancel_schedule", f"I cancel “{line['text']}”.", fresh=True, id=line["id"])
    texts = [f"“{line['text']}”" for line in chosen]
    found.summary = f"Cancelled: {', '.join(texts)}."


def _chosen(view: View, lines: Lines) -> Lines:
    """All, the one that was named, the one just made, or the only one."""
    asked = CANCEL.fullmatch(view.text)
    if asked and asked["about"]:
        return []
    if asked and asked["all"]:
        only_reminders = asked["all"].lower() == "reminders"
        return [line for line in lines if DUE.match(line["text"]) or not only_reminders]
    if asked and asked["text"]:
        beginning = asked["text"].rstrip("…").lower()
        return [line for line in lines if line["text"].lower().startswith(beginning)]
    last = view.earlier[0].arguments.get("text") if view.earlier else None
    return lines if len(lines) == 1 else [line for line in lines if line["text"] == last][:1]
