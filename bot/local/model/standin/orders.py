"""What is to be done, as the rules match it: a whole sentence and the politeness around it."""

from __future__ import annotations

import re

LEAD = (
    r"(?:(?:please|hi|hey|hello|ok|okay|so|now|and|then|also|(?:can|could|will|would) you)[,!]? )*"
)
TAIL = r"(?:,? (?:please|thanks|thank you|now))*[\s.!?]*"
CHANNEL = r"(?:<#[A-Z0-9]+(?:\|[^>]*)?>|#[\w-]+)"
_ID = re.compile(r"<#([A-Z0-9]+)")


def order(pattern: str) -> re.Pattern[str]:
    """The pattern as one of the whole message."""
    return re.compile(rf"\s*{LEAD}(?:{pattern}){TAIL}", re.IGNORECASE | re.DOTALL)


def channel_of(said: str) -> str:
    """A channel as tools take it: its id, or its name with the sign."""
    found = _ID.match(said)
    return found[1] if found else said


def quoted(name: str) -> str:
    """The pattern of words in quotation marks, in a group of this name; the apostrophe of "it's"
    ends none."""
    inside = r"(?<=[\"“])[^\"“”]+|(?<=['‘])(?:[^'’]|['’](?=\w))+"
    return rf"[\"“'‘](?P<{name}>{inside})[\"”'’]"


def unquoted(text: str) -> str:
    """A text without the quotation marks around it."""
    return re.sub(r"^[\"“‘'](.+)[\"”’']$", r"\1", text.strip(), flags=re.DOTALL)
