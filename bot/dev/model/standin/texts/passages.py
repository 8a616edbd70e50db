"""Finds the sentences of a text that matter, and quotes them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from ..findings import Findings
from ..talk.languages import language
from ..words import STOP, content, listed, overlap, sentences, stem, stems, tokens

WORKED_OUT = re.compile(r"\b(?:count|compare|differ\w*|versus|vs|should (?:we|i)|better)\b", re.I)
"""What no quotation answers."""
_ASKING = "people everyone everybody anyone anybody someone somebody many much often long say says mention mentions anything something get got go goes need still now one ones again exactly actually already yet ask new happen happens happened"
ASKING = frozenset(_ASKING.split())
ROW = " | "
"""Between the cells of a row of a table."""
MOST_QUOTES = 4
MOST_PICKED = 6
LONGEST = 280
ENDS = (".", "!", "?", ":", "…")
WRAPPED = 60  # characters, from which on a line may be one that was wrapped
SHORTEST = 20
FORMS = re.compile(r"(?:ably|able|ments?|ions?|ing|ed|ers?|ly|at|e)+$")
SHORTEST_ROOT = 3
IRREGULAR = {
    "paid": "pay", "sent": "send", "bought": "buy", "chosen": "choose", "left": "leave",
    "decision": "decide", "conclusion": "conclude", "extension": "extend",
}  # fmt: skip
TITLE = re.compile(r"\s*# +(.+)")
PAGE_MARK = re.compile(r"\[page \d+ of \d+\]")
ITEM = re.compile(r"\s*(?:[-*•▪◦·]|\d+[.)])\s")
PAGE = re.compile(r"^\[page (\d+) of \d+\]\n(.*?)(?=^\[page |\Z)", re.M | re.S)


def unwrapped(text: str) -> str:
    """The text with the lines of a paragraph as one: a line goes on in small letters, or after one as
    long as the page is wide."""
    lines = text.splitlines()
    width = max(map(len, lines), default=0)
    found: list[str] = []
    for line in lines:
        before = found[-1] if found else ""
        opened = before and line and not before.endswith(ENDS) and not before.startswith(("|", "["))
        wide = WRAPPED < width * 0.75 < len(before) <= width and line[:1].isalnum()
        if opened and (line[:1].islower() or wide):
            found[-1] = f"{before} {line}"
        else:
            found.append(line)
    return "\n".join(found)


def asked_words(question: str) -> list[str]:
    """The stems of the words that say what a question is about."""
    return [stem(word) for word in tokens(question) if word not in STOP | ASKING]


def root(word: str) -> str:
    """A word without what forms of it differ in: "terminate", "terminated" and "termination"."""
    bare = FORMS.sub("", IRREGULAR.get(word, word))
    return bare if len(bare) >= SHORTEST_ROOT else word


def _roots(words: Iterable[str]) -> list[str]:
    return [root(word) for word in words]


def quote_from(found: Findings, question: str, text: str, source: str) -> None:
    """Quote what speaks of the question's words; admit it when nothing does."""
    asked, every = asked_words(question), list(dict.fromkeys(sentences(text)))
    own = {*_roots(stems(source))}
    asked = [
        each for each in asked if root(each) not in own
    ] or asked  # "the agreement" is all of it
    if not asked and len(every) <= MOST_QUOTES:  # "when and where is this?"
        found.summary = f"{source} says: “{' '.join(map(cut, every))}”"
        found.lower(f"I can only quote {_inside(source)}.")
        return
    (best, *more), most = _closest(_roots(asked), every)
    lacking = _lacking(question, f"{text} {source}")
    if not best:
        about = f"with “{lacking}” in it" if lacking else "that speaks of this"
        found.summary = f"I found no sentence in {_inside(source)} {about}."
        found.lower("Only words that the question shares with the text were looked for.", "low")
        return
    if best.endswith("?"):
        _tell_question(found, best, every, source)
        return
    below = [] if more else _under(best, text)
    first = _firsts(every).get(best, best)
    inside = f", in the table that begins with “{cut(first)}”" if first != best else ""
    said = f"“{cut(best)}”{inside}{', and under it:' * bool(below)}"
    found.points = [f"“{cut(sentence)}”" for sentence in (more or below)[:MOST_QUOTES]]
    if len(below) > MOST_QUOTES:
        found.gaps.append(f"This is the first of it: {len(below) - MOST_QUOTES} more follow there.")
    if lacking or most * 2 < len(set(asked)) or WORKED_OUT.search(question):
        why = (
            f"{source} does not mention “{lacking}”"
            if lacking
            else f"I can only quote {_inside(source)}"
        )
        found.summary = f"{why}. What comes closest: {said}"
        found.lower("The sentences share words with the question; I worked nothing out.", "low")
        return
    found.summary = f"{source} says: {said}"
    found.lower("The sentences were chosen by the words they share with the question.")


def _tell_question(found: Findings, question: str, every: Sequence[str], source: str) -> None:
    """That a text asks it as well, and how it goes on: that may answer it."""
    found.summary = f"I found nothing in {_inside(source)} that answers this, only a question: “{cut(question)}”"
    after = every[every.index(question) + 1 :][:1]
    found.points = [f"It goes on: “{cut(each)}”" for each in after]
    found.lower("Only words that the question shares with the text were looked for.", "low")


