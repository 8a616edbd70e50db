"""Names of rows: which row of a table a figure is told of, where an answer says so plainly."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from bot.library.tracing.cldr import Words, words_for
from bot.library.tracing.fields import AnswerField, FieldKind
from bot.library.tracing.outputs import ShownRow, ShownTable

_MOST_ROWS = 200
_LONGEST, _FEWEST_LETTERS = 60, 4
_LETTER = re.compile(r"[^\W\d_]")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DATE = re.compile(r"(\d{4})-(\d\d)(?:-\d\d)?(?: 00:00:00)?")
_MONTH = re.compile(r"month|monat|mois|mes|mês|月", re.IGNORECASE)
_ENDING = re.compile(r"(?:['’]?s|es|en|n)?(?![A-Za-z0-9_\u00c0-\u052f])")
_WITHIN = re.compile(r"[A-Za-z0-9_\u00c0-\u052f]{2}")
_BEHIND = re.compile(
    r"[^\w,;]{0,3}(?:[^\W\d]+\s+){0,2}"
    r"(?:in|im|of|for|at|on|en|em|dans|de|del|do|da|du|des|à|au|para|für|bei|von|vom|no|na|pour|por)\s+"
    r"(?:(?:the|der|die|das|dem|den|la|le|les|el|los|las|o|a|os|as|year|jahr|année|año|ano)\s+)?",
    re.IGNORECASE,
)
_AGAINST = re.compile(
    r"\b(?:than|unlike|against|versus|vs|compared|gegenüber|verglichen|vergleich|contre|contrairement|rapport"
    r"|frente|contra|diferencia|comparación|comparação|contrário)\b|より|対し|比べ|違い",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    rf"{_AGAINST.pattern}|から|以来"
    r"|\b(?:since|from|before|after|behind|above|below|like|als|anders|gegen|statt|seit|vor|nach|hinter"
    r"|über|unter|wie|qu[e’']|depuis|avant|après|derrière|comme|desde|antes|después|tras|como|depois|após)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^\W\d_a-zß-ÿ])|[。！？\n]+|;\s")
_CLAUSE = re.compile(r"[,，、]\s|，|、")
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


def misattributed_row(
    field: AnswerField,
    start: int,
    end: int,
    table: ShownTable,
    row: ShownRow,
    *,
    is_exact: bool = False,
    is_reference: bool = False,
) -> str:
    """Return the name of the row that a figure of another row is told of, "" where that is not sure.

    `start` and `end` are the figure's place in the field. In a table of the answer it is told of the
    name of its row. In a sentence it is told of the one name between it and the figure before it, in
    the same clause. Where the name of its own row is near, nothing is sure. A year or a month is a
    name only where the clause has no other figure.

    With `is_exact` the figure is this cell for certain. Then years and months always count, and it
    may be told of a name right behind it. That of a reference may be told of the only row that its
    sentence names before it. Words that compare leave both unsure.
    """
    sentence, at = _around(_SENTENCE, field.text, start)
    words = words_for(f"{field.row} {sentence}")
    names = _names_in(f"{field.row} {field.column} {sentence}", table, words)
    own = {name for name, rows in names.items() if row.number in rows}
    own |= {cell.strip() for cell in row.cells if _LETTER.search(cell) and len(cell.strip()) > 1}
    if field.kind is FieldKind.CELL:
        told_of = field.row.strip()
        is_own = any(_places(name, f"{field.row} {field.column}", folded=True) for name in own)
        return told_of if told_of in names and told_of not in own and not is_own else ""
    clause, first = _around(_CLAUSE, sentence, start - at)
    begin, stop = start - at - first, end - at - first
    spans = {name: places for name in names if (places := _places(name, clause))}
    digits = _digits(clause, spans.values(), begin, stop)
    if digits and not is_exact:
        weak = {name for name in spans if name.isdecimal() or name in words.months}
        spans = {name: places for name, places in spans.items() if name not in weak}
        digits = _digits(clause, spans.values(), begin, stop)
    since = max((place for place in digits if place < begin), default=-1)
    until = min((place for place in digits if place >= stop), default=len(clause))
    near = clause[since + 1 : until]
    if any(_places(name, near, folded=True) for name in own):
        return ""
    told = _named(spans, since, begin)
    if _AGAINST.search(clause[since + 1 : begin]):
        return ""
    if since >= 0:  # "4,239 in North to 3,659"
        told = {name for name in told if not _is_behind(clause, since + 1, spans[name])}
    if not told and is_exact:
        behind = _named(spans, stop, until)
        told = {name for name in behind if _is_behind(clause, stop, spans[name])}
    if not told and is_reference and not any(_places(name, sentence, folded=True) for name in own):
        before = sentence[: start - at]
        before_spans = {name: places for name in names if (places := _places(name, before))}
        others = _digits(before, before_spans.values(), len(before), len(before))
        if not others and not _COMPARED.search(before):
            told = set(before_spans)
    told -= own
    return max(told, key=len) if len({names[name] for name in told}) == 1 else ""


def _named(spans: Mapping[str, Sequence[tuple[int, int]]], start: int, end: int) -> set[str]:
    return {name for name, places in spans.items() if any(start <= p < end for p, _ in places)}


def _is_behind(text: str, end: int, places: Sequence[tuple[int, int]]) -> bool:
    """Return whether a name belongs to the figure that ends before it: "4,239 units in North"."""
    return any(place >= end and _BEHIND.fullmatch(text, end, place) for place, _ in places)


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


def _names_in(text: str, table: ShownTable, words: Words) -> dict[str, frozenset[int]]:
    """Return the names of rows that stand in a text, with the numbers of the rows."""
    names, said = _names(table, words), text.casefold()
    return {name: rows for name, rows in names.items() if name.casefold() in said}


@lru_cache(maxsize=64)
def _names(table: ShownTable, words: Words) -> dict[str, frozenset[int]]:
    """Return the texts by which sentences may name rows, and the numbers of the rows that each names.
    What may name rows of several values of a column is none."""
    names, rows = dict[str, frozenset[int]](), table.rows[:_MOST_ROWS]
    for column, title in enumerate(table.columns):
        cells = [row.cells[column].strip() for row in rows]
        if _are_figures(cells, title):
            continue
        values = defaultdict[str, set[int]](set)
        for row, cell in zip(rows, cells, strict=True):
            values[cell].add(row.number)
        meanings = dict[str, str | None]()  # None for several values
        for value in values:
            for name in _variants(value, title, words):
                meanings[name] = value if meanings.get(name, value) == value else None
        for name, meaning in meanings.items():
            if meaning is not None:
                names[name] = names.get(name, frozenset()) | values[meaning]
    return names


def _are_figures(cells: Sequence[str], title: str) -> bool:
    """Return whether the cells of a column are numbers that name nothing: no years and no months."""
    is_of_digits = "".join(cells).replace(".", "").isdecimal()
    return is_of_digits and not (_MONTH.search(title) or any(map(_YEAR.fullmatch, cells)))


def _variants(value: str, title: str, words: Words) -> list[str]:
    """Return what a cell may be called: itself, its beginning, its year or month, its country in the
    languages of the text."""
    if value.isdecimal():
        if _YEAR.fullmatch(value):
            return [value]
        return _months(int(value), words) if _MONTH.search(title) else []
    date = _DATE.fullmatch(value)
    names = [date[1], *_months(int(date[2]), words)] if date else []
    word = value.casefold()
    if not _LETTER.search(value) or len(value) > _LONGEST or word in _TOTALS:
        return names
    if len(value) >= (_FEWEST_LETTERS if value.islower() and value.isascii() else 2):
        names.append(value)
    parts = value.split()
    if len(parts) > 1 and parts[0].casefold() not in _TOTALS:
        if len(parts[0]) >= _FEWEST_LETTERS and parts[0][0].isupper():
            names.append(parts[0])
        if len(parts) > 2:
            names.append(" ".join(parts[:-1]))
    names += words.territories.get(word, ())
    return names


def _months(month: int, words: Words) -> list[str]:
    """Return the names of a month, but for short ones, which are words of other meanings too."""
    return [name for name, number in words.months.items() if number == month and len(name) > 3]


def _places(name: str, text: str, *, folded: bool = False) -> list[tuple[int, int]]:
    """Return where a name stands as a whole word, perhaps with an ending. Names in lower case, and
    those of several words, may be written with capitals and without; with `folded` all may."""
    if folded or name.islower() or " " in name:
        name, text = name.casefold(), text.casefold()
    places, at = [], text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _WITHIN.match(text[at - 1 : at] + name[0]) and (
            not name[-1].isascii() or _ENDING.match(text, end)
        ):
            places.append((at, end))
        at = text.find(name, end)
    return places
