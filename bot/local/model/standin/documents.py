"""Questions about a text: its gist, its passages, how many of its lines say something, and how two differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from .conversation import Turn
from .findings import Findings
from .outputs import Document
from .passages import ALL, cut, pages_of, quote_from, summarise, tasks
from .view import View
from .words import content, has, plural

GIST = (
    r"summar\w+|sum (?:\w+ )?up|tl;?dr|overview|gist|key points|main points|explain|tell me about|"
    r"what(?:['’]s| is| does)(?: in| inside)? (?:it|this|that|here|(?:the|this|that) (?:file|document|pdf|e?-?mail))"
    r"(?: say| about| contain| mean)?(?=\W*$)|what(?:['’]s| is) (?:it|this|that) about"
)
LEVELS = {
    "FATAL": "fatals?", "CRITICAL": "criticals?", "ERROR": "errors?|failures?", "WARN": "warn(?:ing)?s?",
    "INFO": "infos?", "DEBUG": "debugs?",
}  # fmt: skip
TASKS = r"to-?dos?|action items?|who (?:has|needs|is) to|tasks|has to do"
BY_LEVEL = r"(?:by|per|each|every|which|what) (?:log )?(?:levels?|severity|severities)"
COUNTED = r"how many|how often|number of|count"
COMMON = r"(?:most )?(?:common|frequent|often)|top"
MATCHING = re.compile(r"· ([\d,]+) of ([\d,]+) lines match")
HIT = re.compile(r"^\d+: (?P<line>.*)$", re.M)
NUMBERED = re.compile(r"^\d+[:-] (.*)$", re.M)
SIMILAR = 0.5  # of two lines, from which on one is the other changed
MOST_LINES = 5
MOST_HITS = 200
MOST_CHANGES = 12


def answer(view: View, found: Findings, document: Document) -> None:
    """Its gist, its count, or the passages that speak of what was asked."""
    asked = _last_real_question(view.turns)
    if has(asked, GIST) and _is_log(document):
        _by_level(view, found, document)
    elif has(asked, GIST):
        summarise(found, document.text, document.source)
        if has(asked, TASKS):
            found.points = tasks(document.text) or found.points
    elif has(asked, TASKS) and (listed := tasks(document.text)):
        found.summary = (
            f"{document.source} names {'one task' if len(listed) == 1 else f'{len(listed)} tasks'}:"
        )
        found.points = listed
    elif _count(view, found, document, asked):
        found.source(document.source, document.url, "The lines that were counted.")
        return
    else:
        _quote(view, found, document, asked)
    pages = pages_of(document.text, "\n".join([found.summary, *found.points]))
    supports = f"The passages quoted{f', on page {pages}' if pages else ''}."
    if found.confidence == "low":
        supports = "What I looked through."
    found.source(document.source, document.url, supports)


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


def _is_log(document: Document) -> bool:
    return any(re.search(rf"\b{level}\b", document.text) for level in LEVELS)


def _count(view: View, found: Findings, document: Document, asked: str) -> bool:
    """Count lines, as of a log: by level, those that say a word, or what most of these say. Whether
    that was asked."""
    if not view.knows("search_artifact"):
        return False
    named = [level for level, words in LEVELS.items() if has(asked, words)]
    is_log = _is_log(document)
    if is_log and has(asked, BY_LEVEL):
        _by_level(view, found, document)
    elif is_log and named and has(asked, COMMON):
        _most_common(view, found, document, named[0])
    elif is_log and named and not has(asked, "why"):
        _tell_hits(view, found, document, rf"\b{named[0]}", f"with {named[0]}")
    elif has(asked, COUNTED) and (words := _words_to_find(asked)):
        _tell_hits(view, found, document, re.escape(words[0]), f"with “{words[0]}”")
    elif has(asked, rf"(?:{COUNTED}) (?:the )?(?:lines|rows|entries)"):
        _, _, total = _lines_with(view, document, "^")
        found.summary = f"{document.source} has **{total:,} lines**."
    else:
        return False
    return True


PAGE = re.compile(r"\s*\[page \d+ of \d+\]")


def _found_in(view: View, document: Document, pattern: str) -> str:
    thought = "I look for the lines that say it."
    return view.do(
        "search_artifact", thought, handle=document.handle, pattern=pattern, limit=MOST_HITS
    )


def _lines_with(view: View, document: Document, pattern: str) -> tuple[list[str], int, int]:
    """The first lines that match, how many do, and how many there are."""
    output = _found_in(view, document, pattern)
    counts = MATCHING.search(output)
    matching, total = (int(each.replace(",", "")) for each in counts.groups()) if counts else (0, 0)
    return [hit["line"] for hit in HIT.finditer(output)], matching, total


def _passages(view: View, document: Document, pattern: str) -> str:
    """The lines that match with those around them, as running text."""
    places = re.split(r"^--$", _found_in(view, document, pattern), flags=re.M)
    lines = (filter(lambda line: not PAGE.match(line), NUMBERED.findall(place)) for place in places)
    return "\n".join(map(" ".join, lines))


def _tell_hits(view: View, found: Findings, document: Document, pattern: str, which: str) -> None:
    lines, matching, total = _lines_with(view, document, pattern)
    noun = "line" if matching == 1 else plural("line")
    found.summary = f"{document.source} has **{matching:,} {noun}** {which}, of {total:,}."
    found.points = [f"`{cut(line)}`" for line in lines[:MOST_LINES]]
    if matching > len(found.points):
        found.gaps.append(f"These are the first {len(found.points)} of them.")
    found.figure = matching


def _by_level(view: View, found: Findings, document: Document) -> None:
    counts = {level: _lines_with(view, document, rf"\b{level}")[1] for level in LEVELS}
    rows = sorted(((n, level) for level, n in counts.items() if n), reverse=True)
    found.summary = f"Most lines of {document.source} say **{rows[0][1]}**: {rows[0][0]:,}."
    found.caption, found.columns = "Lines by level", ["level", "lines"]
    found.rows = [[level, f"{n:,}"] for n, level in rows]


def _most_common(view: View, found: Findings, document: Document, level: str) -> None:
    """What stands after the level, counted without the numbers in it that differ from line to line."""
    lines, matching, total = _lines_with(view, document, rf"\b{level}")
    if not lines:
        found.summary = f"{document.source} has no lines with {level}, of {total:,}."
        return
    said = (re.split(rf"{level}\w*\]?:?\s*", line, maxsplit=1)[-1] for line in lines)
    counts = Counter(re.sub(r"^\[[^\]]*\]\s*", "", each) for each in said).most_common(MOST_LINES)
    found.summary = f"The most common {level}: “{cut(counts[0][0])}”, **{counts[0][1]} times**."
    found.caption, found.columns = f"Lines with {level}", ["what it says", "times"]
    found.rows = [[cut(text), f"{n:,}"] for text, n in counts]
    if matching > len(lines):
        found.gaps.append(f"I looked at the first {len(lines)} of {matching:,} such lines.")


def _quote(view: View, found: Findings, document: Document, asked: str) -> None:
    text = document.text
    wanted = [re.escape(word) for word in _words_to_find(asked)]
    if document.is_beginning and not wanted:
        wanted = [rf"\b{re.escape(word)}" for word in content(ALL.sub(" ", asked))]
    if wanted and ALL.search(asked) and view.knows("search_artifact"):
        lines, matching, _ = _lines_with(view, document, "|".join(wanted))
        text = "\n".join(lines)
        if matching > len(lines):
            found.gaps.append(f"I looked at the first {len(lines)} of {matching:,} such lines.")
    elif wanted and view.knows("search_artifact"):
        passages = _passages(view, document, "|".join(wanted))
        text = passages if document.is_beginning and passages.strip() else f"{text}\n{passages}"
    quote_from(found, asked, text, document.source)


def _last_real_question(turns: list[Turn]) -> str:
    return next((turn.text for turn in reversed(turns) if turn.text), "")


def _words_to_find(question: str) -> list[str]:
    quoted = re.findall(r"[\"“'‘]([^\"”'’]{2,60})[\"”'’]", question)
    named = re.findall(r"(?:search|look|find)\b.*?\bfor\s+([\w-]+)", question, re.IGNORECASE)
    counted = re.findall(
        r"(?:word|with|mention(?:s|ed)?|say(?:s)?|contain(?:s|ing)?)\s+([\w-]+)\b|(?:often|times) (?:is|does|was) (?:the word )?([\w-]+)",
        question,
        re.IGNORECASE,
    )
    return quoted or named or [word for pair in counted for word in pair if word]
