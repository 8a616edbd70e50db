"""A stand-in for a model: rules that choose tools, fill their arguments and quote what they return.

It sees what a real model sees, is deterministic, and says what it is. `bot dev` uses it when there
is no key; it understands questions only as far as its rules reach.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ..replies import Reply, call, reasoning, text
from ..request import ModelRequest
from . import data, database, keeping, page, posting, small, talk, threads
from .findings import HONEST, Findings
from .passages import quote_from, summarise
from .view import COMPLETE, Missing, Need, OutOfTurns, Turn, View
from .words import has

FILE_WORDS = r"files?|attach(?:ed|ment)s?|spreadsheets?|csv|xlsx|excel|pdf|document|table"
SMALL_TALK = r"hello|hi|hey|good (?:morning|afternoon|evening)|who are you|what are you|help|what can (?:you|i) (?:do|ask)"
THANKS = r"thanks|thank you|thx|cheers"
IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp)$", re.IGNORECASE)
SHORT = 60  # characters of a message that is only small talk
MOST_STEPS = 15


class StandIn:
    """The brain that answers by rules; each reply keeps people waiting for `pause` seconds."""

    def __init__(self, pause: float = 0.0) -> None:
        self.pause = pause

    def __call__(self, request: ModelRequest) -> Reply:
        """The next call, or the end of the task."""
        return replace(decide(View(request)), pause=self.pause)


def decide(view: View) -> Reply:
    """Go on with the skill that fits the question until it needs a call or is done."""
    first, *more = view.open
    try:
        found = _found(view, first)
        for turn in more:
            found.add(_found(view, turn))
    except Need as need:
        return reasoning(need.thought, call(need.tool, need.arguments))
    return _finish(view, found)


def _found(view: View, turn: Turn) -> Findings:
    """What there is to say of one turn. Raises Need."""
    view.turn, found = turn, Findings()
    try:
        if len(turn.steps) < MOST_STEPS * len(view.open):
            _work(view, found)
        else:
            found.lower("I stopped after many steps.", "low")
    except Missing as missing:
        found.summary = found.summary or "I have no tool for this here."
        found.lower(f"No tool does what {missing} would do.", "low")
    except OutOfTurns:
        found.lower("The limit of this task was reached before all was done.", "low")
    return found


def _work(view: View, found: Findings) -> None:
    """Choose the skill by what the question holds, the most certain signs first."""
    text = view.text
    if kind := threads.wanted(view):
        threads.answer(view, found, kind)
    elif post := posting.wanted(view):
        posting.answer(view, found, post)
    elif keeping.wanted(view):
        keeping.answer(view, found)
    elif page.URL.search(text) or (page.URL.search(view.turn.quoted) and not view.turn.files):
        page.answer(view, found)
    elif view.turn.files:
        _about_files(view, found)
    elif small.CONVERT.search(text) or small.NOW.search(text):
        small.clock(view, found)
    elif small.expression(text) and not has(text, FILE_WORDS):
        small.calculate(view, found)
    elif database.is_asked(view):
        database.answer(view, found)
    elif _about_talk(view):
        talk.answer(view, found)
    elif view.turn.quoted:
        _about_message(view, found)
    elif data.speaks_of_data(view) or has(text, FILE_WORDS):
        data.answer(view, found)
    else:
        _otherwise(view, found)


def _otherwise(view: View, found: Findings) -> None:
    """A tool whose words fit, small talk, or nothing."""
    if has(view.text, THANKS) and len(view.text) < SHORT:
        found.summary = "You are welcome."
    elif tool := small.fitting_tool(view):
        small.generic(view, found, tool)
    elif has(view.text, SMALL_TALK) and len(view.text) < SHORT:
        found.introduced()
    else:
        found.puzzled()


def _about_message(view: View, found: Findings) -> None:
    """A message that was pointed at: its gist, or what it says of the question's words."""
    found.source("The message", None, "What it says.")
    if has(view.text, r"summar\w+|tl;?dr|explain|mean|about"):
        summarise(found, view.turn.quoted, "The message")
    else:
        quote_from(found, view.text, view.turn.quoted, "The message")


def _about_files(view: View, found: Findings) -> None:
    """What is in them; images it is shown as any model is, and can only say so."""
    if not all(IMAGE.search(file.name) for file in view.turn.files):
        data.answer(view, found)
        return
    names = ", ".join(file.name for file in view.turn.files)
    found.summary = f"I was shown {names}, but a stand-in cannot tell what is in an image."
    found.lower("A model that sees images answers this.", "low")


def _about_talk(view: View) -> bool:
    wants_talk = {"participants", "decisions", "action_items", "actions", "open_questions"}
    schema = view.offered.get(COMPLETE, {}).get("parameters", {}).get("properties", {})
    asks = bool(talk.CHANNEL.search(view.text)) or has(view.text, talk.TALK)
    return bool(wants_talk & set(schema)) or (asks and has(view.text, talk.ABOUT_TALK))


def _finish(view: View, found: Findings) -> Reply:
    """`complete_task` with what was found; in plain text where there is no such tool."""
    if not found.summary:
        found.summary = _last_output(view)
    if not any(step.tool == COMPLETE for step in view.steps) and len(view.turns) == 1:
        found.gaps.append(HONEST)
    tool = view.offered.get(COMPLETE)
    if tool is None:
        return text("\n".join([found.summary, *found.points]))
    arguments = found.arguments(tool.get("parameters") or {})
    thought = "I have what I need and write the answer." if found.confidence != "low" else (
        "I cannot do more, so I say what I have and what is missing."
    )  # fmt: skip
    return reasoning(thought, call(COMPLETE, arguments))


def _last_output(view: View) -> str:
    """What the last tool said, when the task had to end before it could be worked with."""
    for step in reversed(view.turn.steps):
        if step.output and step.tool not in ("acquire_tools", COMPLETE):
            return f"I did not get to an answer. The last thing I saw: {step.output[:300]}"
    return "I did not get to an answer."


__all__ = ["StandIn", "decide"]
