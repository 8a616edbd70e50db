"""The one search for words in texts: passages of a document, or rows of a table, best first.

A word weighs as much as it is rare in the text, as in BM25 (see `bot.toolkit.ranking`). Words that a
quarter of the passages have weigh nothing, which no list of words could say of all languages. Forms
of a word match by their beginning. Chinese and Japanese, which have no spaces, match by pairs of
characters.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.core.errors import ToolError
from bot.library.documents.structure import Passage, Structure
from bot.library.documents.structure import structure as structure
from bot.toolkit.ranking import STEM, alike
from bot.toolkit.size import Room

_K1, _B = 1.2, 0.5
_COMMON = 1 / 4
"""Share of the passages from which on a word weighs nothing."""
_FEW = 4
"""Passages below which no word is common."""
_TAIL = 0.4
"""Share of the best score below which a passage only shares a word."""
_MOST_TERMS, _MOST_HITS = 16, 100
_LONGEST_PATH = 200  # characters
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_TERM = re.compile(rf"\d+(?:[.,]\d+)+|[{_CJK}]+|(?:(?![{_CJK}])[^\W_])+")
_PAIR = re.compile(rf"[{_CJK}]{{2}}")


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that fits a query. `place` says where it stands, and where in it the words are:
    "page 3, lines 40–44 · 12 Termination · best at page 3, line 42"."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Hits:
    """The best passages for a query, best first: `fitting` of `total` passages fit."""

    hits: list[Hit]
    fitting: int
    total: int

    def shown(self, room: Room, *, limit: int = 20) -> list[str]:
        """Return the best passages under their places: at most `limit`, and what fits into three
        quarters of `room`. A first one that is too long is cut, with … at its end."""
        left = room.characters_of("".join(hit.text for hit in self.hits[:limit])) * 3 // 4
        blocks = list[str]()
        for hit in self.hits[:limit]:
            block = f"[{hit.place}]\n{hit.text}"
            if len(block) > left and not blocks:
                block = f"{block[: max(left, 1)]}…"
            elif len(block) > left:
                break
            blocks.append(block)
            left -= len(block) + 2
        return blocks


def find_passages(text: str, query: str) -> Hits:
    """Return the passages of a text that fit `query`: whole clauses or sections where these are
    short, else paragraphs or a few sentences. Raises ToolError for a query without words."""
    parts = structure("\n".join(text.splitlines()))
    spans = [(passage.start, passage.end) for passage in parts.passages]
    paths = [parts.path(passage.section) for passage in parts.passages]
    ranked = _ranked(parts.text, spans, query, [" ".join(path) for path in paths])
    found = dict[Passage, Passage]()
    for best in (parts.passages[place] for place in ranked[:_MOST_HITS]):
        whole = parts.whole(best)
        if not any(hit.start <= whole.start and whole.end <= hit.end for hit in found):
            found[whole] = best
    hits = [_hit(parts, whole, best) for whole, best in found.items()]
    return Hits(hits, len(ranked), len(spans))


def find_lines(lines: Sequence[str], query: str) -> list[int]:
    """Return the places of the lines that fit `query`, best first."""
    spans, at = list[tuple[int, int]](), 0
    for line in lines:
        spans.append((at, at + len(line)))
        at += len(line) + 1
    return _ranked("\n".join(lines), spans, query, ())


def _hit(parts: Structure, whole: Passage, best: Passage) -> Hit:
    path = " › ".join(filter(None, parts.path(whole.section)))[:_LONGEST_PATH]
    nearest = "" if best.start == whole.start else f"best at {parts.place(best.start)}"
    facts = (parts.place(whole.start, whole.end), path, nearest)
    return Hit(" · ".join(filter(None, facts)), parts.text[whole.start : whole.end].strip())


def _ranked(
    text: str, spans: Sequence[tuple[int, int]], query: str, headings: Sequence[str]
) -> list[int]:
    """Return the places of the spans that fit, best first. A word in the heading of a span counts as
    one more in it."""
    terms = _terms(query)
    if not terms:
        raise ToolError("query has no words in it. Leave it out to read from the beginning.")
    starts, count = [start for start, _ in spans], len(spans)
    mean = max(1.0, sum(end - start for start, end in spans) / max(1, count))
    text = text.replace(
        "İ", "I"
    ).lower()  # which is as long as before: only İ becomes two characters
    gains = [_gains(term, text, spans, starts, headings) for term in terms]
    is_common = [count >= _FEW and len(gain) > count * _COMMON for gain in gains]
    scores: defaultdict[int, float] = defaultdict(float)
    for gain, common in zip(gains, is_common, strict=True):
        if common and not all(is_common):
            continue
        rarity = math.log(1 + (count - len(gain) + 0.5) / (len(gain) + 0.5))
        for place, times in gain.items():
            start, end = spans[place]
            length = 1 - _B + _B * (end - start) / mean
            tf = times / length
            scores[place] += rarity * tf * (_K1 + 1) / (tf + _K1)
    best = max(scores.values(), default=0.0)
    fitting = [(place, score) for place, score in scores.items() if score >= _TAIL * best]
    return [place for place, _ in sorted(fitting, key=lambda each: (-each[1], each[0]))]


def _gains(
    term: str,
    text: str,
    spans: Sequence[tuple[int, int]],
    starts: Sequence[int],
    headings: Sequence[str],
) -> dict[int, float]:
    """Return how often each span of a text in lower case has a word; other forms of it count less."""
    gains: defaultdict[int, float] = defaultdict(float)
    for at, similarity in _occurrences(term, text):
        place = bisect_right(starts, at) - 1
        if place >= 0 and at < spans[place][1]:
            gains[place] += similarity
    of_heading = {
        heading: sum(similarity for _, similarity in _occurrences(term, heading.lower()))
        for heading in set(headings)
    }
    for place, heading in enumerate(headings):
        if of_heading[heading]:
            gains[place] += of_heading[heading]
    return gains


def _occurrences(term: str, text: str) -> Iterator[tuple[int, float]]:
    """Yield where a word or a form of it is in a text in lower case, and how alike they are."""
    is_pair = _PAIR.fullmatch(term) is not None
    is_number = term[0].isdecimal()
    # "12.3" is in "12.3." and in "12.3 (a)", not in "12.30" or "2.12.3".
    rest = "" if is_pair else r"(?!\w|\.\d)" if is_number else r"[^\W_]*"
    begin = term if is_pair or is_number else term[:STEM]
    for match in re.finditer(re.escape(begin) + rest, text):
        at, before = match.start(), text[match.start() - 1 : match.start()]
        is_inside = not is_pair and (before.isalnum() or (is_number and before == "."))
        similarity = 0.0 if is_inside else alike(term, match[0])
        if similarity:
            yield at, similarity


def _terms(query: str) -> list[str]:
    terms = list[str]()
    for word in _TERM.findall(query.lower()):
        pairs = [word[at : at + 2] for at in range(len(word) - 1)]
        terms += pairs if _PAIR.match(word) else [word]
    return list(dict.fromkeys(terms))[:_MOST_TERMS]
