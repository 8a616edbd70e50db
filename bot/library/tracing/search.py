"""Search: where a claim stands in one output. Nothing of an output is prepared before it is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from itertools import accumulate, islice
from urllib.parse import quote

from pydantic_core import SchemaValidator, core_schema

from bot.library.tracing.cldr import plain
from bot.library.tracing.constants import literals_in, worked_out_in
from bot.library.tracing.dates import Clock, Day, clocks_in, dates_in, is_same_date
from bot.library.tracing.findings import Place
from bot.library.tracing.numerals import Number, Reading, is_same, numbers_in
from bot.library.tracing.outputs import Cell, Counts, Output, ShownRow, ShownTable
from bot.library.tracing.quotes import FoldedText, folded
from bot.library.tracing.writing import value_of

_MOST_CANDIDATES = 200  # places of one output that begin with the digits of a figure
_BEFORE, _AFTER = 24, 40  # characters around a candidate
_PREFIX = 4  # digits by which candidates are found
_DIGITS = re.compile(r"\d(?:[\d.,'\xa0 ]*\d)?")
_PHONE = re.compile(r"(?<!\d)[+(]?\d[\d \xa0()/.-]{6,22}\d(?!\d)")
_FEWEST_PHONE_DIGITS = 6
_MARK = re.compile(
    r"^(?:\[page (?P<page>\d+)(?: of \d+)?\]"
    r"|(?:\d{1,4} )?(?P<message>\[\d{4}-\d\d-\d\d \d\d:\d\d\] [^:\n]{1,80}):"
    r"|\d{1,3}\. (?P<result>[^\n]{1,300}?) — (?P<address>https?://\S+)$)"
    r"|(?:^|· )source: (?P<source>[^<\n]{1,300}?)(?: <(?P<url>[^>\n]{1,2000})>)?$",
    re.MULTILINE,
)
_ALONE_BEFORE = re.compile(r"[\n\t|(:;=]|\Z")
_ALONE_AFTER = re.compile(r"[\n\t|);]|[,.](?!\d)|\Z")
_EXPRESSION = re.compile(r"^expression: ([^\n]{1,300})$", re.MULTILINE)
_RUN = re.compile(r"\d[\d.,'\xa0 ]*")
_NO_DIGIT = re.compile(r"\D+")
_GLUED = re.compile(r",(?=\S)")  # of cells
_LINK = re.compile(r"\(link: (https?://[^\s)]+)\)")
_BEGINS_MARK = frozenset("[0123456789")
_USUAL = re.compile("[\x00-\x7f·×–—…“”„‘äöüÄÖÜßéèêàçñóíáúãõ€]*+")
"""Text without digits, signs or spaces in another form than the usual."""
_EXCERPT, _LINES_OF_A_MESSAGE, _FRAGMENT_WORDS = 160, 40, 8
_MOST_LINES_BACK = 400  # in which a page or a source is looked for
_LONGEST_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Hit:
    """A number that was read: its value, and its cell where it stands in a table that was shown."""

    searched: Searched
    start: int
    end: int
    value: Decimal
    cell: Cell | None = None
    table: ShownTable | None = None
    row: ShownRow | None = None

    @property
    def place(self) -> Place:
        return self.searched.place(self.start, self.end, self.cell)


@dataclass
class Wanted:
    """A figure that is looked for, with what it is looked for by."""

    number: Number

    @cached_property
    def spellings(self) -> list[str]:
        """How the answer writes the digits, and how tools do."""
        as_answered = _DIGITS.search(self.number.text)
        spellings = [as_answered[0]] if as_answered else []
        for reading in self.number.readings:
            whole = f"{abs(reading.value):f}"
            spellings += [whole, f"{abs(reading.value):,f}"]
            if "." in whole:
                spellings.append(whole.rstrip("0").rstrip("."))
        return list(dict.fromkeys(spellings))

    @cached_property
    def wholes(self) -> list[str]:
        """The digits in each of its meanings, without the decimal mark."""
        return [str(int(abs(reading.value) / reading.step)) for reading in self.number.readings]

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of what begins with the first digits, or of one that is rounded to it, wherever
        the decimal mark is."""
        choices, is_about = dict[str, None](), self.number.is_about
        for whole in self.wholes:
            short = whole.rstrip("0") or "0"
            choices[_spaced(whole[:_PREFIX])] = None
            if len(short) < min(len(whole), _PREFIX):
                choices[_spaced(short) + ("" if is_about else r"(?!\d)")] = None
            for rounded in {int(whole), int(short)} if is_about else {int(whole)}:
                below = str(max(rounded - 1, 0))
                is_long = len(below) >= _PREFIX
                choices[_spaced(below[:_PREFIX]) + ("" if is_long else r"\W?[5-9]")] = None
        return re.compile("|".join(choices))


