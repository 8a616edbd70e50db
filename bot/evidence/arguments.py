"""Arguments of a call: what the model wrote into it proves nothing when it comes back."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from bot.evidence.characters import folded
from bot.evidence.dates import Day, is_year, numeric
from bot.evidence.entries import Entry, EntryKind
from bot.evidence.notations import Reading
from bot.evidence.tokens import Kind, tokens

LITERAL = re.compile(
    r"(?<![\w.])(?:0x[\da-f]{1,16}|0o[0-7]{1,16}|0b[01]{1,64}|(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?)",
    re.IGNORECASE,
)
"""A number as queries and arithmetic write it: without its sign and without marks of thousands."""

_MOST_CHARACTERS = 20_000
_MOST_NUMBERS = 2_000
_LONGEST_PATH = 2_000  # characters of an expression in JMESPath
_MOST_FREE, _MOST_FREE_OF_TABLE = 100, 12
_CONSTANTS = frozenset({360, 365, 366, 1_000, 1_024, 3_600, 86_400, 1_000_000})
_DATE = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")

_VALUE = rf"(?:date|timestamp)?[ ]?(?:'[^']*'|{LITERAL.pattern})"
_CONDITION = re.compile(
    rf"\b(?:not )?in[ ]?\([^()]*\)|(?:[<>=]|\b(?:i?like|between|and|limit|offset|interval))[ ]?{_VALUE}"
    rf"|{_VALUE}[ ]?(?=[<>=])",
    re.IGNORECASE,
)
"""A comparison of SQL: the number in it chooses rows and is no value of the result."""
_CHAIN = re.compile(rf"{LITERAL.pattern}(?:[ ]?[-+*/][ ]?{LITERAL.pattern})+", re.IGNORECASE)
_STEP = re.compile(rf"([-+*/]?)[ ]?({LITERAL.pattern})", re.IGNORECASE)
_TABLE = re.compile(
    r'\b(?:from|join) (?:only )?("[^"]{1,200}"|`[^`]{1,200}`|\w[\w.]{0,200}+)(?![ ]?\()',
    re.IGNORECASE,
)
_CTE = re.compile(
    r'("[^"]{1,200}"|\b\w{1,63}+)[ ]?(?:\([^()]{0,500}\)[ ]?)?as (?:materialized )?\(',
    re.IGNORECASE,
)


def value_of(literal: str) -> float:
    """Return the value of a number as `LITERAL` matches it."""
    digits = literal.replace("_", "")
    return float(int(digits, 0)) if digits[1:2].lower() in ("x", "o", "b") else float(digits)


def is_constant(value: float, most: float = _MOST_FREE) -> bool:
    """Return whether arithmetic may use a number that nobody read: a small or a usual one."""
    return value <= most or value in _CONSTANTS


@dataclass(frozen=True, slots=True)
class Operand:
    """A number or a date with which a call computes: what it may mean."""

    readings: tuple[Reading, ...] = ()
    days: tuple[Day, ...] = ()


@dataclass(slots=True)
class Arguments:
    """What the model wrote into a call.

    - `computes`: the output is arithmetic on the arguments alone. It is evidence if all `operands`
      were read; free constants are not among them. `is_partial`: there are more than were looked at.
    - `values`, `days`: what is no evidence where it comes back. `echoes` are those that come back
      under the name of their argument.
    """

    computes: bool = False
    operands: list[Operand] = field(default_factory=list)
    is_partial: bool = False
    values: set[float] = field(default_factory=set)
    days: set[Day] = field(default_factory=set)
    echoes: set[tuple[str, float]] = field(default_factory=set)

    @classmethod
    def of(cls, entry: Entry) -> Arguments:
        """Read the arguments of a call; those of a message are empty."""
        found = cls(computes=entry.kind is EntryKind.CALCULATED)
        try:
            given = [*_plain(json.loads(entry.arguments or "{}"))]
        except (ValueError, RecursionError):
            found.is_partial = True
            return found
        left = _MOST_CHARACTERS
        for name, whole in given:
            text, left = whole[:left], max(0, left - len(whole))
            found.is_partial = found.is_partial or len(text) < len(whole)
            if entry.kind is EntryKind.CALCULATED:
                found._compute_with(text)
            elif LITERAL.fullmatch(text):
                found.echoes.add((folded(name), value_of(text)))
            else:
                found._take_query(" ".join(text.split()))
        if not found.computes:  # small whole numbers come back by chance
            found.values = {each for each in found.values if each > _MOST_FREE or each % 1}
        return found

    def _compute_with(self, text: str) -> None:
        """Take in an argument of a calculator; lines with commas are a table."""
        first, *lines = text.split("\n")
        if not (lines and "," in first):
            self._take(text)
            return
        cells = (cell for row in csv.reader([first, *lines]) for cell in row)
        found = (token for cell in cells for token in tokens(cell))
        for number, token in enumerate(islice(found, _MOST_NUMBERS + 1)):
            self.is_partial = self.is_partial or number == _MOST_NUMBERS
            is_number = token.kind in (Kind.FIGURE, Kind.DATE)
            self._add(token.readings if is_number else (), token.days, _MOST_FREE_OF_TABLE)

    def _take_query(self, text: str) -> None:
        """Take in what a query in SQL or JMESPath puts into its own result."""
        if re.search(r"\bselect\b", text, re.IGNORECASE):
            made = _CONDITION.sub(" ", text)
            names = {each.strip('"`').casefold() for each in _TABLE.findall(made)}
            own = {each.strip('"').casefold() for each in _CTE.findall(made)}
            self.computes = self.computes or not names - own
            self._take(made)
            if not self.computes:
                self.values |= {each for chain in _CHAIN.findall(made) for each in _folded(chain)}
        elif literals := _json_literals(text):
            self.computes = True
            self._take(json.dumps(literals, ensure_ascii=False))

    def _take(self, text: str) -> None:
        """Take in the numbers and dates of a text."""
        for found in _DATE.findall(text):
            self._add((), tuple(numeric(found)))
        plain = _DATE.sub(" ", text)
        literals = LITERAL.findall(plain)
        self.is_partial = self.is_partial or len(literals) > _MOST_NUMBERS
        for found in literals[:_MOST_NUMBERS]:
            decimals = len(found.partition(".")[2]) if found.replace(".", "").isdecimal() else 0
            self._add((Reading(value_of(found), 10.0**-decimals),))
        for token in islice(tokens(plain), _MOST_NUMBERS):  # in texts, as people write them
            self.values |= {each.value for each in token.readings}

    def _add(
        self, readings: tuple[Reading, ...], days: tuple[Day, ...] = (), free: float = _MOST_FREE
    ) -> None:
        values = {each.value for each in readings}
        self.values |= values
        self.days |= set(days)
        if (readings or days) and not any(is_constant(each, free) for each in values):
            years = [
                Day(int(each)) for each in values if each.is_integer() and is_year(f"{each:.0f}")
            ]
            self.operands.append(Operand(readings, (*days, *years)))


def _plain(given: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts and numbers of a JSON value with the names that they stand under."""
    if isinstance(given, dict):
        for key, each in given.items():
            yield from _plain(each, key)
    elif isinstance(given, list):
        for each in given:
            yield from _plain(each, name)
    elif isinstance(given, str | int | float) and not isinstance(given, bool):
        yield name, str(given).removeprefix("-")


def _folded(chain: str) -> list[float]:
    """Return the values that arithmetic of literals alone comes to, step by step from the left."""
    total, found = 0.0, list[float]()
    for sign, literal in _STEP.findall(chain):
        value = value_of(literal)
        if sign == "*":
            total *= value
        elif sign == "/":
            total = total / value if value else 0.0
        else:
            total += -value if sign == "-" else value
        found.append(abs(total))
    return found


def _json_literals(expression: str) -> list[Any]:
    """Return the literals that a JMESPath expression puts into its result; [] for other texts."""
    if len(expression) > _LONGEST_PATH or not re.search("[`']", expression):
        return []
    import jmespath

    try:
        parsed = jmespath.compile(expression).parsed
    except (jmespath.exceptions.JMESPathError, ValueError, RecursionError):
        return []
    found, open_nodes = [], [parsed]
    while open_nodes:
        node = open_nodes.pop()
        if node["type"] == "literal":
            found.append(node["value"])
        elif node["type"] != "comparator":
            open_nodes += node["children"]
    return found
