"""Places: where a claim stands in what was read, as people are shown it."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.core.findings import Place
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention

_EXCERPT = 160
_PAGE = re.compile(r"\[page (\d+)(?: of \d+)?\]")
_SOURCE = re.compile(r"(?:^|· )source: ([^<\n]+?)(?: <([^>\n]+)>)?$")
_RESULT = re.compile(r"\d+\. (.+?) — (https?://\S+)$")
_LINK = re.compile(r"\(link: (https?://[^\s)]+)\)")
_MESSAGE = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d\] ([^:]{1,80}):")
_FRAGMENT_WORDS = 8
_MOST_LINES = 3_000
"""Lines that are looked back for a page mark or a source."""


def place_of(output: IndexedOutput, mention: Mention) -> Place:
    """Return the place of a figure."""
    place = place_at(output, mention.start, mention.end)
    if mention.grid < 0:
        return place
    grid = output.grids[mention.grid]
    cells = grid.rows[mention.row].cells
    named = (cell.text for n, cell in sorted(cells.items()) if n != mention.column and cell.text)
    row = next((each for each in named if re.search(r"[^\W\d_]", each)), "")
    column = grid.columns[mention.column]
    return place.model_copy(update={"row": row[:80], "column": column[:80]})


def place_at(output: IndexedOutput, start: int, end: int) -> Place:
    """Return the place of the characters from `start` to `end`."""
    return _place(output, output.line_of(start), output.entry.text[start:end])


def place_on_line(output: IndexedOutput, line: int, text: str) -> Place:
    """Return the place of words on a line, numbered from 0."""
    return _place(output, line, text)


def _place(output: IndexedOutput, line: int, text: str) -> Place:
    entry, starts = output.entry, output.starts
    source, url, page = _above(output, line)
    if not source and len(entry.sources) == 1:
        source, url = entry.sources[0].title, entry.sources[0].url or ""
    start = starts[line] if line < len(starts) else 0
    end = starts[line + 1] - 1 if line + 1 < len(starts) else len(entry.text)
    return Place(
        call_id=entry.call_id,
        tool=entry.tool,
        source=source[:200],
        url=url,
        link=_link(output, line, url),
        handle=entry.handles[0] if entry.handles else "",
        line=line + 1,
        page=page,
        text=text[:80],
        excerpt=_excerpt(entry.text[start:end], text),
    )


def _line(output: IndexedOutput, number: int) -> str:
    starts = output.starts
    end = starts[number + 1] - 1 if number + 1 < len(starts) else len(output.entry.text)
    return output.entry.text[starts[number] : min(end, starts[number] + 2_000)]


def _above(output: IndexedOutput, line: int) -> tuple[str, str, str]:
    """Return the source, its address and the page that the marks above a line tell."""
    source = url = page = ""
    for number in range(min(line, len(output.starts) - 1), max(-1, line - _MOST_LINES), -1):
        text = _line(output, number)
        if not page and (found := _PAGE.match(text)):
            page = found[1]
        if found := _RESULT.match(text) or _SOURCE.search(text):
            source, url = found[1].strip(), found[2] or ""
            break
        if found := _MESSAGE.match(text):
            source = found[0].rstrip(":")
            break
    return source, url, page


def _link(output: IndexedOutput, line: int, url: str) -> str:
    """Return the link at the end of a message, or the address of the words on a page."""
    if output.entry.link:
        return output.entry.link
    for number in range(line, min(line + 40, len(output.starts))):
        text = _line(output, number)
        if found := _LINK.search(text):
            return found[1]
        if number > line and _MESSAGE.match(text):
            break
    words = _line(output, line).split()[:_FRAGMENT_WORDS] if output.starts else []
    if not url.startswith("http") or "slack" in url or not words:
        return ""
    return f"{url.partition('#')[0]}#:~:text={quote(' '.join(words), safe='')}"


def _excerpt(line: str, text: str) -> str:
    """Return the part of a line around a text."""
    at = max(0, line.find(text))
    start = max(0, min(at - _EXCERPT // 2, len(line) - _EXCERPT))
    return line[start : start + _EXCERPT].strip()
