"""Mentions: people and channels that a text names, and the rule for which of them are notified.

A prompt injection can make the model mention anybody. The model therefore writes plain names, and a
name becomes a Slack mention only if the asker mentioned the same person or channel.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel, ConfigDict

_BEFORE = r"(?<![^\s(\[{\"'“‘«*_~])"  # not in an email address or URL
_AFTER = r"(?!-?_*[^\W_])"  # not the beginning of a longer name
_NAME = re.compile(rf"{_BEFORE}@\w|<[@!]\w")


class Mention(BaseModel):
    """A mentioned person or channel; `shown` is the displayed form: "@Ada", "#sales"."""

    model_config = ConfigDict(frozen=True)

    id: str
    shown: str

    @property
    def is_of_a_person(self) -> bool:
        return self.shown.startswith("@")

    @property
    def markup(self) -> str:
        """The mention in Slack's syntax."""
        return f"<{self.shown[0]}{self.id}>"


def split(text: str, mentions: Iterable[Mention]) -> Iterator[str | Mention]:
    """Split `text` into the `mentions` that it contains in displayed form and the text between them.

    A displayed form that several mentions share is ambiguous and stays text.
    """
    distinct = set(mentions)
    count = Counter(each.shown for each in distinct)
    known = {each.shown: each for each in distinct if count[each.shown] == 1}
    longest_first = "|".join(re.escape(each) for each in sorted(known, key=len, reverse=True))
    if not longest_first:
        yield text
        return
    last = 0
    for found in re.finditer(rf"{_BEFORE}(?:{longest_first}){_AFTER}", text):
        yield text[last : found.start()]
        yield known[found[0]]
        last = found.end()
    yield text[last:]


def has_other_names(text: str, mentions: Sequence[Mention]) -> bool:
    """Return whether `text` has something that looks like a mention but is not in `mentions`."""
    rest = (each for each in split(text, mentions) if isinstance(each, str))
    return any(map(_NAME.search, rest))
