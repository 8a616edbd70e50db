"""Quotes: finding them in an answer, and finding their words in what was read."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice

from rapidfuzz.fuzz import partial_ratio_alignment

from bot.evidence.characters import folded

_MARKED = re.compile(
    r"“([^“”\n]{8,600})[”“]|„([^„“”\n]{8,600})[“”]|«\s?([^«»\n]{8,600})\s?»|»([^«»\n]{8,600})«"
    r"|「([^「」\n]{6,600})」|『([^『』\n]{6,600})』|(?<![\w\"])\"([^\"\n]{8,600})\"(?!\w)"
    r"|^>[ ]?(.{8,600})$",
    re.MULTILINE,
)
_GAP = re.compile(r"\s?(?:\[[^\]]*\]|…|\.\.\.|\(\.\.\.\))\s?")
_WORDS = 3
_LETTERS_WITHOUT_SPACES = 8  # of scripts that write no spaces between words
_NEAR = 90
_EDGES = " .,;:!?\"'()[]-"
_NEGATIONS = {"not", "no", "never", "nicht", "kein", "keine", "nie", "ne", "pas", "jamais", "non"}
_NEGATIONS |= {"sin", "nunca", "não", "nem", "without", "ohne"}


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote in a text: its words between the marks."""

    start: int
    end: int
    text: str


def quotes(text: str) -> list[Quote]:
    """Return the quotes of three words or more in a text."""
    found = []
    for match in _MARKED.finditer(text):
        words = match[match.lastindex or 0]
        if is_long_enough(words):
            found.append(Quote(match.start(), match.end(), words.strip()))
    return found


def is_long_enough(words: str) -> bool:
    """Return whether words are enough to be looked for as a quote."""
    if re.search(r"[\u3040-\u30ff\u4e00-\u9fff]", words):
        return len(re.findall(r"\w", words)) >= _LETTERS_WITHOUT_SPACES
    return len(re.findall(r"[^\W\d_]+", words)) >= _WORDS


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text folded line by line: `starts` are the offsets of its lines in `text`."""

    text: str
    starts: list[int]

    @classmethod
    def of(cls, lines: list[str]) -> FoldedText:
        """Fold the lines. A table's bars and a list's marks stay, since quotes seldom span them."""
        starts, parts, at = [], [], 0
        for line in lines:
            part = folded(line) if line else line
            starts.append(at)
            parts.append(part)
            at += len(part) + 1
        return cls(" ".join(parts), starts)

    def line_at(self, offset: int) -> int:
        """Return the index of the line at an offset of the folded text."""
        return max(0, bisect_right(self.starts, offset) - 1)

    def find(self, quote: str) -> int | None:
        """Return the line that has the parts of a quote word for word and in order, else None."""
        first, at = None, 0
        for part in _GAP.split(quote):
            words = folded(part).strip(_EDGES)
            if not words:
                continue
            at = self.text.find(words, at)
            if at < 0:
                return None
            first = at if first is None else first
            at += len(words)
        return None if first is None else self.line_at(first)

    def near(self, quote: str) -> int | None:
        """Return the line with nearly the same words, the same numbers and the same negations."""
        wanted = folded(quote).strip(_EDGES)
        for word in sorted(set(wanted.split()), key=len, reverse=True)[:3]:
            for found in islice(re.finditer(re.escape(word), self.text), 20):
                start = max(0, found.start() - len(wanted) - 20)
                window = self.text[start : found.end() + len(wanted) + 20]
                best = partial_ratio_alignment(wanted, window, score_cutoff=_NEAR)
                if best and _same_sense(wanted, window[best.dest_start : best.dest_end]):
                    return self.line_at(start + best.dest_start)
        return None


def _same_sense(one: str, other: str) -> bool:
    """Return whether two texts have the same numbers, and neither negates what the other says."""
    first, second = (set(re.findall(r"\w+", each)) for each in (one, other))
    changed = {each for each in first ^ second if each.isdigit() or each in _NEGATIONS}
    return not changed
