"""Cells as we read them beside the same cells as others do."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from enum import Enum
from itertools import zip_longest
from typing import Any

from tests.values.others import Rows
from tests.values.reading import Table

_MISSING = {
    "n/a", "#n/a", "n.a.", "na", "nan", "-nan", "<na>", "null", "none", "nil", "missing",
    "-", "--", "–", "—", ".", "..", "...", "…", "?", "\\n", "(null)", "(blank)", "#null!",
}  # fmt: skip
_ORDERS = (("%d", "%m"), ("%m", "%d"))


class Match(Enum):
    SAME = "same"
    READ = "read"  # one of the ways to read it, of which a note must tell
    FILLED = "filled"  # the value of a merged cell, of which a note must tell
    WRONG = "wrong"


@dataclass(frozen=True)
class Difference:
    """`column` is "" for what is about the table; `is_told`: our notes name it."""

    column: str
    what: str
    is_told: bool = False


def compare(ours: Table, rows: Rows) -> Iterator[Difference]:
    """Yield what differs between our table and the rows of another reader."""
    told = "\n".join(ours.notes)
    rows = [row for row in rows if any(not _is_blank(cell) for cell in row)]
    above = re.search(r"(\d+) line\(s\) above the header", told)
    added = [name for name in ours.names if _holds_seconds(name, told)]
    if added:
        yield Difference("", f"{len(added)} columns with durations in seconds", is_told=True)
        rest = [at for at, name in enumerate(ours.names) if name not in added]
        names, columns = [ours.names[at] for at in rest], [ours.columns[at] for at in rest]
        ours = Table(ours.name, names, columns, ours.notes)
    if "Cells are in single quotes." in told:
        rows = [
            [cell.strip("'") if isinstance(cell, str) else cell for cell in row] for row in rows
        ]
        yield Difference("", "single quotes are around cells", is_told=True)
    if "one name fewer" in told:  # as R writes them: row numbers have no name
        rows[0] = [None, *rows[0]]
        yield Difference("", "one name is missing", is_told=True)
    if joined := re.search(r"(\d+) rows up to line \d+ were read as one header", told):
        first = int(above[1]) if above else 0
        rows[first : first + int(joined[1])] = [ours.names]
        yield Difference("", "the header is several rows", is_told=True)
    if ours.names[-1:] == ["extra"] and "the surplus is in column extra" in told:
        last = len(ours.names) - 1
        rows = [[*row[:last], ", ".join(map(str, row[last:])) or None] for row in rows]
    at = _header(ours.names, rows)
    if at is None:
        at = int(above[1]) - 1 if above else -1
        yield Difference("", "no row has our names", "no header row" in told)
    elif at:
        yield Difference("", f"the header is row {at + 1}", bool(above))
    body = rows[at + 1 :]
    if len(body) == ours.rows + 1 and "total and was left out" in told:
        body = body[:-1]
    if len(body) != ours.rows:
        yield Difference("", f"{ours.rows} rows, {len(body)} in the other")
        return
    width = max(map(len, rows), default=0)
    if width != len(ours.names):
        yield Difference("", f"{len(ours.names)} columns, {width} in the other", "were odd" in told)
    theirs = list(zip_longest(*body))
    for name, mine, other in zip(ours.names, ours.columns, theirs, strict=False):
        yield from _of_column(name, mine, other, told)


def _holds_seconds(name: str, told: str) -> bool:
    """Whether ours added the column, and says so."""
    said = told.partition("Durations are text as the file shows them, and numbers in: ")[2]
    return name.endswith(" seconds") and name in said


def compare_profiles(
    ours: Table, profile: Mapping[str, tuple[int, str, float]]
) -> Iterator[Difference]:
    """Yield where counts, types or sums of columns are others than pandas has them."""
    told = "\n".join(ours.notes)
    for name, cells in zip(ours.names, ours.columns, strict=True):
        if name not in profile:
            continue
        count, kind, total = profile[name]
        filled = [each for each in cells if each is not None]
        if len(filled) != count:
            what = f"{len(filled)} values, {count} in pandas"
            yield Difference(name, what, _is_named(name, told))
        elif kind[:3] in {"int", "flo"}:
            if not all(isinstance(each, int | float | Decimal) for each in filled):
                odd = (each for each in filled if re.search(r"^0\d|[^\d.+-]", str(each)))
                what = f"{next(odd, filled[0])!r} is text, {kind} in pandas"
                yield Difference(name, what, _is_named(name, told))
            elif not math.isclose(math.fsum(filled), total, rel_tol=1e-9, abs_tol=1e-9):
                yield Difference(name, f"the sum is {math.fsum(filled)}, {total} in pandas")


def compare_texts(ours: str, theirs: str, *, is_page: bool = False) -> Iterator[Difference]:
    """Yield letters and numbers of another reader's text that are not in ours; of a web page letters
    of different words: a heading may be said once for the line that begins with it."""
    mine, other = (unicodedata.normalize("NFKC", each).casefold() for each in (ours, theirs))
    letters, kept = (
        Counter(filter(str.isalnum, "".join(set(each.split())) if is_page else each))
        for each in (other, mine)
    )
    lost = letters - kept
    if lost.total() > 0.02 * letters.total():
        share = lost.total() / letters.total()
        yield Difference("", f"{share:.0%} of {letters.total()} letters are missing")
    mine = "".join(mine.split())
    numbers = set(re.findall(r"\d[\d.,]*\d", other))
    if gone := sorted(each for each in numbers if each not in mine):
        yield Difference("", f"{len(gone)} of {len(numbers)} numbers are missing: {gone[:5]}")


def compare_rows(ours: str, rows: list[list[str]]) -> Iterator[Difference]:
    """Yield rows of a web page's tables of which no line of our text has all cells, in their order:
    our lines also have the cells that go on from the rows above."""
    links = re.compile(r"\]\([^)\s]*\)")
    lines = {_cells(links.sub("", line).split("|")) for line in ours.splitlines()}
    lost = [
        row
        for row in rows
        if (cells := _cells(row)) not in lines and not any(_has(line, cells) for line in lines)
    ]
    if lost:
        yield Difference("", f"{len(lost)} of {len(rows)} rows are in no line: {lost[0]}")


def _has(line: tuple[str, ...], cells: tuple[str, ...]) -> bool:
    """Whether the cells are in the line, in their order."""
    rest = iter(line)
    return all(cell in rest for cell in cells)


def compare_json(ours: str, theirs: Any) -> Iterator[Difference]:
    """Yield a difference where our text says another thing than the file."""
    if json.loads(ours) != theirs:
        yield Difference("", "the values are others")


def _cells(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the words of each cell, without blank ones."""
    plain = (unicodedata.normalize("NFKC", each).casefold() for each in texts)
    found = (" ".join(re.findall(r"[^\W_]+", each)) for each in plain)
    return tuple(filter(None, found))


