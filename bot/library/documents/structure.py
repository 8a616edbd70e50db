"""The parts of a text: headings, numbered clauses, paragraphs, and windows of sentences.

Structure is told from the form of lines, in any language: `#` as in Markdown, `[page 3 of 12]` as
readers write it, numbers that count on ("12.3" after "12.2"), and words in capitals. All patterns
are linear in the length of a line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

_PAGE = re.compile(r"\[page (\d{1,6}) of \d{1,6}\]\s*")
_FOLIO = re.compile(r"\D{0,20}\d{1,5}(?:\D{1,20}\d{1,5})?\W{0,5}")
_MARKDOWN = re.compile(r"(#{1,6})\s+(\S.*)")
_DOTTED = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})([.)]?)(?:\s+(\S.*)|\s*)$")
_RUN_IN = re.compile(r"([^\W\d_][^\s.:]{0,20}(?: [^\s.:]{1,21}){0,4})[.:]\s+\S")
"""A title in the line of its text: `6. Termination. Either side may …`."""
_BRACKETED = re.compile(r"\((\d{1,3})\)\s+\S")
_NAMED = re.compile(
    r"(?:§+\s*|第\s*|[^\W\d_]{2,12}\.?\s{1,3})(\d{1,3}(?:\.\d{1,3}){0,5}|[IVXLC]{1,7})(?:\s*[条章節])?(?![\w,])"
)
_NUMERAL = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
_SENTENCE_END = re.compile(r"[.!?…]['\"”’»)\]]{0,3}(?=\s)|[。！？][」』）]?|\n")
_CONTENTS = re.compile(r"(?:\.\s?){4}\s*\d{1,4}$")
"""Ends a line of a table of contents."""
_LONGEST_HEADING = 100
_NEXT = 3  # clauses that may be missing between two numbers: "12.1" and "12.4"
_WINDOW = 900  # characters
_LONGEST_TEXT = 1_000_000
"""Characters of a text whose headings are looked for: longer ones, as logs, have none."""
_WHOLE = 2_400
"""Characters of a clause that is taken as a whole."""

_BY_MARKDOWN, _BY_NAME, _BY_NUMBER, _BY_BRACKET = 0, 10, 20, 30
"""Levels of headings by their form, the outermost first."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading or clause with the text up to the next one.

    `number` is that of a clause ("12.3"), "" without one. `parent` is the place of the section that
    it is in, None for an outermost one. Offsets are in characters; `end` is that of the text before
    the next heading, `whole_end` that after all sections within this one.
    """

    level: int
    number: str
    title: str
    start: int
    parent: int | None
    end: int = 0
    whole_end: int = 0

    @property
    def label(self) -> str:
        """The number and title: `12 Termination`."""
        return " ".join(filter(None, (self.number, self.title)))


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph, or some sentences of a long one, of a section (None before the first heading)."""

    start: int
    end: int
    section: int | None


@dataclass(frozen=True)
class Structure:
    """The sections and passages of `text`, in order. `starts` are the offsets of its lines, `pages`
    those of its page markers with their numbers."""

    text: str
    sections: list[Section]
    passages: list[Passage]
    starts: list[int]
    pages: list[tuple[int, int]]

    @cached_property
    def _page_starts(self) -> list[int]:
        return [start for start, _ in self.pages]

    def line(self, offset: int) -> int:
        """Return the number of the line at an offset, counted from 1."""
        return bisect_right(self.starts, offset)

    def page(self, offset: int) -> int | None:
        """Return the page at an offset, None in a text without pages."""
        at = bisect_right(self._page_starts, offset)
        return self.pages[at - 1][1] if at else None

    def place(self, start: int, end: int | None = None) -> str:
        """Return the page and the lines of a part of the text: `page 3, lines 40–44`."""
        first = self.line(start)
        last = first if end is None else self.line(start + len(self.text[start:end].rstrip()) - 1)
        lines = f"line {first}" if last <= first else f"lines {first}–{last}"
        page, last_page = self.page(start), self.page(max(start, (end or start) - 1))
        if not page:
            return lines
        return (
            f"page {page}, {lines}" if page == last_page else f"pages {page}–{last_page}, {lines}"
        )

    def path(self, section: int | None) -> list[str]:
        """Return the labels of a section and of those that it is in, the outermost first."""
        labels = list[str]()
        while section is not None:
            labels.append(self.sections[section].label)
            section = self.sections[section].parent
        return labels[::-1]

    def whole(self, passage: Passage) -> Passage:
        """Return the clause that holds a passage, or its section, where that is short; else itself.

        A clause is taken with the clauses within it, as far out as it is short.
        """
        found, section = passage, passage.section
        if section is not None and self._is_short(section, self.sections[section].end):
            found = self._part(section, self.sections[section].end)
        while section is not None and self.sections[section].number:
            if not self._is_short(section, self.sections[section].whole_end):
                break
            clause = self.sections[section]
            found, section = self._part(section, clause.whole_end), clause.parent
        return found

    def _part(self, section: int, end: int) -> Passage:
        start = self.sections[section].start
        return Passage(start, trimmed(self.text, start, end), section)

    def _is_short(self, section: int, end: int) -> bool:
        return end - self.sections[section].start <= _WHOLE


