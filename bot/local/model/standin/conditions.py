"""Conditions on rows that a question names: times, values, bounds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .columns import columns_named, default_measure, identifies, one_word
from .filters import Filter
from .outputs import Table, sheet_of
from .times import MONTH, MONTHS, times
from .words import stem, stems, tokens

STATES = {
    "status": r"open|closed|pending|new|active|inactive|paid|unpaid|overdue|cancel?led|shipped|resolved",
    "priority": r"urgent|critical|high|medium|normal|low",
}
"""What records are, by the column that says so."""
SYMBOLS = {">": ">(?!=)", ">=": ">=|≥", "<": "<(?!=)", "<=": "<=|≤"}
COMPARISONS = {">": r"over|above|more than|greater than|exceeding", ">=": r"at least", "<": r"under|below|(?:less|fewer) than", "<=": r"at most"}  # fmt: skip


FEW = 3  # values that one word may stand for
BETWEEN = re.compile(
    rf"\bbetween \$?(?!(?:19|20)\d\d\b)(\d[\d,]*(?:\.\d+)?) and \$?(\d[\d,]*(?:\.\d+)?)\b(?! \w+ (?:19|20)\d\d)(?!\w* (?:of )?{MONTH})",
    re.IGNORECASE,
)


def conditions(text: str, table: Table, measure: str | None) -> tuple[Filter, ...]:
    """The conditions that a question names: times, values, and bounds of the measure."""
    found = [*times(text, table), *_values(text, table), *_flags(text, table)]
    taken = {value.lower() for each in found for value in each.values}
    found += [each for each in _states(text, table) if not taken & set(each.values)]
    return (*found, *_bounds(text.replace("&gt;", ">").replace("&lt;", "<"), table, measure))


def _bounds(text: str, table: Table, measure: str | None) -> list[Filter]:
    """Bounds of a figure: of the one that stands beside the number, or of the measure."""
    found = []
    if (between := BETWEEN.search(text)) and (column := measure or default_measure(table)):
        sides = zip((">=", "<="), between.groups(), strict=True)
        found = [Filter(column, side, (value.replace(",", ""),)) for side, value in sides]
    for operator, pattern in COMPARISONS.items():
        said = (
            rf"(?:\b(?:{pattern})\s|{SYMBOLS[operator]})\s*\$?(\d[\d,]*(?:\.\d+)?)(?:\s+([a-z_]+))?"
        )
        match = re.search(said, text, re.IGNORECASE)
        beside = columns_named(match[2].lower(), table) if match and match[2] else []
        named = next((c for c in beside if table.numeric(c) and not identifies(c)), measure)
        if match and (column := named or default_measure(table)):
            found.append(Filter(column, operator, (match[1].replace(",", ""),)))
    return found


def _values(text: str, table: Table) -> list[Filter]:
    """Names of values: those seen in the table, in quotation marks, or capitalised."""
    by_column: dict[tuple[str | None, str], list[str]] = {}
    lowered = text.lower()
    names = set(stems(f"{' '.join(table.columns)} {sheet_of(table)} sheet"))
    spans: list[tuple[int, int]] = []
    for (start, _), value, column in _seen(lowered, table, spans):
        if len(value) > 1 and stem(value.lower()) not in names:
            by_column.setdefault((column, _operator(lowered[:start])), []).append(value)
    for value, column, span in _by_last_word(text, table, spans):
        by_column.setdefault((column, _operator(lowered[: span[0]])), []).append(value)
        spans.append(span)
    for match in re.finditer(
        r"(?:\b(?:in|on|for|from|only|of|excluding|without|except|with|at|did|does|has)\s+(?:the\s+)?(?:[a-z]\w*\s+)?)"
        r"(?:[\"'“‘](?P<quoted>[^\"'”’]+)[\"'”’]|(?P<name>[A-Z][\w-]+(?:\s[A-Z][\w-]+)*))",
        text,
    ):
        at = match.start("quoted" if match["quoted"] else "name")
        value = match["quoted"] or match["name"]
        known = any(start <= at < end for start, end in spans) or _is_a_time(value)
        known = known or value.lower() in map(one_word, table.columns)
        if known or stem(value.lower()) in names or re.fullmatch(r"(?i)sql|csv|excel|xlsx", value):
            continue
        operator = _operator(lowered[: match.end()])
        by_column.setdefault((_named_before(match[0], table), operator), []).append(value)
    return [Filter(column, op, tuple(values)) for (column, op), values in by_column.items()]


def _seen(
    lowered: str, table: Table, spans: list[tuple[int, int]]
) -> list[tuple[tuple[int, int], str, str]]:
    """The values that the table has shown, where they stand; of "Office chair" not "Office" as well."""
    found = []
    for value, column in sorted(table.values.items(), key=lambda each: -len(each[0])):
        match = re.search(rf"\b{re.escape(value.lower())}(?:e?s)?\b", lowered)
        if match and not any(at <= match.start() < end for at, end in spans):
            spans.append(match.span())
            found.append((match.span(), value, column))
    return sorted(found)


def _by_last_word(
    text: str, table: Table, spans: list[tuple[int, int]]
) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Values of several words by the last of them, as "chairs" for "Task chair", where few end so."""
    ends: dict[str, list[tuple[str, str]]] = {}
    for value, column in table.values.items():
        if len(words := stems(value)) > 1 and words[-1].isalpha():
            ends.setdefault(words[-1], []).append((value, column))
    for said in re.finditer(r"[A-Za-z]{4,}", text):
        named = any(start <= said.start() < end for start, end in spans)
        fitting = ends.get(stem(said[0].lower()), ())
        if not named and len(fitting) <= FEW and not columns_named(said[0].lower(), table):
            yield from ((value, column, said.span()) for value, column in fitting)


