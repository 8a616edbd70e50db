"""What is wanted of the answer before: shorter, or what it rests on."""

from __future__ import annotations

import re

from ..findings import STAND_IN, Findings
from ..phrasing import phrase
from ..view import View
from ..words import listed

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
