"""Whom a person mentioned in what they wrote, and where a text mentions them again.

A model can be talked into calling anybody. So it only has words: a name in them becomes a mention
where the person who asked mentioned just that one themselves, and nowhere else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel, ConfigDict

_BEFORE = r"(?<![^\s(\[{\"'“‘«*_~])"  # nothing of an address
_AFTER = r"(?!-?_*[^\W_])"  # nor the beginning of another name
_NAME = re.compile(rf"{_BEFORE}@\w|<[@!]\w")


class Mention(BaseModel):
    """A person or a channel; `shown` is how people and the model read it: "@Ada", "#sales"."""

    model_config = ConfigDict(frozen=True)

    id: str
    shown: str

    @property
    def is_of_a_person(self) -> bool:
        return self.shown.startswith("@")

    @property
    def markup(self) -> str:
        """As Slack takes it."""
        return f"<{self.shown[0]}{self.id}>"


def split(text: str, mentions: Iterable[Mention]) -> Iterator[str | Mention]:
    """`text` cut into those of `mentions` that stand in it as they are shown, and the rest. What is
    shown alike for several is nobody's."""
    different = set(mentions)
    count = Counter(each.shown for each in different)
    known = {each.shown: each for each in different if count[each.shown] == 1}
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
    """Whether something in `text` looks like a mention of somebody, and is none of `mentions`."""
    rest = (each for each in split(text, mentions) if isinstance(each, str))
    return any(map(_NAME.search, rest))
