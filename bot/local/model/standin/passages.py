"""Finds the sentences of a text that matter, and quotes them."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile

from .findings import Findings
from .languages import language
from .words import STOP, content, overlap, sentences, stem, stems, tokens

WORKED_OUT = re.compile(
    r"\b(how (?:many|often)|count|compare|differ\w*|versus|vs|should (?:we|i)|better)\b", re.I
)
"""What no quotation answers."""
_ASKING = "people everyone everybody anyone anybody someone somebody many much often long say says mention mentions anything something get got go goes need still now one ones again exactly actually already yet"
ASKING = frozenset(_ASKING.split())
ALL = re.compile(r"\b(?:all|every|each|list|full|complete)\b", re.IGNORECASE)
MOST_QUOTES, MOST_LISTED = 4, 60
LONGEST = 280
ENDS = (".", "!", "?", ":", "…")
SHORTEST = 20
LONGEST_HEADING = 60
UNDER = 0.5
"""What a word of its heading counts for a sentence."""
PAGE = re.compile(r"^\[page (\d+) of \d+\]\n(.*?)(?=^\[page |\Z)", re.M | re.S)


def quote_from(found: Findings, question: str, text: str, source: str) -> None:
    """Quote what speaks of the question's words; admit it when nothing does."""
    asked = content(ALL.sub(" ", question))
    text = _with_rows_in_words(text)
    if not asked and len(sentences(text)) <= MOST_QUOTES:  # "when and where is this?"
        found.summary = f"{source} says: “{' '.join(map(cut, sentences(text)))}”"
        found.lower(f"I can only quote {_inside(source)}.")
        return
    scored = [
        (
            overlap(asked, content(sentence)) + UNDER * overlap(asked, content(heading)),
            -place,
            sentence,
        )
        for place, (sentence, heading) in enumerate(_with_headings(text).items())
    ]
    best = [each for each in sorted(scored, reverse=True) if each[0] >= 1]
    # Headings tell less.
    whole = [each for each in best if re.search(r"\w\W+\w.*[.!?]$", each[2])]
    best = whole or best
    if best and (ALL.search(question) or best[0][0] >= len(set(asked))):
        best = [each for each in best if each[0] == best[0][0]]
    if ALL.search(question) and len(best) > MOST_QUOTES:
        _list(found, [sentence for _, _, sentence in best], source)
        return
    best = best[:MOST_QUOTES]
    lacking = _lacking(question, f"{text} {source}")
    inside = _inside(source)
    if not best:
        found.summary = f"I found nothing in {inside} {f'about “{lacking}”' if lacking else 'that speaks of this'}."
        found.lower("Only words that the question shares with the text were looked for.", "low")
        return
    quoted, under = f"“{cut(best[0][2])}”", ""
    if not whole and (below := _below(best[0][2], text)):
        quoted, under = f"“{cut(below)}”", f" under {quoted}"
        best = best[:1]
    found.points = [f"“{cut(sentence)}”" for _, _, sentence in best[1:]]
    if lacking or best[0][0] * 2 < len(set(asked)) or WORKED_OUT.search(question):
        why = f"{source} does not mention “{lacking}”" if lacking else f"I can only quote {inside}"
        found.summary = f"{why}. What comes closest: {quoted}"
        found.lower("The sentences share words with the question; I worked nothing out.", "low")
        return
    found.summary = f"{source} says{under}: {quoted}"
    found.lower("The sentences were chosen by the words they share with the question.")


def _with_rows_in_words(text: str) -> str:
    """A text with each row of its tables as a sentence: "Country: Japan; Per diem: 66."."""
    told: list[str] = []
    header: list[str] = []
    for line in text.split("\n"):
        cells = [cell.strip() for cell in line.split(" | ")]
        if len(cells) < 2:
            header = []
            told.append(line)
        elif not header:
            header = cells
        else:
            pairs = zip(header, cells, strict=False)
            told.append("; ".join(f"{name}: {cell}" for name, cell in pairs if cell) + ".")
    return "\n".join(told)


def _with_headings(text: str) -> dict[str, str]:
    """Every sentence once, with the heading that it stands under; "" without."""
    found: dict[str, str] = {}
    heading = ""
    for sentence in sentences(text):
        is_heading = not sentence.endswith(ENDS) and len(sentence) < LONGEST_HEADING
        found.setdefault(sentence, "" if is_heading else heading)
        heading = sentence if is_heading else heading
    return found


def _list(found: Findings, every: list[str], source: str) -> None:
    """All sentences that were asked for; of very many the first, and how many there are."""
    found.summary = f"{source} has {len(every)} sentences that speak of it:"
    found.points = [f"“{cut(sentence)}”" for sentence in every[:MOST_LISTED]]
    if len(every) > MOST_LISTED:
        found.lower(f"These are the first {MOST_LISTED}; {len(every) - MOST_LISTED} more follow.")
    found.lower("The sentences were chosen by the words they share with the question.")


def _inside(source: str) -> str:
    """The name of a source within a sentence."""
    return re.sub(r"^T(?=he |his )", "t", source)


def _lacking(question: str, text: str) -> str:
    """The first word of a question that a text nowhere speaks of, as it was written; "" if it has all."""
    if language(question):  # of which small words are not known
        return ""
    said = set(stems(text))
    words = (
        word
        for word in tokens(question)
        if word not in STOP | ASKING and len(word) > 1 and word.isalpha()
    )
    return next((word for word in words if not overlap(said, [stem(word)])), "")


def _below(heading: str, text: str) -> str:
    """What stands right below a heading."""
    every = sentences(text)
    at = every.index(heading) if heading in every else len(every)
    return " ".join(
        takewhile(
            lambda each: each.endswith((".", "!", "?")) and len(each) >= SHORTEST,
            every[at + 1 : at + 4],
        )
    )


def summarise(found: Findings, text: str, source: str) -> None:
    """The sentences whose words are the most frequent, in their own order."""
    picked = key_sentences(text)
    if not picked:
        found.summary = f"{source} holds no sentences to summarise."
        found.lower("The text is empty or holds no sentences.", "low")
        return
    found.summary = f"{source}, in its own words: {_in_one(picked[:2])}"
    found.points = [cut(sentence) for sentence in picked[2:]]
    found.lower("The summary picks sentences of the text; it does not rephrase them.")
    if " | " in text:
        found.gaps.append("There is a table in it, which the summary leaves out.")


def _in_one(picked: list[str]) -> str:
    """Sentences in a row; a heading before one ends in a colon."""
    first, *more = (cut(sentence) for sentence in picked)
    return f"{first}{'' if first.endswith(ENDS) or not more else ':'} {' '.join(more)}".strip()


def key_sentences(text: str, most: int = 6) -> list[str]:
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


def tasks(text: str) -> list[str]:
    """The lines that give somebody something to do, as "Ben: fix the login by Friday"."""
    named = re.findall(
        r"^[-*\d.)\s\[\]x]*([A-Z][\w ]{1,30}(?:: | (?:will|needs? to|has to|must|should) ).+)$",
        text,
        re.MULTILINE,
    )
    return [cut(each) for each in named if not re.match(r"(?:Attendees|Date|Subject|Note)", each)]


def pages_of(text: str, said: str) -> str:
    """The pages that sentences of `said` stand on, as "2, 5"; "" for a text without page marks."""
    return ", ".join(
        page
        for page, words in PAGE.findall(text)
        if any(" " in each and cut(each) in said for each in sentences(words))
    )


def cut(text: str) -> str:
    """A text short enough to quote."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
