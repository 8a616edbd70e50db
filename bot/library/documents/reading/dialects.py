"""Dialects of delimited text: what separates cells, what quotes them, and what a quote in them has
before it."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, product

DELIMITERS = ",;\t|"
SAMPLE_ROWS = 1_000
_BACKSLASH = "\\"
_LONGEST_BLANK = 1_000
_NAMES = {"\t": "tab"}


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a text is cut into cells. Without a `quote`, quotes are letters like others. `escape` is a
    backslash that stands before quotes in quotes, or "". With `skips_blanks`, blanks around a cell are
    no part of it."""

    delimiter: str = ","
    quote: str = '"'
    escape: str = ""
    skips_blanks: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether quotes are doubled in quotes, or there are none."""
        return self.quote in {'"', ""} and not self.escape and not self.skips_blanks

    def rows(self, text: str, *, strict: bool = False) -> Iterator[tuple[int, list[str] | None]]:
        """Yield each row with the line on which it ends; if `strict`, None for a row that breaks the
        rules of quotes."""
        reader = csv.reader(
            self._lines(text),
            delimiter=self.delimiter,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            escapechar=self.escape or None,
            skipinitialspace=self.skips_blanks,
            strict=strict,
        )
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error:
                if not strict:
                    raise
                yield reader.line_num, None
            else:
                yield reader.line_num, [c.rstrip(" ") for c in row] if self.skips_blanks else row

    def notes(self) -> list[str]:
        """Name what is unlike a comma and double quotes."""
        parts = []
        if self.delimiter != ",":
            parts.append(f"Delimiter: {_NAMES.get(self.delimiter, self.delimiter)}.")
        if self.quote == "'":
            parts.append("Cells are in single quotes.")
        if self.escape:
            parts.append("A backslash is before quotes in cells.")
        return parts

    def _lines(self, text: str) -> Iterator[str]:
        if not self.escape:
            return lines_of(text)
        special = f"{_BACKSLASH}{self.quote}{self.delimiter}\n"
        pairs = re.compile(rf"\\([{re.escape(special)}]|\Z)")
        if _BACKSLASH not in pairs.sub("", text):
            return lines_of(text)
        # Other letters have a backslash before them, so only quotes are escaped: C:\temp stays.
        literal = re.compile(rf"\\(?!{re.escape(self.quote or self.delimiter)})")
        return (literal.sub(r"\\\\", line) for line in lines_of(text))


def lines_of(text: str) -> Iterator[str]:
    """Yield the lines of a text; a list of them, or a StringIO, would take four times its size."""
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end


@dataclass(frozen=True, slots=True)
class _Reading:
    """What comes of a dialect. `header` is 2 where the first row has the usual width of the rows, and
    1 where it lacks one name; the others are shares of the lines: in rows of that width whose cells
    have no quotes around them, in rows without single quotes around a cell, and in rows that keep to
    the rules of quotes."""

    width: int = 0
    header: int = 0
    even: float = 0.0
    unwrapped: float = 0.0
    regular: float = 0.0
    has_blanks: bool = False
    rows: int = 0

    @property
    def quality(self) -> tuple[int, float, float, float]:
        return (self.header, self.even, self.unwrapped, self.regular)

    @property
    def is_perfect(self) -> bool:
        return self.quality == (2, 1.0, 1.0, 1.0)


def choose_dialect(text: str) -> tuple[Dialect, int]:
    """Return the dialect in which most rows are as wide as the header and keep to the rules of quotes.
    Of those that do so alike it is the plainest. Where all rows do, return also how many they are."""
    readings: list[tuple[tuple[bool, int, float, int], Dialect, _Reading]] = []
    for delimiter in DELIMITERS:
        dialect, reading = _best(text, _variants(text, delimiter), SAMPLE_ROWS)
        key = (reading.width > 1, reading.header, reading.even, reading.width)
        readings.append((key, dialect, reading))
    _, dialect, reading = max(readings, key=lambda each: each[0])
    if reading.width < 2:
        return Dialect(), 0
    variants = _variants(text, dialect.delimiter)
    if len(variants) > 1 and text.count("\n") > SAMPLE_ROWS:
        dialect, reading = _best(text, variants, None)
    if reading.has_blanks:
        dialect = replace(dialect, skips_blanks=True)
    return dialect, reading.rows if reading.is_perfect else 0


def _best(text: str, variants: list[Dialect], most: int | None) -> tuple[Dialect, _Reading]:
    best, reading = variants[0], _Reading()
    for at, dialect in enumerate(variants):
        # Doubled quotes leave quotes around cells only where the text has a sign of another dialect.
        is_usual = dialect == variants[0] and not any(variant.quote == "'" for variant in variants)
        looks_for_quotes = not is_usual or len(variants) > 2
        found = _read(text, dialect, most, looks_for_quotes=looks_for_quotes)
        if at == 0 or found.quality > reading.quality:
            best, reading = dialect, found
        if reading.is_perfect:
            break
    return best, reading


def _variants(text: str, delimiter: str) -> list[Dialect]:
    """Return the dialects of which the text has a sign, the plainest first."""
    begin = text[:_LONGEST_BLANK].lstrip(" ")
    quotes = ['"']
    if "'" in text and (begin[:1] == "'" or re.search(rf"[\n{delimiter}] *'", text)):
        quotes.append("'")
    if '"' in text:
        quotes.append("")
    blanks = [False]
    if (begin[:1] in {'"', "'"} and text[0] == " ") or (
        any(f" {quote}" in text for quote in "'\"") and re.search(rf"[\n{delimiter}] +[\"']", text)
    ):
        blanks.append(True)
    escapes = [""]
    if any(f"{_BACKSLASH}{character}" in text for character in f"'\"{delimiter}"):
        escapes.append(_BACKSLASH)
    return [Dialect(delimiter, *variant) for variant in product(quotes, escapes, blanks)]


def _read(text: str, dialect: Dialect, most: int | None, *, looks_for_quotes: bool) -> _Reading:
    """Read the text, or its first rows, and count lines."""
    if most is None and not looks_for_quotes and (rows := _even_rows(text, dialect)):
        return rows
    reading = _count(text, dialect, most, strict=True, looks_for_quotes=looks_for_quotes)
    if reading.regular == 1:
        return reading
    try:
        loose = _count(text, dialect, most, strict=False, looks_for_quotes=looks_for_quotes)
    except csv.Error:  # a cell is too large
        return _Reading()
    return replace(loose, regular=reading.regular)


def _even_rows(text: str, dialect: Dialect) -> _Reading | None:
    """Return a perfect reading where all rows have one width; this takes half the time of a count."""
    widths = Counter(-1 if row is None else len(row) for _, row in dialect.rows(text, strict=True))
    del widths[0]
    if len(widths) != 1 or -1 in widths:
        return None
    [(width, rows)] = widths.items()
    return _Reading(width, 2, 1.0, 1.0, 1.0, rows=rows)


def _count(
    text: str, dialect: Dialect, most: int | None, *, strict: bool, looks_for_quotes: bool
) -> _Reading:
    widths: Counter[int] = Counter()
    even: Counter[int] = Counter()
    wrapped = broken = line = first = rows = 0
    has_blanks = f"{dialect.delimiter} " in text and not dialect.skips_blanks
    for end, row in islice(dialect.rows(text, strict=strict), most):
        lines, line = end - line, end
        if row is None:
            broken += lines
        elif row:
            width = len(row)
            quote = _quote_around(row) if looks_for_quotes else ""
            if not widths and not quote:
                first = width
            widths[width] += lines
            rows += 1
            wrapped += lines * (quote == "'")
            even[width] += lines * (quote != '"')
            has_blanks = has_blanks and all(cell[:1] in {"", " "} for cell in row[1:])
    if not widths:
        return _Reading(regular=1 - broken / max(line, 1))
    usual = max(widths, key=lambda width: (widths[width], width))
    total = widths.total()
    return _Reading(
        usual,
        2 if first == usual else int(first == usual - 1 > 1),
        even[usual] / total,
        1 - wrapped / total,
        1 - broken / line,
        has_blanks and usual > 1,
        rows,
    )


def _quote_around(row: list[str]) -> str:
    """Return the quote that is around a cell of the row, or double quotes around some; "" without one."""
    quote, is_open = "", False
    for cell in row:
        bare = cell.strip(" ")
        is_open = is_open or bare[:1] == '"'
        if is_open and bare[-1:] == '"' and bare != '"':
            return '"'
        if len(bare) > 1 and bare[0] == bare[-1] == "'":
            quote = "'"
    return quote
