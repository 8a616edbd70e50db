"""Ranking of short texts by the words of a query: BM25F over weighted fields.

S. Robertson and H. Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009, §3.5 and
3.6, with their usual constants. Words match when most of their beginning is the same, so that
"invoices" finds "invoice" in any language. The only dictionary is a list of English stop words,
because tools are described in English.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

_K1 = 1.2
_B = 0.5
STEM = 4  # least number of equal first letters
_ALIKE = 0.6  # least share of the longer word that must be equal
_MOST_TERMS = 64  # words of a query that count; the first ones name its subject
_TAIL = 0.3  # share of the best score below which a match is noise
_WORD = re.compile(r"[^\W_]{2,}")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_EMPTY = frozenset(
    _WORD.findall(
        """
about after again all an and any are as at be been before but by can could did do does each for
from get give had has have hello how if in into is it its let like make many may me more most much
my no not now of off on one only or other our out over please say says should show so some tell
than that the their them then there these they this those thing to told up us was we were what
when where which while who whose why will with would you your
"""
    )
)

Fields = Sequence[tuple[str, float]]
"""The texts of a document, each with its weight."""


@dataclass(frozen=True, slots=True)
class Match:
    """A document that matches a query, named by its `place` in the sequence.

    `score` is in units of one word of average weight that no other document has. `words` is the
    number of words that document and query share; forms of one word count once.
    """

    place: int
    score: float
    words: int


class Ranking:
    """An index of documents, named by their places in the sequence."""

    def __init__(self, documents: Sequence[Fields]) -> None:
        counted = [_weighted(fields) for fields in documents]
        self._size = len(counted)
        mean = sum(sum(each.values()) for each in counted) / max(self._size, 1)
        self._where: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        for place, weights in enumerate(counted):
            length = 1 - _B + _B * sum(weights.values()) / (mean or 1)
            for word, weight in weights.items():
                tf = weight / length
                self._where[word].append((place, tf * (_K1 + 1) / (tf + _K1)))
        self._by_stem: defaultdict[str, list[str]] = defaultdict(list)
        for word in self._where:
            self._by_stem[word[:STEM]].append(word)

    def best(self, query: str, most: int) -> list[int]:
        """Return the places of up to `most` matching documents, the best first."""
        return [match.place for match in self.matches(query)[:most]]

    def matches(self, query: str) -> list[Match]:
        """Return the matches, the best first, without those that score far below the best."""
        scores: defaultdict[int, float] = defaultdict(float)
        shared: defaultdict[int, set[str]] = defaultdict(set)
        for term in list(dict.fromkeys(_words(query)))[:_MOST_TERMS]:
            for place, gain in self._gains(term).items():
                scores[place] += gain
                shared[place].add(term[:STEM])
        ranked = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
        rarest = self._rarity(1)
        return [
            Match(place, score / rarest, len(shared[place]))
            for place, score in ranked
            if score >= _TAIL * ranked[0][1]
        ]

    def _rarity(self, documents: int) -> float:
        """Return the weight (inverse document frequency) of a word that `documents` have."""
        return math.log(1 + (self._size - documents + 0.5) / (documents + 0.5))

    def _gains(self, term: str) -> dict[int, float]:
        """Return the score that one word adds to each document, by the most similar word in it."""
        gains: dict[int, float] = {}
        for word in self._by_stem.get(term[:STEM], ()):
            found, similarity = self._where[word], alike(term, word)
            rarity = self._rarity(len(found))
            for place, weight in found:
                gains[place] = max(gains.get(place, 0.0), similarity * rarity * weight)
        return {place: gain for place, gain in gains.items() if gain}


def _weighted(fields: Fields) -> dict[str, float]:
    weights: defaultdict[str, float] = defaultdict(float)
    for text, weight in fields:
        for word in _words(text):
            weights[word] += weight
    return weights


def _words(text: str) -> list[str]:
    words = (word.lower() for word in _WORD.findall(_CAMEL.sub(" ", text)))
    return [word for word in words if word not in _EMPTY]


def alike(one: str, other: str) -> float:
    """Return 1 for equal words, 0 for different ones, and a value between for similar forms."""
    if one == other:
        return 1.0
    if len(one) < STEM or len(other) < STEM:
        return 0.0
    same = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), None)
    same = min(len(one), len(other)) if same is None else same
    share = same / max(len(one), len(other))
    return share if same >= STEM and share >= _ALIKE else 0.0
