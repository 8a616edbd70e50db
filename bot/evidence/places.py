"""Places: where a claim stands in what was read, as people are shown it."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.core.findings import Place
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention

_EXCERPT = 160
_LINK = re.compile(r"\(link: (https?://[^\s)]+)\)")
_FRAGMENT_WORDS = 8


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
    source, url = output.marks.source_at(line)
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
        handle=next(iter((*entry.made, *entry.used)), ""),
        line=line + 1,
        page=output.marks.page_at(line),
        text=text[:80],
        excerpt=_excerpt(entry.text[start:end], text),
    )


def _line(output: IndexedOutput, number: int) -> str:
    starts = output.starts
    end = starts[number + 1] - 1 if number + 1 < len(starts) else len(output.entry.text)
    return output.entry.text[starts[number] : min(end, starts[number] + 2_000)]


def _link(output: IndexedOutput, line: int, url: str) -> str:
    """Return the link at the end of a message, or the address of the words on a page."""
    if output.entry.link:
        return output.entry.link
    for number in range(line, min(line + 40, len(output.starts))):
        if number > line and output.marks.is_message(number):
            break
        if found := _LINK.search(_line(output, number)):
            return found[1]
    words = _line(output, line).split()[:_FRAGMENT_WORDS] if output.starts else []
    if not url.startswith("http") or "slack" in url or not words:
        return ""
    return f"{url.partition('#')[0]}#:~:text={quote(' '.join(words), safe='')}"


def _excerpt(line: str, text: str) -> str:
    """Return the part of a line around a text."""
    at = max(0, line.find(text))
    start = max(0, min(at - _EXCERPT // 2, len(line) - _EXCERPT))
    return line[start : start + _EXCERPT].strip()
