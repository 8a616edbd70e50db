"""Names of rows: which row of a table a figure is told of, where an answer says so plainly."""

from __future__ import annotations

import re
from functools import lru_cache

from bot.library.tracing.fields import AnswerField, FieldKind
from bot.library.tracing.shown import ShownRow, ShownTable

_MOST_ROWS = 500
_LONGEST, _SHORTEST_LOWER = 60, 5
_CLAUSE = re.compile(r"[,;，、；]\s|\n")
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
    field: AnswerField, sentence: str, before: str, table: ShownTable, row: ShownRow
) -> str:
    """Return the name of the row that a figure of another row is told of, "" where that is not sure.

    In a table of the answer that is the name of its row. In a sentence it is the only name of a row
    since the figure before, in the same clause; a sentence that names the figure's own row too is
    never sure.
    """
    names = _names(table)
    own = {cell.strip() for cell in row.cells}
    if field.kind is FieldKind.CELL:
        is_own = any(_is_in(name, f"{field.row} {field.column}") for name in own if name in names)
        return field.row if field.row.strip() in names and not is_own else ""
    if any(_is_in(name, sentence) for name in own if name in names):
        return ""
    clause = _CLAUSE.split(before)[-1]
    told = [name for name in names if name not in own and _is_in(name, clause)]
    told = [name for name in told if not any(name != other and name in other for other in told)]
    return told[0] if len(told) == 1 else ""


@lru_cache(maxsize=64)
def _names(table: ShownTable) -> frozenset[str]:
    """Return the texts by which sentences may name rows."""
    return frozenset(
        name
        for row in table.rows[:_MOST_ROWS]
        for cell in row.cells
        if _is_name(name := cell.strip())
    )


def _is_name(text: str) -> bool:
    letters = [character for character in text if character.isalpha()]
    if not letters or len(text) > _LONGEST or text.casefold() in _TOTALS:
        return False
    is_lower = text.islower() and text.isascii()
    return len(text) >= (_SHORTEST_LOWER if is_lower else 2 if text.isascii() else 1)


def _is_in(name: str, text: str) -> bool:
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) :]
        is_whole = not (name[0].isascii() and before.isalnum()) and (
            not name[-1].isascii() or re.match(r"(?:['’]?s|es|en|n)?(?!\w)", after) is not None
        )
        if is_whole:
            return True
        at = text.find(name, at + 1)
    return False