def trimmed(text: str, start: int, end: int) -> int:
    """Return the end of a part of the text without white space, and without the marker of a next page
    and the number of that page below it."""
    lines = text[max(start, end - _WINDOW) : end].rstrip().split("\n")
    if len(lines) > 2 and _FOLIO.fullmatch(lines[-1].strip()) and _PAGE.fullmatch(lines[-2]):
        del lines[-1]
    if len(lines) > 1 and _PAGE.fullmatch(lines[-1].strip()):
        del lines[-1]
    return max(start, end - _WINDOW) + len("\n".join(lines).rstrip())


def structure(text: str) -> Structure:
    """Return the structure of a text whose lines end with a line feed."""
    lines = text.split("\n")
    has_headings = len(text) <= _LONGEST_TEXT
    repeated = {line for line, times in Counter(map(str.strip, lines)).items() if times > 2}
    starts, pages, sections = list[int](), list[tuple[int, int]](), list[Section]()
    at, numbers = 0, _Numbers()
    for raw, below in zip(lines, [*lines[1:], ""], strict=True):
        starts.append(at)
        line = raw.strip()
        if marker := _PAGE.fullmatch(line):
            pages.append((at, int(marker[1])))
        elif has_headings and line and line not in repeated and not _CONTENTS.search(line):
            footer = str(pages[-1][1]) if pages else ""
            if found := _heading(line, below.strip(), numbers, footer):
                level, number, title = found
                sections.append(Section(level, number, title, at, _parent(sections, level)))
        at += len(raw) + 1
    sections = _with_ends(sections, len(text))
    return Structure(text, sections, list(_passages(text, sections)), starts, pages)


