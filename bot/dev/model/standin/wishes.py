"""How people and channels want to be answered, as far as rules can follow it."""

from __future__ import annotations

import re

from ..request import item_text
from .conversation import WISHED
from .findings import Findings
from .talk import memory
from .view import View
from .words import content, has, shortened

OF_CHANNEL = "\nIn this channel\n"
LONGEST = 80  # characters of them that are quoted
BRIEF = r"brief(?:ly)?|short(?:er|ly)?|concise(?:ly)?|(?:one|a single) sentence|no (?:bullets?|bullet points|details)"
NO_TABLES = r"(?:no|without|avoid) tables?"
NO_CHARTS = r"(?:no|without|avoid) charts?"
OF_ANSWERS = r"answers|replies|answer me|be brief"
"""What is remembered of these says how to answer."""
FILLING = r"(?:I|we) (?:like|prefer|want)|answers?|please"


def wished(view: View) -> str:
    """What the person who asks wants, in their words, what is remembered of it, and what an admin wrote
    for the channel: what others want stands in the conversation too."""
    request, author = view.request, view.turn.author
    wishes = (WISHED.match(item_text(item)) for item in request.items)
    said = [each.string for each in wishes if each and author in ("", each["who"])]
    own = said[-1].partition("\n")[2] if said else ""
    kept = [each for each in memory.remembered(view) if has(each, OF_ANSWERS)]
    return "\n".join([own, *kept, request.instructions.partition(OF_CHANNEL)[2]]).strip()


def follow(wish: str, found: Findings) -> None:
    """Leave out what is not wanted; say so where rules cannot do what is wished."""
    if has(wish, BRIEF) and found.sources:  # what cannot be done is told whole
        found.summary = re.split(r"(?<=[.!?])\s+(?=\S)", found.summary, maxsplit=1)[0]
        found.points.clear()
    if has(wish, NO_TABLES):
        found.columns, found.rows = [], []
    if has(wish, NO_CHARTS):
        found.charts.clear()
    rest = re.sub(rf"\b(?:{BRIEF}|{NO_TABLES}|{NO_CHARTS}|{FILLING})\b", " ", wish, flags=re.I)
    if found.sources and content(rest):
        left = shortened(
            re.sub(r"\s*,(?:\s*,)*\s*", ", ", " ".join(rest.split())).strip(" ,.;"), LONGEST
        )
        found.gaps.append(
            f"How answers are wanted here (“{left}”) takes a real model: my rules only follow “brief”, "
            "“no tables” and “no charts”."
        )
