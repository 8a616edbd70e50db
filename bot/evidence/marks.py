"""Marks in outputs: the page, the source or the message that the lines after them belong to."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

_PAGE = re.compile(r"\[page (\d+)(?: of \d+)?\]")
_SOURCE = re.compile(r"(?:^|· )source: ([^<\n]{1,300}?)(?: <([^>\n]{1,2000})>)?$")
_RESULT = re.compile(r"\d{1,3}\. (.{1,300}?) — (https?://\S+)$")
_MESSAGE = re.compile(r"(\[\d{4}-\d\d-\d\d \d\d:\d\d\] [^:]{1,80}):")
_LONGEST = 2_000  # characters of a line with a mark


@dataclass(slots=True)
class Marks:
    """The marks of an output by line, from 0: pages, and sources with title and address."""

    pages: list[tuple[int, str]] = field(default_factory=list)
    sources: list[tuple[int, str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, lines: list[str]) -> Marks:
        """Find the marks in the lines of an output."""
        found = cls()
        for number, line in enumerate(lines):
            is_mark = line[:1] == "[" or line[:1].isdigit() or "source: " in line[:_LONGEST]
            if not is_mark or len(line) > _LONGEST:
                continue
            if page := _PAGE.match(line):
                found.pages.append((number, page[1]))
            elif message := _MESSAGE.match(line):
                found.sources.append((number, message[1], ""))
            elif source := _RESULT.match(line) or _SOURCE.search(line):
                found.sources.append((number, source[1].strip(), source[2] or ""))
        return found

    def page_at(self, line: int) -> str:
        """Return the page that a line is on, "" if none is marked."""
        at = bisect_right(self.pages, line, key=lambda each: each[0])
        return self.pages[at - 1][1] if at else ""

    def source_at(self, line: int) -> tuple[str, str]:
        """Return title and address of the source that a line belongs to, "" if none is marked."""
        at = bisect_right(self.sources, line, key=lambda each: each[0])
        return self.sources[at - 1][1:] if at else ("", "")

    def is_message(self, line: int) -> bool:
        """Return whether a message or another source begins on a line."""
        at = bisect_right(self.sources, line, key=lambda each: each[0])
        return bool(at) and self.sources[at - 1][0] == line