def _header(names: list[str], rows: Rows) -> int | None:
    """Which row has the names; None where they are ours."""
    for at, row in enumerate(rows[:30]):
        if sum(_names(a, b) for a, b in zip(names, row, strict=False)) * 2 > len(names):
            return at
    return None


def _names(name: str, cell: Any) -> bool:
    text = " ".join(_text(cell).split())
    return name == text[:200] or bool(text and re.fullmatch(re.escape(text) + r"_\d+", name))


def _of_column(name: str, ours: list[Any], theirs: Any, told: str) -> Iterator[Difference]:
    found: dict[Match, list[str]] = {Match.READ: [], Match.FILLED: [], Match.WRONG: []}
    for line, (mine, other) in enumerate(zip(ours, theirs, strict=True), start=1):
        match = matched(mine, other)
        if match is not Match.SAME:
            found[match].append(f"{other!r} is {mine!r} in row {line}")
    for match, examples in found.items():
        if examples:
            what = f"{match.value}: {len(examples)} cells, {examples[0]}"
            yield Difference(name, what, _is_told(match, name, told))


def _is_told(match: Match, name: str, told: str) -> bool:
    if match is Match.FILLED:
        merged = "\n".join(re.findall("^Merged cells, .*$", told, re.MULTILINE))
        return _is_named(name, merged)
    return match is Match.READ and _is_named(name, told)


def _is_named(name: str, told: str) -> bool:
    return f"{name} (" in told or bool(re.search(r"and \d+ more", told))


