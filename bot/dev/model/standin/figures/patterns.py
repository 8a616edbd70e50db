"""The shorthand of the grammar's patterns: {M} is the sign of a measure, {V+} several of values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..outputs import Table
from .columns import date_column, default_measure, is_level
from .names import Name, Named

JOIN = r"(?:, and |, |and |or |vs |versus |against |with |than |plus |to )"
HIGH = r"(?:highest|largest|biggest|best|top|most|greatest|maximum|max|strongest|leading|busiest|longest)"
LOW = r"(?:lowest|smallest|worst|least|fewest|minimum|min|weakest|quietest|shortest|bottom)"
AGGREGATES = {
    "total": "sum", "sum": "sum", "overall": "sum", "average": "avg", "mean": "avg", "avg": "avg", "median": "median",
}  # fmt: skip
WORDS = {
    "AGG": rf"(?:{'|'.join(AGGREGATES)})",
    "THE": r"(?:(?:the|our|all|of|a|an|is|are|was|were|for|each|every) )*?",
    "ASK": (
        r"(?:(?:what|which|who|where)(?: is| are| was| were)? (?:there )?|(?:show|give|tell|get|find|list|display|name)(?: me)? |"
        r"(?:calculate|compute|see|report) |how (?:high|large|big|much) (?:is|was|are|were) )?"
    ),
    "SUPER": rf"(?:{HIGH}|{LOW})",
    "SOLD": (
        r"(?:(?:did|do|have|has|does) (?:we|you|the company) (?:have|had|make|made|sell|sold|earn(?:ed)?|get|got|take|taken)|"
        r"(?:is|are|was|were|have been) (?:there|sold|made|placed|ordered)|(?:there|sold|made|earned|placed|in total|overall|altogether|came in|come in)) "
    ),
}
SIGN = re.compile(r"\{(?P<letters>[A-Z]+)(?P<several>\+)?(?::(?P<name>\w+))?\}")


@dataclass(frozen=True)
class Scan:
    """What a part of a sentence matched, with what its signs stand for."""

    match: re.Match[str]
    named: Named
    table: Table

    def __getitem__(self, group: str) -> str:
        return self.match.groupdict().get(group) or ""

    def all(self, group: str) -> list[Name]:
        """What several signs stand for."""
        return self.named.all(self[group])

    def one(self, group: str) -> Name:
        """What one sign stands for. Raises IndexError where there is none."""
        return self.all(group)[0]

    @property
    def measure(self) -> str | None:
        """The figure that is named."""
        return self.one("m").measure if self["m"] else None

    @property
    def is_high(self) -> bool:
        """Whether the highest are wanted, and not the lowest."""
        return re.match(HIGH, self["super"]) is not None

    @property
    def number(self) -> int | None:
        """How many are wanted; None where it is not said."""
        found = self.all("x") or self.all("y")
        return int(float(found[0].number)) if found else None

    @property
    def date(self) -> str:
        """The column that tells when; "" without one."""
        return date_column(self.table) or ""

    @property
    def has_one_figure(self) -> bool:
        """Whether it is clear which sum is meant where no figure is named."""
        return self.default is not None and not is_level(self.default, self.table)

    @property
    def default(self) -> str | None:
        """The figure that one means when one names none."""
        return default_measure(self.table)


def pattern(text: str, more: Mapping[str, str]) -> re.Pattern[str]:
    """The pattern that a line of the grammar means, with `more` shorthand; each word and sign ends with
    a space."""
    for name, words in (*more.items(), *WORDS.items()):
        text = text.replace(f"{{{name}}}", words)
    return re.compile(SIGN.sub(_sign, text))


def _sign(found: re.Match[str]) -> str:
    letters = found["letters"].lower()
    one = rf"<[a-z]*[{letters}][a-z]*\d+> "
    name = found["name"] or letters
    start = "(?:" if name == "_" else f"(?P<{name}>"
    if not found["several"]:
        return f"{start}{one})"
    return rf"{start}{one}(?:{JOIN}(?:(?:in|for|by|per|the|on) )*{one})*)"
