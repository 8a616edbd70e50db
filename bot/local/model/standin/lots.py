"""Chance: a coin, a die, or one of several."""

from __future__ import annotations

import re

from .findings import Findings
from .view import View

COIN = re.compile(r"\b(?:flip|toss)\b.*\bcoin\b|\bheads or tails\b", re.IGNORECASE)
DIE = re.compile(r"\b(?:roll|throw)\b.*\b(?:dice|die)\b", re.IGNORECASE)
NUMBER = re.compile(
    r"\brandom (?:number|integer)\b(?:.*?(?P<first>\d+)\s*(?:and|to|-|–)\s*(?P<last>\d+))?", re.I
)
MOST = 100
PICK = re.compile(
    r"\b(?:pick|choose|draw|select)(?: (?:one|somebody|someone|an? (?:random )?(?:winner|name|person|one)))?(?: at random)?(?: for [\w ]+?)?(?: (?:of|from|between|among))?\s*:?\s+"
    r"(?P<names>[\w' -]+(?:(?:,| or | and )\s*[\w' -]+)+)",
    re.IGNORECASE,
)


def is_asked(view: View) -> bool:
    """Whether chance is to decide."""
    asks = any(each.search(view.text) for each in (COIN, DIE, NUMBER, PICK))
    return asks and not view.turn.files and view.knows("draw_lots")


def answer(view: View, found: Findings) -> None:
    """Let the tool draw."""
    options = ["heads", "tails"] if COIN.search(view.text) else [str(n) for n in range(1, 7)]
    if number := NUMBER.search(view.text):
        first, last = int(number["first"] or 1), int(number["last"] or MOST)
        options = [str(n) for n in range(first, min(last, first + MOST - 1) + 1)]
    elif picked := PICK.search(view.text):
        options = [
            name.strip() for name in re.split(r",\s*(?:and |or )?| or | and ", picked["names"])
        ]
    output = view.do("draw_lots", "I draw lots.", fresh=True, options=options, count=1)
    drawn = re.match(r"1\. (.+)", output)
    found.summary = f"It is **{drawn[1]}**." if drawn else "I could not draw lots."
    found.source("Lots drawn", None, f"At random, of {len(options)}.")
