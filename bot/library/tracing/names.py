"""Names of rows: which row of a table a figure is told of, where an answer says so plainly."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from bot.library.tracing.fields import AnswerField, FieldKind
from bot.library.tracing.outputs import ShownRow, ShownTable

_MOST_ROWS = 500
_MOST_SAMPLED = 20
_LONGEST, _SHORTEST_LOWER = 60, 5
_LETTER = re.compile(r"[^\W\d_]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|[。！？\n]+|;\s")
_CLAUSE = re.compile(r"[,，、]\s|，|、")
_ENDING = re.compile(r"(?:['’]?s|es|en|n)?(?!\w)")
_TOTALS = frozenset(
    [
        "total",
        "totals",
        "sum",
        "all",
        "other",
        "others",
        "average",
        "mean",
        "gesamt",
        "summe",
        "alle",
        "andere",
        "durchschnitt",
        "somme",
        "tous",
        "toutes",
        "autres",
        "moyenne",
        "suma",
        "todos",
        "todas",
        "otros",
        "media",
        "promedio",
        "soma",
        "outros",
        "média",
        "合計",
        "平均",
        "その他",
    ]
)


def told_of_another(
    field: AnswerField, start: int, end: int, table: ShownTable, row: ShownRow
) -> str:
    """Return the name of the row that a figure of another row is told of, "" where that is not sure.

    `start` and `end` are the figure's place in the field. In a table of the answer it is told of the
    name of its row. In a sentence it is told of the one name between it and the figure before it, in
    the same clause; without one, of the only name in its clause, if the sentence does not name the
    figure's own row. Where the name of its own row is near, nothing is sure.
    """
    names = _names(table)
    own = {cell.strip() for cell in row.cells}.intersection(names)
    if field.kind is FieldKind.CELL:
        is_own = any(_places(name, f"{field.row} {field.column}") for name in own)
        return field.row if field.row.strip() in names and not is_own else ""
    sentence, at = _around(_SENTENCE, field.text, start)
    clause, first = _around(_CLAUSE, sentence, start - at)
    begin, stop = start - at - first, end - at - first
    spans = {name: spans for name in names if (spans := _places(name, clause))}
    digits = _digits(clause, spans.values(), begin, stop)
    since = max((place for place in digits if place < begin), default=-1)
    until = min((place for place in digits if place >= stop), default=len(clause))
    near = {name for name, places in spans.items() if any(since < p[0] < until for p in places)}
    if near & own:
        return ""
    before = {name for name in near if any(since < p[0] < begin for p in spans[name])}
    if not before and not any(_places(name, sentence) for name in own):
        before = {name for name, places in spans.items() if places[0][0] < begin}
    longest = [name for name in before if not any(name != one and name in one for one in before)]
    return longest[0] if len(longest) == 1 else ""


def _around(border: re.Pattern[str], text: str, at: int) -> tuple[str, int]:
    """Return the part of a text around a place, and where it begins."""
    first = max((match.end() for match in border.finditer(text) if match.end() <= at), default=0)
    match = border.search(text, at)
    return text[first : match.start() if match else len(text)], first


def _digits(
    text: str, names: Iterable[Sequence[tuple[int, int]]], start: int, end: int
) -> list[int]:
    """Return the places of digits outside of names and of the figure itself."""
    taken = {place for spans in names for span in spans for place in range(*span)}
    taken.update(range(start, end))
    return [
        place
        for place, character in enumerate(text)
        if character.isdecimal() and place not in taken
    ]


@lru_cache(maxsize=64)
def _names(table: ShownTable) -> frozenset[str]:
    """Return the texts by which sentences may name rows: of columns that hold words."""
    rows = table.rows[:_MOST_ROWS]
    columns = [
        number
        for number in range(len(table.columns))
        if any(_LETTER.search(row.cells[number]) for row in rows[:_MOST_SAMPLED])
    ]
    texts = {row.cells[number].strip() for row in rows for number in columns}
    return frozenset(filter(_is_name, texts))


def _is_name(text: str) -> bool:
    if not _LETTER.search(text) or len(text) > _LONGEST or text.casefold() in _TOTALS:
        return False
    is_lower = text.islower() and text.isascii()
    return len(text) >= (_SHORTEST_LOWER if is_lower else 2 if text.isascii() else 1)


def _places(name: str, text: str) -> list[tuple[int, int]]:
    """Return where a name stands as a whole word, perhaps with an ending."""
    places, at = [], text.find(name)
    while at >= 0:
        end = at + len(name)
        before = text[at - 1 : at]
        if not (name[0].isascii() and before.isalnum()) and (
            not name[-1].isascii() or _ENDING.match(text, end)
        ):
            places.append((at, end))
        at = text.find(name, end)
    return places
