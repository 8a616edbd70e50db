"""A short question that somebody here has answered already: "When is the launch?"."""

from __future__ import annotations

import re

from ..doing.moments import DAYS
from ..findings import Findings
from ..phrasing import phrase, sentence, shown_channel
from ..texts.passages import cut
from ..view import View
from ..words import content, has, sentences, stem, tokens
from .hearing import talks
from .said import Said

QUESTION = phrase(
    r"(?P<word>when|where|who|what|which)(?:['’]s)? (?!.*\b(?:you|your|i|me)\b)(?P<rest>[^?!;\n]{1,80}?)"
)
OF_TIME = re.compile(
    rf"\d|\b(?:{'|'.join(DAYS)}|today|tonight|tomorrow|noon|midnight|week|month|year)\b",
    re.IGNORECASE,
)
MOST_WORDS = 5


def is_asked(view: View) -> bool:
    """Whether this thread or its channel may hold the answer."""
    place = sentence(view.text)
    asked = QUESTION.fullmatch(place.rest)
    in_channel = view.turn.place.startswith("#") or place.words.count("#") == 1
    if asked is None or view.turn.files or view.turn.quoted or not in_channel:
        return False
    return view.knows("read_channel") and 0 < len(content(asked["rest"])) <= MOST_WORDS


def answer(view: View, found: Findings) -> None:
    """What somebody wrote; where nobody did, that no rule fits."""
    if told(view, found):
        return
    if found.gaps:
        found.summary = found.gaps.pop()
        return
    found.puzzled(view.knows)
    channel = sentence(view.text).channel
    where = shown_channel(channel) if channel else f"this thread or {view.turn.place}"
    found.gaps.append(
        f"I found no sentence in {where}, but for questions, that has all words of it."
    )


def told(view: View, found: Findings) -> bool:
    """Whether a sentence has every word of the question; the latest is quoted as its author wrote it. A
    channel that was named and cannot be read is a gap."""
    place = sentence(view.text)
    asked = QUESTION.fullmatch(place.rest)
    for talk in talks(view, place):
        if talk.refused and place.channel:
            found.gaps.append(f"I could not read {talk.place}: {talk.refused}")
        for message in reversed(talk.messages):
            for said in reversed(sentences(message.text)):
                if asked and _tells(asked, said):
                    _quote(found, talk.place, message, said)
                    return True
    return False


def _tells(asked: re.Match[str], sentence: str) -> bool:
    in_time = asked["word"].lower() != "when" or OF_TIME.search(sentence)
    has_all = set(content(asked["rest"])) <= {stem(word) for word in tokens(sentence)}
    return bool(in_time) and has_all and not sentence.endswith("?")


def _quote(found: Findings, place: str, message: Said, sentence: str) -> None:
    found.summary = f"{message.author} wrote in {place}: “{cut(sentence)}”"
    found.source(f"{message.author}, {message.at}", message.url, f"“{cut(message.text)}”")
    proposed = has(sentence, "propose|suggest|should|could|would|may|might|maybe|perhaps|think")
    chosen = "I chose the sentence by the words it shares with the question."
    found.lower(chosen, "low" if proposed else "medium")
