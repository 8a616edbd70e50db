"""A message as the rules for talk match it: one sentence, without the politeness around it."""

from __future__ import annotations

import re
from dataclasses import dataclass

LEAD = re.compile(
    r"(?:(?:hi|hello|hey|bot|ok|okay|so|and|but|now|please|can you|could you|tell me|show me)\b[\s,.!]*)*",
    re.IGNORECASE,
)
TAIL = re.compile(r"(?:[\s,.!?…]|\b(?:please|thanks)\b)*$", re.IGNORECASE)
PLACE = re.compile(
    r"<#(?P<id>[A-Z0-9]+)(?:\|[^>]*)?>|#(?P<name>[\w-]+)|"
    r"\b(?:this|the) (?P<here>channel|thread|conversation|discussion)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is asked, a place in it written as "#": "who is in #?". `channel` is the one that was
    named, and `here` says that this "thread" or this "channel" was."""

    words: str
    channel: str | None = None
    here: str = ""

    @property
    def place(self) -> str:
        """What the channel that was named is called."""
        is_id = re.fullmatch(r"[CGD][A-Z0-9]{8,}", self.channel or "")
        return "that channel" if is_id else f"#{self.channel}"


ANYWHERE = Sentence("")


def bare(text: str) -> str:
    """The text without what is said out of politeness, and its last punctuation."""
    return TAIL.sub("", LEAD.sub("", text.strip(), count=1)).replace("’", "'")


def sentence(text: str) -> Sentence:
    """The text, with the place it names; two places leave two "#", which no rule knows."""
    words, said = bare(text), PLACE.search(text)
    if said is None:
        return Sentence(words)
    here = (said["here"] or "").lower()
    is_channel = not here or here == "channel"
    named = (said["id"] or said["name"]) if is_channel else None
    return Sentence(PLACE.sub("#", words), named, here and ("channel" if is_channel else "thread"))
