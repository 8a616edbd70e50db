"""How people and channels want to be answered, as far as rules can follow it."""

from __future__ import annotations

import re

from ..request import ModelRequest, item_text
from .conversation import WISHED
from .findings import Findings
from .view import View
from .words import has

OF_CHANNEL = "\nIn this channel\n"
BRIEF = r"brief(?:ly)?|short(?:er|ly)?|concise(?:ly)?|(?:one|a single) sentence|tl;?dr|no (?:bullets?|bullet points|details)"
NO_TABLES = r"(?:no|without|avoid) tables?"
ASIDE = re.compile(
    r"\b(?:short|brief|concise) answers?\b|\bbe brief\b|\bbriefly\b|\bin (?:one|a single) sentence\b|"
    r"\bkeep it (?:short|brief)\b|\b(?:no|without) (?:tables?|charts?|bullets?)\b",
    re.IGNORECASE,
)
FEW_ROWS = 5
NO_CHARTS = r"(?:no|without|avoid) charts?"


def wished(request: ModelRequest) -> str:
    """What the person who asks wants, in their words, and what an admin wrote for the channel."""
    said = [item_text(item) for item in request.items if WISHED.match(item_text(item))]
    own = said[-1].partition("\n")[2] if said else ""
    return "\n".join(filter(None, (own, request.instructions.partition(OF_CHANNEL)[2])))


def wished_by_the_way(view: View) -> str:
    """What the question says of its answer, and what was remembered of answers."""
    remembered = [each for each in view.remembered if has(each, "answers?|replies|tables?|charts?")]
    return "\n".join([*ASIDE.findall(view.text), *remembered])


def follow(wish: str, aside: str, found: Findings) -> None:
    """Leave out what is not wanted; say so where rules cannot do what is wished, unless it was said
    `aside`."""
    both = f"{wish}\n{aside}"
    if not both.strip():
        return
    if has(both, BRIEF):
        found.summary = re.split(r"(?<=[.!?])\s+(?=\S)", found.summary, maxsplit=1)[0]
        found.points.clear()
    if has(aside, BRIEF):
        found.follow_ups.clear()
    if has(aside, BRIEF) and len(found.rows) > FEW_ROWS:
        found.columns, found.rows = [], []
        found.gaps = [each for each in found.gaps if not each.startswith("The table")]
    if has(both, NO_TABLES):
        found.columns, found.rows = [], []
    if has(both, NO_CHARTS):
        found.charts.clear()
    if wish.strip() and found.sources and not has(wish, f"{BRIEF}|{NO_TABLES}|{NO_CHARTS}"):
        found.gaps.append(
            "Your wishes and this channel's instructions take a real model: my rules only follow “brief”, "
            "“no tables” and “no charts”."
        )
