"""Notations of numbers, and meanings: 1,234.56 · 1.234,56 · 1 234,56 · 1'234.56 · 12,34,567."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from bot.evidence.characters import NBSP

DIGITS = (
    rf"(?:\d{{1,3}}(?:(?P<group>[,.'{NBSP} ])\d{{3}}(?!\d)(?:(?P=group)\d{{3}}(?!\d))*)"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)|\d+)(?:[.,]\d+)?"
)
"""A pattern for a number without its sign and unit."""

_GROUPED = 3  # digits of a group
_MARKS = re.compile(r"[.,]")


class Mark(Enum):
    """The decimal mark of a text's figures, as far as they tell it."""

    POINT = "."
    COMMA = ","
    UNKNOWN = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """One meaning of a written number; `step` is the value of its last written digit."""

    value: float
    step: float


def readings(digits: str) -> list[Reading]:
    """Return the meanings of a number as `DIGITS` matches it, thousands before decimals."""
    bare = digits.replace("'", "").replace(NBSP, "").replace(" ", "")
    marks = _MARKS.findall(bare)
    if not marks:
        return [Reading(float(bare), 1.0)]
    last = bare.rfind(marks[-1])
    whole, decimals = bare[:last], bare[last + 1 :]
    as_decimals = Reading(
        float(f"{_MARKS.sub('', whole) or '0'}.{decimals}"), 10.0 ** -len(decimals)
    )
    as_group = Reading(float(_MARKS.sub("", bare)), 1.0)
    if marks.count(marks[-1]) > 1:
        return [as_group]
    if len(marks) > 1 or len(decimals) != _GROUPED or whole.startswith("0") or bare != digits:
        return [as_decimals]
    return [as_group, as_decimals] if len(whole) <= _GROUPED else [as_decimals]


def mark_of(numbers: list[str]) -> Mark:
    """Return the decimal mark that clearly written numbers of a text have in common."""
    found = set()
    for digits in numbers:
        bare = digits.replace("'", "").replace(NBSP, "").replace(" ", "")
        marks = _MARKS.findall(bare)
        both = len(set(marks)) > 1
        if marks and len(set(marks)) < len(marks) - both:
            found.add("," if marks[0] == "." else ".")  # repeated: it groups
        elif marks and (both or len(readings(digits)) == 1):
            found.add(marks[-1])
    return Mark(found.pop()) if len(found) == 1 else Mark.UNKNOWN


def chosen(digits: str, mark: Mark) -> list[Reading]:
    """Return the meanings that fit the decimal mark of the text around it; without one, all."""
    found = readings(digits)
    if len(found) == 1:
        return found
    if mark is Mark.UNKNOWN:  # 12.000 is no 12
        return found[:1] if digits.endswith("0") else found
    is_decimal = mark.value in digits
    return found[1:] if is_decimal else found[:1]
