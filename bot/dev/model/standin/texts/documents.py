"""Questions about a text: its gist, its passages, how many of its lines say something, and how two differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from ..figures.exporting import FORM, REPORT
from ..figures.names import COUNTS
from ..findings import Findings
from ..outputs import Document
from ..phrasing import GIST, IT, phrase
from ..view import View
from .passages import asked_words, cut, pages_of, quote_from, summarise, unwrapped

COUNT = phrase(
    rf"how many (?P<level>error|warning)s?(?: lines)?(?: (?:are|were)(?: there)?(?: in {IT})?)?|"
    r"how many lines (?:mention|say|contain|have) [\"“]?(?P<word>[\w-]+)[\"”]?"
)
MATCHING = re.compile(r"· ([\d,]+) of ([\d,]+) lines match")
HIT = re.compile(r"^\d+: (?P<line>.*)$", re.M)
NUMBERED = re.compile(r"^\d+[:-] (.*)$", re.M)
PAGE = re.compile(r"\s*\[page \d+ of \d+\]")
POINTS = re.compile(
    r"\b(?P<most>two|three|four|five|[1-9]) \w* ?\w*(?:sentences?|bullets?|points|lines)\b", re.I
)
"""How long a summary is to be."""
TASKS = phrase(
    r"(?:summari[sz]e|simplify|shorten|condense|outline|draft|write|compose|prepare|make|create|generate|turn|convert|"
    r"add|calculate|check|highlight|replace|rewrite)\b.*"
)
"""What no quotation does."""
HALVES = re.compile(r",? and (?=(?:how|who|what|when|where|which|why)\b)", re.IGNORECASE)
"""Between two questions."""
OPEN = re.compile(r"\b(?:open|to[ -]?do|left|pending|outstanding|unfinished)\b", re.IGNORECASE)
TICKED = re.compile(r"^\s*[-*+] \[x\] .*\n?", re.IGNORECASE | re.MULTILINE)
"""Of a list of tasks what is done."""
SIMILAR = 0.5  # of two lines, from which on one is the other changed
MOST_LINES = 5
MOST_HITS = 200
MOST_CHANGES = 12


def answer(view: View, found: Findings, document: Document) -> None:
    """Its gist, its count, or the passages that speak of what was asked."""
    asked = next((turn.text for turn in reversed(view.turns) if turn.text), "")
    asked = REPORT.sub("", FORM.sub("", asked))
    counted = COUNT.fullmatch(asked)
    document = replace(document, text=unwrapped(document.text))
    if GIST.fullmatch(asked):
        summarise(found, document.text, document.source, _points_of(asked))
    elif TASKS.fullmatch(asked):
        found.summary = f"My rules do not understand “{asked}” as it is put: they sum up all of a text, or quote what is asked for."
        found.confidence = "low"
        found.follow_ups = ["Summarise it in three bullets"]
        return
    elif counted and view.knows("search_artifact"):
        _count(view, found, document, counted)
    else:
        for half in _halves(asked):
            text = _text(view, document, half)
            text = TICKED.sub("", text) if OPEN.search(half) else text
            quote_from(part := Findings(), half, text, document.source)
            found.add(part)
    pages = pages_of(document.text, "\n".join([found.summary, *found.points]))
    supports = f"The passages quoted{f', on {pages}' if pages else ''}."
    if found.confidence == "low":
        supports = "What I looked through."
    found.source(document.source, document.url, supports)


def _halves(asked: str) -> list[str]:
    """Two questions, where each names something."""
    halves = HALVES.split(asked, maxsplit=1)
    return halves if all(map(asked_words, halves)) else [asked]


def _points_of(asked: str) -> int | None:
    found = POINTS.search(asked)
    return int(COUNTS.get(found["most"].lower(), found["most"])) if found else None


def _count(view: View, found: Findings, document: Document, asked: re.Match[str]) -> None:
    """How many lines say a word, as of a log, and the first of them."""
    word = asked["word"] or asked["level"].upper().removesuffix("ING")
    output = _found_in(view, document, re.escape(word))
    counts = MATCHING.search(output)
    matching, total = (int(each.replace(",", "")) for each in counts.groups()) if counts else (0, 0)
    lines = "line" if matching == 1 else "lines"
    found.summary = f"{document.source} has **{matching:,} {lines}** with “{word}”, of {total:,}."
    found.points = [f"`{cut(hit['line'])}`" for hit in HIT.finditer(output)][:MOST_LINES]
    if matching > len(found.points):
        found.gaps.append(f"These are the first {len(found.points)} of them.")
    found.figure = matching


def _text(view: View, document: Document, asked: str) -> str:
    """What is to be quoted from: of a long text the places that speak of the question."""
    words = asked_words(asked)
    if not (document.is_beginning and words and view.knows("search_artifact")):
        return document.text
    pattern = "|".join(rf"\b{re.escape(word)}" for word in words)
    places = re.split(r"^--$", _found_in(view, document, pattern), flags=re.M)
    lines = ([each for each in NUMBERED.findall(place) if not PAGE.match(each)] for place in places)
    return unwrapped("\n".join(map("\n".join, lines)).strip()) or document.text


def _found_in(view: View, document: Document, pattern: str) -> str:
    thought = "I look for the lines that say it."
    return view.do(
        "search_artifact", thought, handle=document.handle, pattern=pattern, limit=MOST_HITS
    )


def tell_differences(found: Findings, before: Document, after: Document) -> None:
    """The lines that one has and the other has not, changed ones side by side."""
    ours, theirs = _lines(before), _lines(after)
    rows: list[list[str]] = []
    for kind, start, end, first, last in SequenceMatcher(None, ours, theirs, False).get_opcodes():
        if kind != "equal":
            rows += _paired(ours[start:end], theirs[first:last])
    if not rows:
        found.summary = f"Nothing: {before.source} and {after.source} say the same."
        return
    number = "one place" if len(rows) == 1 else f"{len(rows)} places"
    found.summary = f"{before.source} and {after.source} differ in **{number}**."
    found.caption = "What differs"
    found.columns = [before.source.strip("`"), after.source.strip("`")]
    found.rows = [[cut(cell) or "–" for cell in row] for row in rows[:MOST_CHANGES]]
    if len(rows) > MOST_CHANGES:
        found.gaps.append(f"The table shows the first {MOST_CHANGES} places.")
    found.lower("I compare line by line, and do not weigh what a change means.")


def _lines(document: Document) -> list[str]:
    return [line.strip() for line in document.text.splitlines() if line.strip()]


def _paired(ours: Sequence[str], theirs: Sequence[str]) -> list[list[str]]:
    """Lines that differ, each beside the one that it became."""
    rows, left = [], list(theirs)
    for line in ours:
        likeness = {other: SequenceMatcher(None, line, other).ratio() for other in left}
        best = max(likeness, key=lambda other: likeness[other], default="")
        if likeness.get(best, 0) < SIMILAR:
            best = ""
        else:
            left.remove(best)
        rows.append([line, best])
    return rows + [["", line] for line in left]
