"""Several figures asked for in one breath: "the sum and average of revenue", "total revenue and units"."""

from __future__ import annotations

import re

from .columns import columns_named, default_measure, identifies, words_of
from .outputs import Table
from .words import stem, stems, tokens

Figure = tuple[str, str | None]
"""An aggregate and the column it is of; None for the rows themselves."""
AGGREGATES = {
    "sum": "sum", "total": "sum", "average": "avg", "mean": "avg", "avg": "avg", "median": "median",
    "min": "min", "minimum": "min", "max": "max", "maximum": "max", "count": "count", "number": "count",
}  # fmt: skip
EXTREMES = {"lowest": "min", "smallest": "min", "highest": "max", "largest": "max"}
"""Of groups these rank; of the whole they are figures like the others."""
_BETWEEN = "and vs versus the of both plus as well a an also or with their sold earned"
BETWEEN = frozenset(_BETWEEN.split())


def several(text: str, table: Table, *, grouped: bool) -> tuple[Figure, ...]:
    """The figures that a question lists; () when it asks for one at most."""
    known = AGGREGATES if grouped else AGGREGATES | EXTREMES
    found: list[Figure] = []
    pending: list[str] = []  # aggregates that wait for their column
    latest = ["sum"]  # those that a further column shares
    for word in re.findall(r"\w+|[?.!]", text.lower()):
        if word in known:
            pending = [*pending, known[word]]
        elif column := _measure(word, table):
            latest, pending = pending or latest, []
            found += [("sum" if each == "count" else each, column) for each in latest]
        elif pending == ["count"] and word not in BETWEEN:
            found, pending = [*found, ("count", None)], []
        elif word not in BETWEEN and (found or len(pending) > 1):
            break
        elif word not in BETWEEN:
            pending = []
    if len(pending) > 1 and not found:
        found = [(each, None if each == "count" else default_measure(table)) for each in pending]
    return tuple(dict.fromkeys(found)) if len(set(found)) > 1 else ()


def _measure(word: str, table: Table) -> str | None:
    whole = next((c for c in table.columns if c.lower() == word and table.numeric(c)), None)
    if whole:
        return whole
    named = (c for c in columns_named(word, table) if table.numeric(c) and not identifies(c))
    return next(named, None)


def measure_named(text: str, table: Table, used: set[int]) -> str | None:
    """The column of numbers that a question names, whole or by a word of it; `used` are the places
    of words that were taken for something else."""
    said = " ".join(stems(text))
    names = [c for c in table.columns if table.numeric(c) and len(words_of(c)) > 1]
    whole = next((c for c in names if f" {' '.join(words_of(c))} " in f" {said} "), None)
    return whole or _likeliest(tokens(text), table, used)


def _likeliest(words: list[str], table: Table, used: set[int]) -> str | None:
    best: tuple[int, str] | None = None
    for index, word in enumerate(words):
        if index in used or len(word) < 3:
            continue
        for column in columns_named(word, table):
            if not table.numeric(column) or identifies(column):
                continue
            pieces = stems(column)
            score = 3 if pieces == [stem(word)] else 2 if stem(word) in pieces else 1
            if word in ("total", "count", "sum"):
                score = 0
            if score and (best is None or score > best[0]):
                best = (score, column)
            break
    return best[1] if best else None
