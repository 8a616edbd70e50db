"""A message that was pointed at, as "Ask about this" does."""

from __future__ import annotations

from ..findings import Findings
from ..phrasing import GIST
from ..texts.passages import quote_from, summarise
from ..view import View
from ..words import content, overlap, sentences
from .hearing import this_thread
from .said import Said


def is_asked(view: View) -> bool:
    """Whether the question is about one message."""
    return bool(view.quoted)


def answer(view: View, found: Findings) -> None:
    """Its gist, or what it says of the question's words; else what its thread says."""
    quoted = view.quoted
    if GIST.fullmatch(view.text):
        found.source("The message", None, "What it says.")
        summarise(found, quoted, "The message")
    elif not _speaks_of(quoted, view) and (messages := _thread(view)):
        found.source("The thread", messages[0].url, "What people said in it.")
        _quote(found, view.text, messages)
    else:
        found.source("The message", None, "What it says.")
        quote_from(found, view.text, quoted, "The message")


def _speaks_of(text: str, view: View) -> bool:
    """Whether it says something of it: what only asks does not."""
    said = " ".join(each for each in sentences(text) if not each.endswith("?"))
    return overlap(content(view.text), content(said)) >= 1


def _thread(view: View) -> list[Said]:
    """What people said there, where that speaks of the question; nothing otherwise."""
    messages = this_thread(view).messages
    told = "\n".join(f"{each.author}: {each.text}" for each in messages)
    return messages if _speaks_of(told, view) else []


def _quote(found: Findings, question: str, messages: list[Said]) -> None:
    """Sentences of theirs, each with who wrote it."""
    lines = [f"- {m.author}: {said}" for m in messages for said in sentences(m.text)]
    quote_from(found, question, "\n".join(lines), "The thread")
    for author in {each.author for each in messages}:
        named = f"{author}: “"
        found.summary = found.summary.replace(f"The thread says: “{author}: ", named)
        found.summary = found.summary.replace(f"“{author}: ", named)
        found.points = [each.replace(f"“{author}: ", named) for each in found.points]
