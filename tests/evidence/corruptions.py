"""Corruptions of right answers, by kind: each changes one claim into what code is sure is wrong."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bot.library.tracing.fields import AnswerField, FieldKind, fields_of
from bot.library.tracing.findings import Claim, Finding
from bot.library.tracing.quotes import quotes_in
from tests.evidence.labelled import Labelled, checked, warned_texts, world


@dataclass(frozen=True)
class Corrupted:
    """An answer with one wrong claim, the field where, and what was put there."""

    result: dict[str, Any]
    path: str
    new: str


Corrupt = Callable[[Labelled, random.Random], Corrupted | None]


def _findings(answer: Labelled, kind: Claim) -> list[Finding]:
    items = checked(answer.result, answer.world).items
    return [item for item in items if item.kind is kind and item.verdict == "read"]


def _text_at(answer: Labelled, path: str) -> str:
    return next(field.text for field in fields_of(answer.result) if field.path == path)


def _put(answer: Labelled, finding: Finding, new: str) -> Corrupted:
    text, start = _text_at(answer, finding.field), finding.start
    at = text.index(finding.text, start)
    changed = text[:at] + new + text[at + len(finding.text) :]
    return Corrupted(_with(answer.result, finding.field, changed), finding.field, new)


def _with(result: dict[str, Any], path: str, text: str) -> dict[str, Any]:
    """Return a result with another text at a path."""
    changed: Any = copy.deepcopy(result)
    *keys, last = path.split(".")
    at = changed
    for key in keys:
        at = at[int(key)] if isinstance(at, list) else at[key]
    at[int(last) if isinstance(at, list) else last] = text
    return dict(changed)


def _id(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Change a digit of an id of three digits or more."""
    ids = [item for item in _findings(answer, Claim.ID) if len(re.findall(r"\d", item.text)) > 2]
    if not ids:
        return None
    finding = chance.choice(ids)
    at = chance.choice([match.start() for match in re.finditer(r"\d", finding.text)])
    digit = chance.choice([each for each in "123456789" if each != finding.text[at]])
    return _put(answer, finding, finding.text[:at] + digit + finding.text[at + 1 :])


def _address(answer: Labelled, chance: random.Random) -> Corrupted | None:
    addresses = _findings(answer, Claim.ADDRESS)
    if not addresses:
        return None
    finding = chance.choice(addresses)
    at = chance.choice([match.start() for match in re.finditer("[a-z]", finding.text)][10:])
    letter = "x" if finding.text[at] != "x" else "y"
    return _put(answer, finding, finding.text[:at] + letter + finding.text[at + 1 :])


def _made_up_source(answer: Labelled, _chance: random.Random) -> Corrupted | None:
    source = {"title": "Statistics", "supports": "All.", "url": "https://stats.example/2026/report"}
    sources = [*answer.result["sources"], source]
    path = f"sources.{len(sources) - 1}.url"
    return Corrupted(answer.result | {"sources": sources}, path, source["url"])


def _quotes(answer: Labelled) -> Iterator[tuple[AnswerField, int, int]]:
    """Yield field, start and end of the words of each quote."""
    for field in fields_of(answer.result):
        if field.kind is FieldKind.QUOTE:
            yield field, 0, len(field.text)
        elif field.kind is FieldKind.PROSE:
            for quote in quotes_in(field.text):
                yield field, quote.start + 1, quote.end - 1


_INVENTED = (
    "we expect this to change within the next quarter",
    "all figures are subject to review by the board",
    "nobody has raised an objection so far",
)
_NOT = {"de": "nicht", "de-CH": "nicht", "fr": "pas", "es": "no", "pt": "não"}


def _quote(answer: Labelled, chance: random.Random, *, invented: bool) -> Corrupted | None:
    """Invent a quote, or put a "not" into one of five words or more."""
    quotes = list(_quotes(answer))
    if not quotes:
        return None
    field, start, end = chance.choice(quotes)
    words = field.text[start:end].split(" ")
    if invented:
        new = chance.choice(_INVENTED)
    elif len(words) < 5:
        return None
    else:
        at = chance.randrange(1, len(words))
        new = " ".join([*words[:at], _NOT.get(answer.locale, "not"), *words[at:]])
    changed = field.text[:start] + new + field.text[end:]
    return Corrupted(_with(answer.result, field.path, changed), field.path, new)