class _Numbers:
    """The numbers of clauses so far: a number that does not count on begins no clause."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[int, ...]] = {}

    def counts_on(self, number: tuple[int, ...], form: int) -> bool:
        """Return whether `number` follows the last one of this form; remember it if so."""
        last = self._last.get(form, ())
        depth = len(number) - 1
        is_next = (
            number == (1,)
            or (not last and form != _BY_BRACKET)
            or (last == number[:-1] and number[-1] <= 1)
            or (
                len(last) > depth
                and last[:depth] == number[:depth]
                and 0 < number[depth] - last[depth] <= _NEXT
            )
        )
        if is_next:
            self._last[form] = number
            if form != _BY_BRACKET:
                self._last.pop(_BY_BRACKET, None)
        return is_next


_Heading = tuple[int, str, str]
"""The level, number and title of a section."""


def _heading(line: str, following: str, numbers: _Numbers, page: str) -> _Heading | None:
    """Return the heading or clause that a line on `page` begins; `following` is the line below."""
    if marked := _MARKDOWN.fullmatch(line):
        return _markdown_heading(len(marked[1]), marked[2].strip("# *_"), numbers)
    if clause := _clause(line, following, numbers):
        return clause
    if len(line) > _LONGEST_HEADING or line[-1] in ".,;:" or "|" in line or line[0].islower():
        return None
    if named := _NAMED.match(line):
        title = line[named.end() :].lstrip(" .:–—-")
        is_footer = named[1] == page and not _is_title(title, "")
        number = tuple(map(_whole_number, named[1].split(".")))
        if not is_footer and numbers.counts_on(number, _BY_NAME):
            return _BY_NAME, named[0].strip(), title
    is_capitals = line.isupper() and sum(map(str.isalpha, line)) >= 4
    return (_BY_NAME, "", line) if is_capitals else None


def _markdown_heading(level: int, title: str, numbers: _Numbers) -> _Heading:
    dotted = _DOTTED.match(title)
    if not dotted or not dotted[3]:
        return _BY_MARKDOWN + level, "", title[:_LONGEST_HEADING]
    numbers.counts_on(tuple(map(int, dotted[1].split("."))), _BY_NUMBER)
    return _BY_MARKDOWN + level, dotted[1], dotted[3][:_LONGEST_HEADING]


def _clause(line: str, following: str, numbers: _Numbers) -> _Heading | None:
    """Return the clause that a line with a number begins."""
    if dotted := _DOTTED.match(line):
        number, rest = dotted[1], dotted[3] or ""
        is_title = _is_title(rest, following)
        is_clause = not rest[:1].islower() if dotted[2] or "." in number else is_title
        if is_clause and numbers.counts_on(tuple(map(int, number.split("."))), _BY_NUMBER):
            begun = _RUN_IN.match(rest)
            return (
                _BY_NUMBER + number.count("."),
                number,
                rest if is_title else begun[1] if begun else "",
            )
    elif (bracketed := _BRACKETED.match(line)) and numbers.counts_on(
        (int(bracketed[1]),), _BY_BRACKET
    ):
        return _BY_BRACKET, f"({bracketed[1]})", ""
    return None


def _is_title(text: str, following: str) -> bool:
    """Return whether the text after a number is a title, not a sentence that the next line ends."""
    is_short = 2 < len(text) <= _LONGEST_HEADING and text[-1] not in ".,;:"
    goes_on = (
        following[:1].islower()
        or (following[:1].isdecimal() and not _is_number(following))
        or _PAGE.fullmatch(following) is not None
    )
    return (
        is_short
        and not goes_on
        and not text[0].islower()
        and any(map(str.isalpha, text))
        and "|" not in text
    )


def _is_number(line: str) -> bool:
    dotted = _DOTTED.match(line)
    return dotted is not None and bool(dotted[2] or "." in dotted[1])


def _whole_number(numeral: str) -> int:
    """Return a Roman or Arabic number."""
    if numeral.isdecimal():
        return int(numeral)
    values = [_NUMERAL[letter] for letter in numeral]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < following else value for value, following in pairs)


def _parent(sections: list[Section], level: int) -> int | None:
    place: int | None = len(sections) - 1 if sections else None
    while place is not None and sections[place].level >= level:
        place = sections[place].parent
    return place


def _with_ends(sections: list[Section], length: int) -> list[Section]:
    """Return the sections with their ends."""
    finished: list[Section] = []
    following, next_of_level = length, dict[int, int]()
    for section in reversed(sections):
        after = [start for level, start in next_of_level.items() if level <= section.level]
        finished.append(
            Section(
                section.level,
                section.number,
                section.title,
                section.start,
                section.parent,
                following,
                min(after, default=length),
            )
        )
        next_of_level = {
            level: start for level, start in next_of_level.items() if level < section.level
        } | {section.level: section.start}
        following = section.start
    return finished[::-1]


def _passages(text: str, sections: list[Section]) -> Iterator[Passage]:
    first = sections[0].start if sections else len(text)
    yield from _of_section(text, 0, first, None)
    for place, section in enumerate(sections):
        line_end = text.find("\n", section.start)
        has_text = bool(text[line_end : section.end].strip()) if line_end >= 0 else False
        if has_text or not section.title or section.whole_end == section.end:
            yield from _of_section(text, section.start, section.end, place)


def _of_section(text: str, start: int, end: int, section: int | None) -> Iterator[Passage]:
    """Yield the paragraphs of a section. A heading belongs to the paragraph below it."""
    body = text.find("\n", start, end) if section is not None else start
    at, begin = start, None
    while at < end:
        line_end = text.find("\n", at, end)
        line_end = end if line_end < 0 else line_end
        line = text[at:line_end].strip()
        is_marker = bool(_PAGE.fullmatch(line))
        # A clause goes on over the end of a page; text without clauses is cited by its page.
        is_break = not line or (is_marker and section is None)
        if is_break and begin is not None and text[max(begin, body) : at].strip():
            yield from _windows(text, begin, at, section)
            begin = None
        elif begin is None and line and not is_marker:
            begin = at
        at = line_end + 1
    if begin is not None:
        yield from _windows(text, begin, end, section)


def _windows(text: str, start: int, end: int, section: int | None) -> Iterator[Passage]:
    """Yield a paragraph, or whole sentences or lines of a long one."""
    end = trimmed(text, start, end)
    while start < end and text[start].isspace():
        start += 1
    while end - start > _WINDOW:
        ends = [found.end() for found in _SENTENCE_END.finditer(text, start, start + _WINDOW)]
        cut = next((each for each in reversed(ends) if each - start > _WINDOW // 4), 0)
        cut = cut or text.rfind(" ", start + _WINDOW // 2, start + _WINDOW) or 0
        cut = cut if cut > start else start + _WINDOW
        yield Passage(start, cut, section)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield Passage(start, end, section)