class Searched:
    """An output in which claims are looked for; `behind` made what its call used."""

    def __init__(self, output: Output, behind: Sequence[Searched] = ()) -> None:
        self.output, self._behind = output, behind

    @cached_property
    def plain(self) -> str:
        """The text with ASCII digits, signs and spaces."""
        return self._plain[0]

    @cached_property
    def _plain(self) -> tuple[str, list[int] | None]:
        text = self.output.text
        return (text, None) if _USUAL.fullmatch(text) else plain(text)

    def _origin(self, at: int) -> int:
        """Return the offset in the text of an offset in the plain text."""
        offsets = self._plain[1]
        return offsets[at] if offsets else at

    @cached_property
    def folded(self) -> FoldedText:
        return FoldedText.of(self.output.text)

    @cached_property
    def arguments(self) -> str:
        """The folded arguments of the call: what stands in them is no evidence."""
        return folded(self.output.arguments)

    @cached_property
    def literals(self) -> frozenset[Decimal]:
        """The numbers in the arguments of the call."""
        return literals_in(self.output.arguments)

    @cached_property
    def constants(self) -> frozenset[Decimal]:
        """The literals of the call and of those that made what it used; of a call that reads also
        what arithmetic with them gives."""
        own = self.literals
        if self.output.counts is not Counts.CALCULATED:
            own |= worked_out_in(self.output.arguments)
        return own.union(*(searched.constants for searched in self._behind))

    @property
    def formula(self) -> str:
        """What a calculation calculated, "" if its output does not say."""
        said = _EXPRESSION.search(self.output.text)
        figure = self.output.figure
        return f"{said[1]} = {figure.text}" if said and figure else ""

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *accumulate(len(line) + 1 for line in self.output.lines)]

    def _line_at(self, at: int) -> int:
        return self.output.text.count("\n", 0, at) + 1

    def numbers(self, wanted: Wanted, *, is_spelled: bool) -> Iterator[Hit]:
        """Yield where a figure stands, but not as a literal of the call: in one of its spellings, or
        in each notation, and where it is rounded from."""
        claim, seen = wanted.number, set[int]()
        places = self._spelled(wanted.spellings) if is_spelled else self._beginning(wanted.pattern)
        for start, digits in islice(places, _MOST_CANDIDATES):
            line = self._line_at(self._origin(start))
            if line in seen:
                continue
            if row := self._row_on(line):
                seen.add(line)
                hit = self._cell_of(*row, claim, digits)
            elif is_spelled and self._stands_alone(start, start + len(digits)):
                begin, end = self._origin(start), self._origin(start + len(digits))
                hit = Hit(self, begin, end, claim.value)
            elif _may_be(wanted.wholes, self.plain[start : start + _BEFORE]):
                hit = self._number_at(start, claim)
            else:
                continue
            if hit and abs(hit.value) not in self.constants:
                yield hit

    def _spelled(self, spellings: Sequence[str]) -> Iterator[tuple[int, str]]:
        for spelling in spellings:
            at = self.plain.find(spelling)
            while at >= 0:
                yield at, spelling
                at = self.plain.find(spelling, at + len(spelling))

    def _beginning(self, pattern: re.Pattern[str]) -> Iterator[tuple[int, str]]:
        return ((match.start(), match[0]) for match in pattern.finditer(self.plain))

    def has(self, value: Decimal) -> bool:
        """Return whether a number stands here, exactly."""
        wanted = Wanted(_number(value))
        return any(hit for how in (True, False) for hit in self.numbers(wanted, is_spelled=how))

    def _row_on(self, line: int) -> tuple[ShownTable, ShownRow] | None:
        """Return the row that a line belongs to, None outside of tables."""
        for table in self.output.tables:
            if row := table.row_on(line):
                return table, row
        return None

    def _cell_of(self, table: ShownTable, row: ShownRow, claim: Number, digits: str) -> Hit | None:
        """Return the cell of a row that holds a figure, which begins with `digits`."""
        for column, text in enumerate(row.cells):
            if digits not in text and text.isascii():
                continue
            value = value_of(text)
            read = numbers_in(text, decimal_mark=".") if value is None else [_number(value)]
            for one in read:
                if is_same(claim, one):
                    start = max(0, self.output.text.find(text, self._starts[row.line - 1]))
                    cell = table.cell(row, column)
                    return Hit(self, start, start + len(text), one.value, cell, table, row)
        return None

    def _stands_alone(self, start: int, end: int) -> bool:
        """Return whether nothing before or after digits can belong to their number."""
        return bool(
            _ALONE_BEFORE.match(self.plain[start - 1 : start])
            and _ALONE_AFTER.match(self.plain[end : end + 2])
        )

    def _number_at(self, at: int, claim: Number) -> Hit | None:
        """Return the number around a place of the plain text if it is the figure."""
        start = max(self.plain.rfind("\n", 0, at) + 1, at - _BEFORE)
        while start < at and self.plain[start - 1 : start].isalnum():
            start += 1  # begin with a whole word
        end = self.plain.find("\n", at, at + _AFTER)
        window = self.plain[start : end if end >= 0 else at + _AFTER]
        for one in numbers_in(window):
            if one.start <= at - start < one.end:
                if not is_same(claim, one):
                    return None
                begin, last = (self._origin(start + place) for place in (one.start, one.end))
                return Hit(self, begin, last, one.value)
        return None

    def moment(self, moment: Day | Clock) -> Place | None:
        """Return where a date or a time of day stands."""
        pattern, seen = _moment_pattern(moment), set[int]()
        for match in islice(pattern.finditer(self.plain), _MOST_CANDIDATES):
            start, end = self._origin(match.start()), self._origin(match.end())
            if place := self._row_on(self._line_at(start)):
                table, row = place
                cells = () if row.line in seen else row.cells
                seen.add(row.line)
                for column, text in enumerate(cells):
                    if pattern.search(plain(text)[0]) and _holds(text, moment):
                        return self.cell_place(table.cell(row, column))
                continue
            begin = max(self.plain.rfind("\n", 0, match.start()) + 1, match.start() - _BEFORE)
            window = self.plain[begin : match.end() + _BEFORE].partition("\n")[0]
            if _holds(_GLUED.sub(", ", window), moment):
                return self.place(start, end)
        return None

    def phone(self, digits: str) -> Place | None:
        """Return where a telephone number stands, with or without the code of its country."""
        for match in islice(_PHONE.finditer(self.plain), _MOST_CANDIDATES):
            known = re.sub(r"\D", "", match[0]).lstrip("0")
            if min(len(known), len(digits)) >= _FEWEST_PHONE_DIGITS and (
                known.endswith(digits) or digits.endswith(known)
            ):
                return self.place(self._origin(match.start()), self._origin(match.end()))
        return None

    def row(self, cell: Cell) -> tuple[ShownTable, ShownRow] | None:
        """Return the table and the row of a cell; None for a single figure."""
        return self._row_on(cell.line) if cell.column else None

    def cell_place(self, cell: Cell) -> Place:
        """Return the place of a cell."""
        start = self._starts[cell.line - 1]
        at = max(start, self.output.text.find(cell.text, start))
        return self.place(at, at + len(cell.text), cell)

    def words(self, text: str) -> Place | None:
        """Return where an id or a code stands as a whole word, but for the arguments of the call."""
        wanted = folded(text)
        if wanted in self.arguments:
            return None
        pattern = re.compile(rf"(?<![a-z0-9]){re.escape(wanted)}(?![a-z0-9])")
        match = pattern.search(self.folded.text)
        return self.place_on_line(self.folded.line_at(match.start()), text) if match else None

    def has_series(self, prefix: str, digits: int) -> bool:
        """Return whether ids of a series stand here, such as RB-58 of RB- and two digits."""
        pattern = rf"(?<![a-z0-9]){re.escape(prefix.casefold())}\d{{{digits}}}(?!\d)"
        return re.search(pattern, self.folded.text) is not None

    def place(self, start: int, end: int, cell: Cell | None = None) -> Place:
        """Return the place of some characters; in a table with row and column."""
        line, text = self._line_at(start), self.output.text[start:end]
        if cell is None:
            return self.place_on_line(line, text)
        head = next((table.line for table in self.output.tables if table.row_on(line)), line)
        return self._place(line, text, head, cell)

    def place_on_line(self, line: int, text: str) -> Place:
        """Return the place of words on a line, from 1."""
        return self._place(line, text, line, None)

    def _place(self, line: int, text: str, marked: int, cell: Cell | None) -> Place:
        """Return a place; its page and source are those that are marked last up to a line."""
        output, written = self.output, self._line(line)
        page, source, url = self._marks(marked)
        if not source and len(output.sources) == 1:
            source, url = output.sources[0].title, output.sources[0].url
        return Place(
            call_id=output.call_id,
            tool=output.tool,
            source=source[:200],
            url=url,
            link=self._link(line, url),
            handle=cell.handle if cell else next(iter((*output.made, *output.used)), ""),
            line=line,
            row=cell.key[:80] if cell else "",
            column=cell.column[:80] if cell else "",
            page=page,
            text=(cell.text if cell else text)[:80],
            excerpt=_excerpt(written, text),
        )

    def _line(self, number: int) -> str:
        return self.output.lines[number - 1][:_LONGEST_LINE]

    def _marks(self, line: int) -> tuple[str, str, str]:
        """Return the page, and title and address of the source, that a line belongs to; "" for what
        is not marked on the lines before it."""
        page = ""
        for number in range(line, max(0, line - _MOST_LINES_BACK), -1):
            written = self._line(number)
            if written[:1] not in _BEGINS_MARK and "source: " not in written:
                continue
            if mark := _MARK.search(written):
                if not mark["page"]:
                    title = mark["message"] or mark["result"] or mark["source"]
                    return page, title.strip(), mark["address"] or mark["url"] or ""
                page = page or mark["page"]
        return page, "", ""

    def _link(self, line: int, url: str) -> str:
        """Return the link at the end of a message, or the address of the words on a page."""
        if self.output.link:
            return self.output.link
        if (messages := self.output.messages) and (row := messages.row_on(line)):
            return row.cells[-1]
        if "(link: " in self.output.text:
            for number in range(line, min(line + _LINES_OF_A_MESSAGE, len(self.output.lines) + 1)):
                written = self._line(number)
                if number > line and _MARK.match(written):
                    break
                if link := _LINK.search(written):
                    return link[1]
        words = self._line(line).split()[:_FRAGMENT_WORDS]
        if not url.startswith("http") or "slack" in url or not words:
            return ""
        return f"{url.partition('#')[0]}#:~:text={quote(' '.join(words), safe='')}"


