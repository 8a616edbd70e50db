"""What is wanted of the answer before: shorter, or what it rests on."""

from __future__ import annotations

import re

from ..conversation import COMPLETE, Turn
from ..findings import STAND_IN, Findings
from ..phrasing import phrase
from ..texts.passages import cut
from ..view import View
from ..words import listed

MOST_TOLD = 10
SHORTER = phrase(
    r"(?:(?:make|say) (?:it|that|this) )?(?:shorter|in (?:short|one sentence))|shorten (?:it|that|this)"
)
WHY = phrase(
    r"why|are you sure|how do you know(?: that)?|where does (?:that|this|it) come from|"
    r"how did you (?:get|calculate|work out) (?:that|this|it)|what(?:['’]s| is| are) (?:the|your) sources?"
)


def is_asked(view: View) -> bool:
    """Whether the message is about the answer before."""
    if not view.last_answer or view.turn.files:
        return False
    return bool(view.turn.deeper or SHORTER.fullmatch(view.text) or WHY.fullmatch(view.text))


def answer(view: View, found: Findings) -> None:
    """The same in short, or what it rests on."""
    last = view.last_answer
    if view.turn.deeper:
        found.summary = f"The answer above stands: I am {STAND_IN}, and these look once. A real model goes on from here."
        return
    found.sources = list(last.get("sources") or [])
    if SHORTER.fullmatch(view.text):
        said = str(last.get("summary") or next(iter(last.values()), ""))
        found.summary = re.split(r"(?<=[.!?])\s+", said, maxsplit=1)[0]
        return
    titles = [each["title"] for each in found.sources]
    if not titles:
        found.summary = (
            f"My last answer rests on no source: I am {STAND_IN}, and it was a fixed text."
        )
        return
    found.summary = (
        f"My last answer rests on {listed(titles[:3])}, and the steps above it show how I got there. I can "
        "tell what the figures and words there are, not the reasons behind them."
    )


def answered(view: View) -> list[Turn]:
    """What was asked in this conversation before, and answered."""
    return [turn for turn in view.turns[:-1] if turn.text and _summary(turn)]


def recount(found: Findings, turns: list[Turn]) -> None:
    """The questions, each with the beginning of its answer."""
    number = "One question was" if len(turns) == 1 else f"{len(turns)} questions were"
    found.summary = f"{number} put to me here, and nobody said anything else:"
    found.points = [f"“{cut(turn.text)}” {cut(_summary(turn))}" for turn in turns[-MOST_TOLD:]]
    if len(turns) > MOST_TOLD:
        found.gaps.append(f"These are the last {MOST_TOLD}.")


def _summary(turn: Turn) -> str:
    steps = (step for step in reversed(turn.steps) if step.tool == COMPLETE)
    return str(next((step.arguments.get("summary") or "" for step in steps), ""))
