"""How messages are matched: as whole sentences, without the politeness around them."""

from __future__ import annotations

import re
from dataclasses import dataclass

LEAD = (
    r"\s*(?:(?:hi|hello|hey|bot|ok|okay|so|and|but|then|also|now|please|(?:can|could|will|would) you|"
    r"tell me|show me)\b[\s,.!]*+)*"
)
TAIL = r"(?:[\s,.!?]++(?:please|thanks|thank you|now)\b)*+[\s,.!?…]*+"
CHANNEL = r"(?:<#[A-Z0-9]+(?:\|[^>]*)?>|#[\w-]+)"
PLACE = re.compile(
    rf"(?P<channel>{CHANNEL})|\b(?:this|the|our) (?P<here>channel|thread|conversation|discussion|chat)\b",
    re.IGNORECASE,
)
_BOLD = re.compile(r"(?<![\w*`])\*(?=[^\s*])([^*\n]*[^\s*])\*(?![\w*`])")
_STRUCK = re.compile(r"(?<![\w~`])~(?=[^\s~])([^~\n]*[^\s~])~(?![\w~`])")
_IN_PLACE = re.compile(r"(?:\s+(?:in|of|from|on))?\s*(?:#|\bhere\b)")
_ID = re.compile(r"<#([A-Z0-9]+)")
_LEAD = re.compile(LEAD, re.IGNORECASE)
_TAIL = re.compile(rf"{TAIL}$", re.IGNORECASE)


def phrase(pattern: str) -> re.Pattern[str]:
    """The pattern as one of a whole message."""
    return re.compile(rf"{LEAD}(?:{pattern}){TAIL}", re.IGNORECASE | re.DOTALL)


_NOUN = (
    "(?:files?|documents?|pdf|report|log|page|text|message|link|article|spreadsheets?|sheets?|tables?|data|csv|"
    "workbook|attachments?)"
)
_WRITTEN = (
    "(?:policy|contract|agreement|lease|memo|minutes|notes|letter|proposal|plan|manual|guide|handbook|offer|"
    "invoice|presentation|slides|deck|paper)"
)
_BRIEFLY = r"(?: ?(?:briefly|(?:in|as|with) (?:(?:one|two|three|four|five|a few|\d+) )?(?:short |key )?(?:sentences?|bullets?|bullet points|points|lines)))?"
IT = rf"(?:it|this|that|these|them|both|(?:(?:the|this|that|these|both|two|my|our|all|attached) )*{_NOUN}|[\w.-]+\.\w{{2,4}})"
GIST = phrase(
    rf"(?:(?:summari[sz]e|sum up|describe|explain|read|open|fetch|look at|about)\b ?)?{IT}?{_BRIEFLY}|"
    rf"(?:summari[sz]e|sum up|(?:give me )?a (?:short |brief )?summary of) (?:(?:the|this|that|my|our) )?{_WRITTEN}{_BRIEFLY}|"
    rf"(?:(?:give me|what(?:['’]s| is| are)) )?(?:(?:a|an|the) )?(?:short |brief |quick )?(?:summary|overview|gist|key points|main points|tl;?dr)(?: of {IT})?|"
    r"what(?:['’]s| is) (?:this|the) \w+ (?:all )?about|"
    rf"what(?:['’]s| is| are)(?: in| inside| on)?(?: {IT})?(?: about)?|what does(?: {IT})? (?:say|contain|mean)|\(no (?:words|text)\b.*"
)
"""What asks for nothing but what something says or holds; "" too, of what is shared without a word."""


def bare(text: str) -> str:
    """The text without what is said out of politeness, and its last punctuation."""
    return _TAIL.sub("", _LEAD.sub("", text, count=1)).replace("’", "'")


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is asked, a place in it written as "#": "who is in #?". `channel` is the one that was
    named, and `here` says that this "thread" or this "channel" was."""

    words: str
    channel: str | None = None
    here: str = ""

    @property
    def rest(self) -> str:
        """The words without the place, or one that is told by "here"."""
        return _IN_PLACE.sub("", self.words).strip(" ,")


ANYWHERE = Sentence("")


def sentence(text: str) -> Sentence:
    """The text, with the place it names; two places leave two "#", which no rule knows."""
    words, said = bare(text), PLACE.search(text)
    if said is None:
        return Sentence(words)
    words = PLACE.sub("#", words)
    if said["channel"]:
        return Sentence(words, channel_of(said["channel"]))
    return Sentence(words, here="channel" if said["here"].lower() == "channel" else "thread")


def channel_of(said: str) -> str:
    """A channel as tools take it: its id, or its name with the sign."""
    found = _ID.match(said)
    return found[1] if found else said


def shown_channel(channel: str) -> str:
    """A channel as an answer names it: an id tells people nothing."""
    is_id = re.fullmatch(r"#?[CGD][A-Z0-9]{8,}", channel)
    return "that channel" if is_id or not channel.startswith("#") else channel


def in_quotes(name: str) -> str:
    """The pattern of words in quotation marks, in a group of this name; the apostrophe of "it's"
    ends none."""
    inside = r"(?<=[\"“])[^\"“”]+|(?<=['‘])(?:[^'’]|['’](?=\w))+"
    return rf"[\"“'‘](?P<{name}>{inside})[\"”'’]"


def as_markdown(text: str) -> str:
    """What a person wrote with Slack's marks, as what tools take: *bold* as **bold**."""
    return _STRUCK.sub(r"~~\1~~", _BOLD.sub(r"**\1**", text))


def unquoted(text: str) -> str:
    """A text without the quotation marks around it."""
    return re.sub(r"^[\"“‘'](.+)[\"”’']$", r"\1", text.strip(), flags=re.DOTALL)
