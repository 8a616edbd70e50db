"""A message that was pointed at, as "Ask about this" does."""

from __future__ import annotations

from ..findings import Findings
from ..phrasing import GIST
from ..texts.passages import quote_from, summarise
from ..view import View
from ..words import content, overlap
from .hearing import this_thread


def is_asked(view: View) -> bool:
    """Whether the question is about one message."""
    return bool(view.turn.quoted)


def answer(view: View, found: Findings) -> None:
    """Its gist, or what it says of the question's words; else what its thread says."""
    quoted = view.turn.quoted
    if GIST.fullmatch(view.text):
        found.source("The message", None, "What it says.")
        summarise(found, quoted, "The message")
    elif not _speaks_of(quoted, view) and (thread := _thread(view)):
        found.source("The thread", None, "What people said in it.")
        quote_from(found, view.text, thread, "The thread")
    else:
        found.source("The message", None, "What it says.")
        quote_from(found, view.text, quoted, "The message")


def _speaks_of(text: str, view: View) -> bool:
    return overlap(content(view.text), content(text)) >= 1


def _thread(view: View) -> str:
    """What people said there, where that speaks of the question; "" otherwise."""
    told = "\n".join(f"{each.author}: {each.text}" for each in this_thread(view).messages)
    return told if _speaks_of(told, view) else ""
