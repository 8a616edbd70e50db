"""Questions as people type them, in the words that the rules know: figures written short, and what
only leads up to the question."""

from __future__ import annotations

import re

from .moments import absolute
from .view import View

SHORT = re.compile(
    r"(?<![\w.,#-])(?P<figure>\d+(?:[.,]\d+)*)(?:(?P<letter>[kKmM])|\s?(?P<word>mio|mn|million|thousand))\b"
)
TIMES = {"k": 1_000, "thousand": 1_000, "m": 1_000_000, "mn": 1_000_000, "mio": 1_000_000} | {
    "million": 1_000_000
}
QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”)")
LEADS_UP = re.compile(
    r"\W*(?:(?:sorry|hm+|no|nope|oh)\W+)*(?:(?:that|this|it)(?:'?s| is| was| looks)?(?: all)? )?"
    r"(?:wrong|incorrect|not (?:right|correct|what i (?:asked|meant|wanted)(?: for)?))\W+(?=(?:\w+\W+){2})",
    re.IGNORECASE,
)
"""That an answer was wrong, said before what was meant."""
OVER = re.compile(
    r"\W*(?:start(?:ing)? (?:over|again|afresh)|from scratch|new question|forget (?:all )?(?:that|this|it|about (?:that|it)))\W+(?=\w)",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """The question, with "10k" as 10,000 outside quotation marks, and without "that's wrong, …" or
    "start over: …"."""
    for lead in (LEADS_UP, OVER):
        text = text[found.end() :] if (found := lead.match(text)) else text
    text = re.sub(r"(?<!\d)(?<!\d )%(?!\w)", "percent", text)
    pieces = QUOTED.split(text)
    pieces[::2] = (SHORT.sub(_in_full, each) for each in pieces[::2])
    return "".join(pieces)


def understood(text: str, day: str) -> str:
    """A question in the words that the rules know, and "last month" as the month that it is."""
    return absolute(plain(text), day)


def in_full(view: View) -> str:
    """The question of this turn, as it was understood."""
    return understood(view.text, view.turn.day)


def starts_over(text: str) -> bool:
    """Whether it says that it has nothing to do with the questions before."""
    return bool(OVER.match(text))


def _in_full(said: re.Match[str]) -> str:
    unit = TIMES[(said["letter"] or said["word"]).lower()]
    figure = re.sub(r",(?=\d{3}\b)", "", said["figure"]).replace(",", ".")
    value = float(figure) * unit if figure.count(".") < 2 else None
    return said[0] if value is None else f"{value:,.10g}" if value % 1 else f"{value:,.0f}"