def _other_source(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Move the quote of one source to another one that was read."""
    sources = answer.result["sources"]
    quoted = [number for number, source in enumerate(sources) if source.get("quote")]
    titles = {source.title for output in world(answer.world) for source in output.sources}
    if not quoted:
        return None
    at = chance.choice(quoted)
    others = sorted(titles - {sources[at]["title"]})
    if not others:
        return None
    new = chance.choice(others)
    changed = [*sources[:at], sources[at] | {"title": new}, *sources[at + 1 :]]
    return Corrupted(answer.result | {"sources": changed}, f"sources.{at}.quote", new)


def _swapped_rows(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Swap the cells of two rows of the answer's table."""
    table = answer.result.get("table")
    if not table or len(table["rows"]) < 2:
        return None
    column = chance.randrange(1, len(table["columns"]))
    one, other = chance.sample(range(len(table["rows"])), 2)
    rows = copy.deepcopy(table["rows"])
    if rows[one][column] == rows[other][column] or not re.search(r"\d\d", rows[one][column]):
        return None
    rows[one][column], rows[other][column] = rows[other][column], rows[one][column]
    result = answer.result | {"table": table | {"rows": rows}}
    return Corrupted(result, f"table.rows.{one}.{column}", rows[one][column])


def _other_row(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Put the figure of another row of the same table in the place of one whose row is named."""
    tables = [table for output in world(answer.world) for table in output.tables]
    choices = []
    for finding in _findings(answer, Claim.FIGURE):
        place = finding.places[0]
        if not place.column or place.row not in _text_at(answer, finding.field):
            continue
        for table in tables:
            if table.handle == place.handle and place.column in table.columns:
                column = table.columns.index(place.column)
                cells = [row.cells[column] for row in table.rows]
                others = [cell for cell in cells if cell != place.text and cells.count(cell) == 1]
                choices += [(finding, cell) for cell in others if len(cell) > 2]
    if not choices:
        return None
    finding, cell = chance.choice(choices)
    return _put(answer, finding, cell)


SURE: dict[str, Corrupt] = {
    "digit of an id": _id,
    "letter of an address": _address,
    "source made up": _made_up_source,
    "quote made up": lambda answer, chance: _quote(answer, chance, invented=True),
    "“not” put into a quote": lambda answer, chance: _quote(answer, chance, invented=False),
    "quote of another source": _other_source,
}
"""What readers must be warned of."""

OTHER_ROWS: dict[str, Corrupt] = {
    "figure of another row": _other_row,
    "cells of two rows swapped": _swapped_rows,
}
"""Right figures beside wrong names, of which most are told."""


def corrupted(
    answers: Sequence[Labelled], kind: Corrupt, *, tries: int, seed: int = 1
) -> Iterator[tuple[Labelled, Corrupted]]:
    """Yield corruptions of one kind, up to `tries` of each answer, no one twice. Wrong answers are left
    alone."""
    for answer in answers:
        if any(span.label == "wrong" for span in answer.spans):
            continue
        chance = random.Random(f"{seed} {answer.name}")
        seen = set()
        for _ in range(tries):
            made = kind(answer, chance)
            if made and (made.path, made.new) not in seen:
                seen.add((made.path, made.new))
                yield answer, made


def catches(answers: Sequence[Labelled], kind: Corrupt, *, tries: int) -> tuple[int, int]:
    """Return how many corruptions of one kind are caught, and how many there are. One is caught if
    a reader is warned of something in its field that was not warned of before."""
    caught = tried = 0
    for answer, made in corrupted(answers, kind, tries=tries):
        after = warned_texts(made.result, answer.world)
        tried += 1
        caught += any(path == made.path for path, _ in after - _warned_before(answer))
    return caught, tried


@cache
def _warned_before(answer: Labelled) -> frozenset[tuple[str, str]]:
    return frozenset(warned_texts(answer.result, answer.world))
