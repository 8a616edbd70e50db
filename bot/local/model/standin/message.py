"""A message that was pointed at, as "Ask about this" does."""

from __future__ import annotations

import re

from .findings import Findings
from .passages import quote_from, summarise
from .said import messages_of
from .threads import of_people
from .view import View
from .words import content, has, overlap

NO_WORDS = re.compile(r"\(no (words|text)\b", re.I)  # of one's own: a message was forwarded without


def is_asked(view: View) -> bool:
    """Whether the question is about one message."""
    return bool(view.turn.quoted)


def answer(view: View, found: Findings) -> None:
    """Its gist, or what it says of the question's words; where it says nothing, what its thread
    does."""
    quoted = view.turn.quoted
    if NO_WORDS.match(view.text) or has(view.text, r"summar\w+|tl;?dr|explain|mean|about"):
        found.source("The message", None, "What it says.")
        summarise(found, quoted, "The message")
    elif has(view.text, r"who (?:wrote|said|posted|sent)"):
        _tell_author(view, found)
    elif not _speaks_of(quoted, view) and (thread := _thread(view)):
        found.source("The thread", None, "What people said in it.")
        quote_from(found, view.text, thread, "The thread")
    else:
        found.source("The message", None, "What it says.")
        quote_from(found, view.text, quoted, "The message")


def _tell_author(view: View, found: Findings) -> None:
    output = view.do("read_thread", "I look who wrote it.", limit=200)
    messages = (each for each in messages_of(output) if each.repeats(view.turn.quoted))
    if message := next(messages, None):
        found.summary = f"{message.author} wrote it, on {message.at}."
        found.source(f"{message.author}, {message.at}", message.url, "Who wrote it.")
    else:
        found.summary = "I cannot tell: the thread that I can read here does not hold that message."


def _speaks_of(text: str, view: View) -> bool:
    return overlap(content(view.text), content(text)) >= 1


def _thread(view: View) -> str:
    """What people said there, where that speaks of the question; "" otherwise."""
    output = view.do("read_thread", "The message says nothing of it: I read its thread.", limit=200)
    told = "\n".join(f"{each.author}: {each.text}" for each in of_people(view, output))
    return told if _speaks_of(told, view) else ""