def _closest(asked: Sequence[str], every: Sequence[str]) -> tuple[list[str], float]:
    """The sentences with the most of the words, first those under a heading with one of them and those of
    rare words; "" alone where there is none. And how much of the words they have."""
    said = _said(asked, every)
    scores = {each: overlap(asked, words) for each, words in said.items()}
    speaking = [each for each in every if scores[each] >= 1]
    whole = [each for each in speaking if each.endswith((".", "!", "?")) or ROW in each]
    speaking = whole or speaking  # headings tell less
    most = max((scores[each] for each in speaking), default=0.0)
    often, headings = Counter(word for words in said.values() for word in words), _headings(every)

    def nearness(each: str) -> tuple[bool, bool, float]:
        above = said.get(headings[each], set())
        asks = each.endswith("?")
        return asks, not {*asked} & above, -sum(1 / often[word] for word in {*asked} & said[each])

    closest = sorted((each for each in speaking if scores[each] == most), key=nearness)
    return closest[:MOST_QUOTES] or [""], most


def _said(asked: Sequence[str], every: Sequence[str]) -> dict[str, set[str]]:
    """The roots of the words of each sentence; of a row of a table that has one of the words, also
    those of its first row, which says what its cells are."""
    said = {sentence: {*_roots(content(sentence))} for sentence in every}
    named = {row: first for row, first in _firsts(every).items() if {*asked} & said[row]}
    return said | {row: said[row] | said[first] for row, first in named.items()}


def _firsts(every: Sequence[str]) -> dict[str, str]:
    """The first row of the table that each row is of."""
    first, found = "", {}
    for each in every:
        first = (first or each) if ROW in each else ""
        if first:
            found[each] = first
    return found


def _headings(every: Sequence[str]) -> dict[str, str]:
    """Above each sentence the last line that is none; "" where there is no such line."""
    heading, found = "", {}
    for each in every:
        heading = heading if each.endswith(ENDS) or ROW in each else each
        found[each] = heading
    return found


def _under(heading: str, text: str) -> list[str]:
    """The sentences below a heading: up to the next one of a Markdown text, else as long as lines end as
    sentences do, or are items of a list; or the rows below the first of a table; none where it is neither."""
    lines = [line for line in text.splitlines() if line.strip() and not PAGE_MARK.match(line)]
    at = next((n for n, line in enumerate(lines) if sentences(line) == [heading]), None)
    if at is None or heading.endswith(ENDS) or ITEM.match(lines[at]):
        return []
    is_marked, is_table = lines[at].startswith("#"), ROW in heading
    if is_table and at and ROW in lines[at - 1]:
        return []
    below: list[str] = []
    for line in lines[at + 1 :]:
        is_text = ROW in line if is_table else is_marked or line.endswith(ENDS) or ITEM.match(line)
        if line.startswith("#") or not is_text:
            break
        below.append(line)
    return sentences("\n".join(below))


def _inside(source: str) -> str:
    """The name of a source within a sentence."""
    return re.sub(r"^T(?=he |his )", "t", source)


def _lacking(question: str, text: str) -> str:
    """The first word of a question that a text nowhere speaks of, as it was written; "" if it has all."""
    if language(question):  # of which small words are not known
        return ""
    said = {*_roots(stems(text))}
    words = (word for word in tokens(question) if word not in STOP | ASKING and word[1:].isalpha())
    lacking = next((word for word in words if not overlap(said, [root(stem(word))])), "")
    typed = re.search(rf"\b{re.escape(lacking)}\b", question, re.IGNORECASE)
    return typed[0] if typed and lacking else lacking


def summarise(found: Findings, text: str, source: str, most: int | None = None) -> None:
    """The sentences whose words are the most frequent, in their own order; as many points as are wanted."""
    words = "\n".join(line for line in text.splitlines() if ROW not in line)
    title = TITLE.match(words)
    picked = key_sentences(words, most or MOST_PICKED)
    if title and not most:  # which says what it is about
        picked = [title[1], *(each for each in picked if each != title[1])]
    if not picked:
        found.summary = f"{source} holds no sentences to summarise."
        found.lower("The text is empty or holds no sentences.", "low")
        return
    first = 0 if most else 2
    found.summary = f"{source}, in its own words: {_in_one(picked[:first])}".rstrip()
    found.points = [cut(sentence) for sentence in picked[first:]]
    found.lower("The summary picks sentences of the text; it does not rephrase them.")
    if ROW in text:
        found.gaps.append("There is a table in it, which the summary leaves out.")


def _in_one(picked: list[str]) -> str:
    """Sentences in a row; a heading before one ends in a colon."""
    first, *more = [cut(sentence) for sentence in picked] or [""]
    return f"{first}{'' if first.endswith(ENDS) or not more else ':'} {' '.join(more)}".strip()


def key_sentences(text: str, most: int = MOST_PICKED) -> list[str]:
    """The weightiest sentences of a text, in order."""
    listed = [s for s in dict.fromkeys(sentences(text)) if len(s) >= SHORTEST]
    frequency = Counter(word for sentence in listed for word in set(content(sentence)))
    weights = {
        sentence: sum(frequency[word] for word in set(words)) / (len(words) + 4)
        for sentence in listed
        if (words := content(sentence))
    }
    chosen = sorted(weights, key=lambda sentence: -weights[sentence])[:most]
    return [sentence for sentence in listed if sentence in chosen]


def pages_of(text: str, said: str) -> str:
    """The pages that sentences of `said` stand on, as "page 2" or "pages 2 and 5"; "" for a text
    without page marks."""
    pages = [
        page
        for page, words in PAGE.findall(text)
        if any(" " in each and cut(each) in said for each in sentences(words))
    ]
    return f"page{'s' * (len(pages) > 1)} {listed(pages)}" if pages else ""


def cut(text: str) -> str:
    """A text short enough to quote."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
