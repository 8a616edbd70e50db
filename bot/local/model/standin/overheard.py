"""A short question that nothing else answers, but somebody here may have: "When is the launch?"."""

from __future__ import annotations

import re

from .findings import Findings
from .passages import ASKING, cut
from .talk import Said, messages_here
from .view import View
from .words import content, overlap, sentences, stem

QUESTION = re.compile(
    r"\W*(?:when|who|whom|what|where|which)\b(?!.*\b(?:you|i|me)\b)", re.IGNORECASE
)
LONGEST = 100  # characters of such a question
MOST_WORDS = 5


def is_asked(view: View) -> bool:
    """Whether a channel may hold the answer."""
    in_channel = view.turn.place.startswith("#") and not view.turn.files
    short = len(view.text) <= LONGEST and 0 < len(_asked(view)) <= MOST_WORDS
    return in_channel and short and view.knows("read_channel") and bool(QUESTION.match(view.text))


def answer(view: View, found: Findings) -> None:
    """The latest sentence that holds every word of the question."""
    asked = _asked(view)
    held = [
        (message, sentence)
        for message in messages_here(view)
        for sentence in sentences(message.text)
        if overlap(content(sentence), asked) >= len(asked) and not sentence.endswith("?")
    ]
    if not held:
        found.puzzled()
        return
    _tell(found, view.turn.place, *held[-1])


def _asked(view: View) -> set[str]:
    return set(content(view.text)) - {stem(word) for word in ASKING}


def _tell(found: Findings, place: str, message: Said, sentence: str) -> None:
    found.summary = f"{message.author} wrote in {place}: “{cut(sentence)}”"
    found.source(f"{message.author}, {message.at}", message.url, f"“{cut(message.text)}”")
    found.lower("I chose the sentence by the words it shares with the question.")
