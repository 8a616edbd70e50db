"""Quotes: finding them in an answer, and finding their words in what was read."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from itertools import islice

_MARKED = re.compile(
    r"“([^“”\n]{1,600})”|„([^„“”\n]{1,600})[“”]|«\s?([^«»\n]{1,600})\s?»|»([^«»\n]{1,600})«"
    r"|「([^「」\n]{1,600})」|『([^『』\n]{1,600})』|(?<![\w\"])\"([^\"\n]{1,600})\"(?!\w)"
    r"|^>[ ]?(.{8,600})$",
    re.MULTILINE,
)
_GAP = re.compile(r"\s?(?:\[[^\]]*\]|…|\.\.\.|\(\.\.\.\))\s?")
_WITHOUT_SPACES = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_PROPOSED = re.compile(
    r"\b(?:draft|write|reply|headline|title|subject|wording|phrase|propose|proposal|suggest\w*|slogan|say|type|enter"
    r"|entwirf|entw[uü]rfe?|schreib(?:e|en)?|formuliere|formulierung|vorschlag|vorschläge|schlage|überschrift|titel"
    r"|betreff\w*|antworte|rédige\w*|écris|titre|formulation|brouillon|objet|propose|proposition|redacta|redacte"
    r"|escrib[ea]|propón|propuesta|sugerid[oa]|titular|título|borrador|asunto|redija|escreva|proponha|proposta"
    r"|sugira|sugestão|rascunho|assunto)\b"
    r"|書いて|下書き|[返文題見草]\w{0,2}案|の案|件名|見出し|タイトル|文例",
    re.IGNORECASE,
)
_FEWEST_WORDS, _FEWEST_LETTERS = 3, 8  # letters of scripts that write no spaces between words
_SURE_WORDS, _SURE_LETTERS = 5, 12
_NEAR = 90
_FEWEST_SHARED = 0.6  # of the words of a quote, for it to be looked for more closely
_EDGES = " .,;:!?\"'()[]-"
_NEGATIONS = {"not", "no", "never", "nicht", "kein", "keine", "nie", "ne", "pas", "jamais", "non"}
_NEGATIONS |= {"sin", "nunca", "não", "nem", "without", "ohne"}
_FOLDED = {
    **dict.fromkeys(map(ord, "“”„‟«»‹›「」『』\"‘‚*`'’"), None),
    ord("_"): " ",
    **dict.fromkeys(map(ord, "–—‒"), ord("-")),
    ord("…"): "...",
}


def folded(text: str) -> str:
    """Return `text` for comparing words: no case, quotation marks, emphasis or extra spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.translate(_FOLDED).casefold().split())


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote in a text: its words between the marks."""

    start: int
    end: int
    text: str


def quotes_in(text: str) -> list[Quote]:
    """Return the quotes of three words or more in a text."""
    return [
        Quote(match.start(), match.end(), words.strip())
        for match in _MARKED.finditer(text)
        if is_long_enough(words := match[match.lastindex or 0])
    ]


def is_long_enough(words: str) -> bool:
    """Return whether words are enough to be looked for as a quote."""
    return _size(words) >= 1


def proposes(text: str) -> bool:
    """Return whether a question asks for words of the answer's own, such as a draft or a headline, or
    whether such words follow a text."""
    return bool(_PROPOSED.search(text))


def is_sure(words: str) -> bool:
    """Return whether words in quotation marks can be nothing but a quote: long, and no title, whose
    words begin with capitals."""
    if _size(words) < 2:
        return False
    written = _WORD.findall(words)
    capitals = sum(word[0].isupper() for word in written)
    return bool(capitals <= max(1, 0.6 * len(written)))


def _size(words: str) -> int:
    """Return 2 for a long text, 1 for one that is long enough, else 0."""
    if _WITHOUT_SPACES.search(words):
        count, limits = len(re.findall(r"\w", words)), (_FEWEST_LETTERS, _SURE_LETTERS)
    else:
        count, limits = len(_WORD.findall(words)), (_FEWEST_WORDS, _SURE_WORDS)
    return sum(count >= limit for limit in limits)


@dataclass(frozen=True, slots=True)
class FoldedText:
    """A text folded line by line: `starts` are the offsets of its lines in `text`."""

    text: str
    starts: list[int]

    @classmethod
    def of(cls, text: str) -> FoldedText:
        """Fold the lines. A table's bars and a list's marks stay, since quotes seldom span them."""
        starts, parts, at = list[int](), list[str](), 0
        for line in text.split("\n"):
            part = folded(line) if line else line
            starts.append(at)
            parts.append(part)
            at += len(part) + 1
        return cls(" ".join(parts), starts)

    def line_at(self, offset: int) -> int:
        """Return the number of the line at an offset of the folded text, from 1."""
        return bisect_right(self.starts, offset)

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
        from rapidfuzz.fuzz import partial_ratio_alignment

        wanted = folded(quote).strip(_EDGES)
        words = set(wanted.split())
        if sum(word in self.text for word in words) < _FEWEST_SHARED * len(words):
            return None
        for word in sorted(words, key=len, reverse=True)[:3]:
            for match in islice(re.finditer(re.escape(word), self.text), 20):
                start = max(0, match.start() - len(wanted) - 20)
                window = self.text[start : match.end() + len(wanted) + 20]
                best = partial_ratio_alignment(wanted, window, score_cutoff=_NEAR)
                if best and _same_sense(wanted, window[best.dest_start : best.dest_end]):
                    return self.line_at(start + best.dest_start)
        return None


def _same_sense(one: str, other: str) -> bool:
    """Return whether two texts have the same numbers, and neither negates what the other says."""
    first, second = (set(re.findall(r"\w+", text)) for text in (one, other))
    changed = {word for word in first ^ second if word.isdigit() or word in _NEGATIONS}
    return not changed