def holding(spellings: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that says whether a text holds one of some spellings. It looks at each character
    once, however many they are: pydantic checks patterns with Rust's regex."""
    pattern = "|".join(map(re.escape, spellings))
    holds = SchemaValidator(core_schema.str_schema(pattern=pattern, regex_engine="rust-regex"))
    return lambda text: holds.isinstance_python(text.encode(errors="replace"))


def _number(value: Decimal) -> Number:
    """Return a number as tools write it."""
    step = Decimal(1).scaleb(min(0, int(value.as_tuple().exponent)))
    return Number(0, 0, str(value), (Reading(value, step),), digits=len(value.as_tuple().digits))


def _may_be(wholes: Sequence[str], text: str) -> bool:
    """Return whether digits at the beginning of a text may be those of a figure, or be rounded to
    them, wherever the number ends."""
    run = _RUN.match(text)
    parts = _NO_DIGIT.split(run[0]) if run else []
    ends = ("".join(parts[:count]).lstrip("0") for count in range(1, len(parts) + 1))
    return any(_rounds_to(digits, whole) for digits in ends for whole in wholes)


def _rounds_to(digits: str, whole: str) -> bool:
    length = min(len(digits), len(whole.rstrip("0")) or 1)
    cut, rest = int(digits[:length] or 0), digits[length : length + 1]
    target = int(whole[:length] or 0)
    is_short = len(digits) >= length and not whole[length:].strip("0")
    return is_short and (cut == target or (cut == target - 1 and rest >= "5"))


def _spaced(digits: str) -> str:
    """Return the pattern of the first digits of a number, with marks between them. It begins with a
    digit, so that `re` skips all that begins with none of them."""
    return r"\W?".join([rf"{digits[0]}(?<![1-9]\d)", *digits[1:]])


@lru_cache(maxsize=128)
def _moment_pattern(moment: Day | Clock) -> re.Pattern[str]:
    """Return the pattern of the part of a moment that stands in most notations of it."""
    if isinstance(moment, Clock):
        hours = {moment.hour, moment.hour % 12 or 12}
        return re.compile(rf"(?<!\d)(?:0?(?:{'|'.join(map(str, hours))}))(?!\d)")
    choices = dict[str, None]()
    for year, month, day, _quarter in moment.readings:
        if month and day:
            either = rf"0?{day}[./-]0?{month}|0?{month}[./-]0?{day}"
            choices[rf"(?:{either})(?!\d)"] = None
            choices[rf"0?{day}(?!\d)"] = None
        elif year:
            choices[str(year)] = None
    return re.compile(rf"(?<!\d)(?:{'|'.join(choices) or '(?!)'})")


def _holds(window: str, moment: Day | Clock) -> bool:
    if isinstance(moment, Clock):
        return any(
            (clock.hour, clock.minute) == (moment.hour, moment.minute)
            for clock in clocks_in(window)
        )
    return any(is_same_date(moment, day) for day in dates_in(window))


def _excerpt(line: str, text: str) -> str:
    """Return the part of a line around a text."""
    at = max(0, line.find(text))
    start = max(0, min(at - _EXCERPT // 2, len(line) - _EXCERPT))
    return line[start : start + _EXCERPT].strip()