def matched(ours: Any, theirs: Any) -> Match:
    """Judge our reading of a cell by what another has: its text, or a typed value."""
    if theirs == "" and ours is not None:
        return Match.FILLED
    if isinstance(theirs, str):
        return _of_text(ours, theirs.strip())
    if isinstance(theirs, list | dict):
        return _either((json.loads(ours) if isinstance(ours, str) else ours) == theirs)
    if isinstance(theirs, float) and math.isnan(theirs):
        return Match.READ if ours is None else Match.WRONG
    if isinstance(theirs, int | float | Decimal) and isinstance(ours, int | float | Decimal):
        if math.isclose(ours, theirs, rel_tol=1e-14):
            return Match.SAME
        return Match.READ if math.isclose(ours, theirs * 100, rel_tol=1e-11) else Match.WRONG
    if isinstance(theirs, date) and isinstance(ours, date):
        return _either(abs(_moment(ours) - _moment(theirs)) < timedelta(seconds=1))
    if isinstance(ours, str) and theirs is not None:
        return Match.SAME if _text(theirs) == ours else Match.READ
    return _either(ours == theirs or _text(ours) == _text(theirs))


def _either(is_same: bool) -> Match:
    return Match.SAME if is_same else Match.WRONG


def _of_text(ours: Any, text: str) -> Match:
    if ours is None:
        if not text:
            return Match.SAME
        return Match.READ if text.casefold() in _MISSING else Match.WRONG
    if isinstance(ours, bool):
        return _either(text.casefold() == str(ours).casefold())
    if isinstance(ours, int | float | Decimal):
        plain = _number(text)
        if plain is not None and _is_close(ours, plain):
            return Match.SAME
        return Match.READ if any(_is_close(ours, each) for each in _written(text)) else Match.WRONG
    if isinstance(ours, datetime | date | time):
        return _of_day(ours, text)
    if " ".join(str(ours).split()) == " ".join(text.split()):
        return Match.SAME
    months = re.fullmatch(r"(\d{4})-(\d\d)", str(ours))
    return (
        Match.READ
        if months and sorted(_digits(text).zfill(6)) == sorted(_digits(str(ours)))
        else Match.WRONG
    )


def _moment(day: date) -> datetime:
    return day.replace(tzinfo=None) if isinstance(day, datetime) else datetime.combine(day, time())


def _of_day(ours: Any, text: str) -> Match:
    for kind in (datetime, date, time):
        try:
            if kind.fromisoformat(text) == ours:
                return Match.SAME
        except (ValueError, TypeError):
            continue
    if isinstance(ours, time):
        return _either(_digits(text).zfill(6).startswith(_digits(f"{ours:%H%M}")))
    if isinstance(ours, datetime) and (plain := re.sub(r"([ T])(\d:)", r"\g<1>0\2", text)) != text:
        return _of_day(ours, plain)
    if isinstance(ours, datetime) and ours.tzinfo is not None:
        return _either(datetime.fromisoformat(text) == ours)
    for first, second in _ORDERS:
        for form in (f"{first}.{second}.%Y", f"%Y.{first}.{second}"):
            parsed = _parsed(re.sub(r"[-/]", ".", text), form)
            if parsed == _moment(ours):
                return Match.READ
    return Match.WRONG


def _parsed(text: str, form: str) -> datetime | None:
    for clock in ("", " %H:%M", " %H:%M:%S", "T%H:%M", "T%H:%M:%S"):
        try:
            return datetime.strptime(text, form + clock)  # noqa: DTZ007 - files have no zones
        except ValueError:
            continue
    return None


def _number(text: str) -> Decimal | None:
    try:
        return Decimal(text) if text.isascii() and "_" not in text else None
    except InvalidOperation:
        return None


def _written(text: str) -> Iterator[Decimal]:
    """All numbers that a text with a currency, brackets, a decimal comma or thousands may be."""
    sign = "-" if re.match(r"\D*[-−(]", text) else ""
    digits = re.sub(r"[^\d.,]", "", text)
    for mark in ".,":
        whole, _, fraction = digits.partition(mark) if digits.count(mark) == 1 else (digits, "", "")
        read = _number(f"{sign}{re.sub(r'[.,]', '', whole)}.{fraction or 0}")
        if read is not None and not re.search(r"\D", fraction):
            yield read


def _is_close(ours: Any, number: Decimal) -> bool:
    """Whether it is the number, to the last digit that floating point keeps of it."""
    if isinstance(ours, float):
        return ours == float(number)
    return bool(ours == number)


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _is_blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
