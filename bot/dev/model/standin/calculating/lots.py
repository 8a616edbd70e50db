"""Chance: a coin, a die, or one of several."""

from __future__ import annotations

import re

from ..findings import Findings
from ..phrasing import phrase
from ..view import View

COIN = phrase(r"(?:flip|toss) a coin|heads or tails")
DIE = phrase(r"(?:roll|throw) (?:a|the) (?:dice|die)")
NUMBER = phrase(
    r"(?:give me |pick |choose |draw )?a random number(?: (?:between|from) (?P<first>\d+) (?:and|to) (?P<last>\d+))?"
)
MOST = 100
PICK = phrase(
    r"(?:pick|choose|draw)(?: (?:one|somebody|someone|a (?:name|person|winner)))?(?: at random)?(?::| of| from| between| among) "
    r"(?P<names>[\w' -]+(?:(?:,| or | and ) ?[\w' -]+)+)"
)


def is_asked(view: View) -> bool:
    """Whether chance is to decide."""
    asks = any(each.fullmatch(view.text) for each in (COIN, DIE, NUMBER, PICK))
    return asks and not view.turn.files and view.knows("draw_lots")


def answer(view: View, found: Findings) -> None:
    """Let the tool draw."""
    options = ["heads", "tails"] if COIN.fullmatch(view.text) else [str(n) for n in range(1, 7)]
    if number := NUMBER.fullmatch(view.text):
        first, last = int(number["first"] or 1), int(number["last"] or MOST)
        options = [str(n) for n in range(first, min(last, first + MOST - 1) + 1)]
    elif picked := PICK.fullmatch(view.text):
        options = [
            name.strip() for name in re.split(r",\s*(?:and |or )?| or | and ", picked["names"])
        ]
    output = view.do("draw_lots", "I draw lots.", fresh=True, options=options, count=1)
    drawn = re.match(r"1\. (.+)", output)
    found.summary = f"It is **{drawn[1]}**." if drawn else "I could not draw lots."
    found.source("Lots drawn", None, f"At random, of {len(options)}.")
