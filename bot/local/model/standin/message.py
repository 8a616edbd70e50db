"""A message that was pointed at, as "Ask about this" does."""

from __future__ import annotations

import re

from .findings import Findings
from .passages import quote_from, summarise
from .view import View
from .words import has

NO_WORDS = re.compile(r"\(no (words|text)\b", re.I)  # of one's own: a message was forwarded without


def is_asked(view: View) -> bool:
    """Whether the question is about one message."""
    return bool(view.turn.quoted)


def answer(view: View, found: Findings) -> None:
    """Its gist, or what it says of the question's words."""
    found.source("The message", None, "What it says.")
    if NO_WORDS.match(view.text) or has(view.text, r"summar\w+|tl;?dr|explain|mean|about"):
        summarise(found, view.turn.quoted, "The message")
    else:
        quote_from(found, view.text, view.turn.quoted, "The message")