def _flags(text: str, table: Table) -> list[Filter]:
    """Columns of yes and no that the question speaks of, as in "how many customers churned"."""
    found = []
    for column in filter(table.flag, table.columns):
        name = re.escape(column.replace("_", " ").removeprefix("is "))
        if match := re.search(
            rf"(?<!by )(?<!per )\b{name}\b", text.replace("_", " "), re.IGNORECASE
        ):
            found.append(Filter(column, _operator(text[: match.start()].lower()), ("true",)))
    return found


def _states(text: str, table: Table) -> list[Filter]:
    """A state before the table's own name, or after "are", as in "open tickets that are urgent"."""
    found = []
    noun = rf"(?:{re.escape(stem(table.source))}s?|ones?)"
    for column, states in STATES.items():
        known = column if column in table.columns else None
        before = rf"\b(?P<state>{states})\s+(?:[a-z-]+\s+){{0,2}}{noun}\b"
        after = rf"\b(?:is|are|was|were|still|been|only|just|not|\w+n't)\s+(?P<state>{states})\b"
        match = re.search(before, text, re.IGNORECASE)
        match = match or (re.search(after, text, re.IGNORECASE) if known else None)
        if match:
            found.append(
                Filter(
                    known,
                    _operator(text[: match.start("state")].lower()),
                    (match["state"].lower(),),
                )
            )
    return found


def _is_a_time(word: str) -> bool:
    first = re.split(r"[\s-]", word.lower())[0]
    months = {*MONTHS, *(month[:3] for month in MONTHS)}
    return (
        first.removesuffix("s").endswith("day")
        or first in months
        or bool(re.fullmatch("q[1-4]", first))
    )


def _operator(before: str) -> str:
    excluded = re.search(
        r"\b(?:excluding|without|except|not|\w+n't|remove|drop|omit|ignore|leave out)\b[^.,;]{0,30}$",
        before,
    )
    return "not in" if excluded else "in"


def _named_before(phrase: str, table: Table) -> str | None:
    """The column that stands right before a value, as in "for product Widget"."""
    for word in tokens(phrase)[1:-1]:
        found = [c for c in columns_named(word, table) if not table.numeric(c)]
        if found:
            return found[0]
    return None
