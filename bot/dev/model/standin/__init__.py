"""A stand-in for a model: rules that choose tools, fill their arguments and quote what they return.

It sees what a real model sees, is deterministic, and says what it is. `bot dev` uses it when there
is no key; it understands questions only as far as its rules reach.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from ..replies import Reply, call, reasoning, text
from ..request import ModelRequest
from .conversation import COMPLETE, LONGEST, Turn, in_common, with_more
from .doing import schedules
from .doing.amending import amended
from .figures.declining import DECLINED
from .findings import PUZZLED, SUM, Findings, NoValue
from .intents import INTENTS, Intent
from .view import Missing, Need, OutOfTurns, View
from .wishes import follow, wished
from .words import has, shortened

MOST_STEPS = 15
MOST_NAMED = 60
"""Characters of a question that is named."""
AND = re.compile(
    r",?\s+and (?:also |then )?(?=(?:what|which|who|when|where|how|remind)\b)", re.IGNORECASE
)
"""Between two questions, or things to do."""
OWN_WORDS = re.compile(r"[\"“]|:(?!\d)")
"""What begins words that are no question, as those of a message to post."""


class StandIn:
    """The brain that answers by rules; each reply keeps people waiting for `pause` seconds."""

    def __init__(self, pause: float = 0.0) -> None:
        self.pause = pause

    def __call__(self, request: ModelRequest) -> Reply:
        """The next call, or the end of the task."""
        return replace(decide(View(request)), pause=self.pause)


def decide(view: View) -> Reply:
    """Go on with the skill that fits the question until it needs a call or is done."""
    apart = in_common(amended(view.turns, view.open))
    texts = [turn.text for turn in apart]
    view.open = with_more(apart)
    try:
        found = _of_all(view)
        if len(view.open) < len(apart) and found.summary.startswith(DECLINED):
            for turn, said in zip(apart, texts, strict=True):
                turn.text = said
            view.open = apart
            found = _of_all(view)
    except Need as need:
        return reasoning(need.thought, call(need.tool, need.arguments))
    return _finish(view, found)


def _of_all(view: View) -> Findings:
    """What there is to say of the turns that wait; of several it names the one that no rule fits."""
    whole, *more = parts = [_found(view, turn) for turn in view.open]
    declined = [part for part in parts if part.summary.startswith((DECLINED, PUZZLED))]
    if len(declined) < len(parts):  # what is answered has offers of its own
        for part in declined:
            part.follow_ups = []
    for turn, part in zip(view.open, parts, strict=True):
        if more and part.summary.startswith(PUZZLED):
            named = f"I cannot answer “{shortened(turn.text, MOST_NAMED)}”."
            part.summary = part.summary.replace(PUZZLED, named, 1)
    for part in more:
        whole.add(part)
    return whole


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
        found.lower(
            f"It takes the tool `{missing}`. Admins choose which tools there are in a channel.",
            "low",
        )
    except OutOfTurns:
        found.lower("The limit of this task was reached before all was done.", "low")
    if turn.is_cut:
        found.lower(
            f"I read the first {LONGEST:,} characters of your message; of a file I read more.",
            "low",
        )
    return found


def _work(view: View, found: Findings) -> None:
    """Answer as the first intent that fits, or say that none does; each of two questions by its own."""
    first, *more = _questions(view)
    _answer(view, first, found)
    for question in more:
        _answer(view, question, part := Findings())
        found.add(part)


def _answer(view: View, question: str, found: Findings) -> None:
    with _asking(view, question):
        if meant := _meant(view):
            meant.answer(view, found)
        else:
            found.puzzled(view.knows)


def _questions(view: View) -> list[str]:
    """The two questions of one sentence, where they are about different things; or two reminders."""
    whole = view.turn.text
    halves = AND.split(whole, maxsplit=1)
    if len(halves) < 2 or view.turn.files or view.turn.quoted or OWN_WORDS.search(whole):
        return [whole]
    answers = []
    for half in halves:
        with _asking(view, half):
            meant = _meant(view)
        if meant and meant.beside_others:
            answers.append(meant.answer)
    differ = len(set(answers)) == 2 or answers == [schedules.answer] * 2
    return halves if differ else [whole]


def _meant(view: View) -> Intent | None:
    return next((intent for intent in INTENTS if intent.is_asked(view)), None)


@contextmanager
def _asking(view: View, question: str) -> Generator[None]:
    """This question alone is the turn's for the length of the context."""
    turn, whole = view.turn, view.turn.text
    turn.text = question
    try:
        yield
    finally:
        turn.text = whole


def _is_useful(view: View, follow_up: str) -> bool:
    """Not what was asked just now, and nothing for which there is no tool here."""
    if follow_up.lower() == view.text.lower().strip():
        return False
    if follow_up == SUM:
        return view.knows("calculate")
    return view.knows("list_databases") or not has(follow_up, "database")


def _finish(view: View, found: Findings) -> Reply:
    """`complete_task` with what was found; in plain text where there is no such tool."""
    if not found.summary:
        found.summary = "I did not get to an answer."
    found.follow_ups = [each for each in found.follow_ups if _is_useful(view, each)]
    tool = view.offered.get(COMPLETE)
    if tool is None:
        return text("\n".join([found.summary, *found.points]))
    follow(wished(view), found)
    try:
        arguments = found.arguments(tool.get("parameters") or {})
    except NoValue as missing:
        words = f"{found.summary}\n\nMy rules found no value for “{missing}”."
        return text(words, disobey=True)  # in words also where the call is forced
    thought = "I have what I need and write the answer." if found.confidence != "low" else (
        "I cannot do more, so I say what I have and what is missing."
    )  # fmt: skip
    return reasoning(thought, call(COMPLETE, arguments))


__all__ = ["StandIn", "decide"]
