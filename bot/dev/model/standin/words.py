"""Words: tokens, stems, a small table of synonyms, and how numbers are written."""

from __future__ import annotations

import re
from collections.abc import Iterable

TOKEN = re.compile(r"[a-z]+|\d+(?:\.\d+)?")
_STOP = (
    "a an the of in on at to for from and or is are was were be been do does did has have had i me "
    "my we our you your it its this that these those with about as by please can could would what "
    "which who how when where why show tell give get make find list there all any some just only "
    "not no so if then than more most us them they he she will shall may might must"
)
STOP = frozenset(_STOP.split())
SYNONYMS = (
    ("revenue", "sale", "amount", "turnover", "income", "earning", "money", "value"),
    ("quantity", "qty", "unit", "piece", "volume", "count"),
    ("price", "cheapest", "priciest", "expensive"),
    ("customer", "client", "buyer"),
    ("product", "item", "article"),
    ("region", "area", "territory"),
    ("date", "day", "time", "when", "timestamp"),
    ("since", "join"),
    ("employee", "person", "rep", "salesperson", "seller", "staff"),
    ("category", "type", "kind"),
    ("chart", "plot", "graph", "diagram", "visual", "draw"),
    ("page", "website", "url", "link", "web", "site"),
    ("file", "document", "attachment", "spreadsheet", "sheet"),
    ("message", "conversation", "discussion", "said", "chat"),
    ("database", "db", "sql"),
    ("share", "export", "save", "download", "upload", "post"),
    ("calculate", "compute", "arithmetic", "sum"),
    ("time", "zone", "clock", "hour"),
)
_GROUPS = {word: index for index, group in enumerate(SYNONYMS) for word in group}


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers, `camelCase` and `snake_case` taken apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)
    return TOKEN.findall(apart.lower())


def stem(word: str) -> str:
    """The word without its ending, roughly."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("sses", "shes", "ches", "xes"):
        if word.endswith(ending):
            return word[:-2]
    for ending, shortest in (("ing", 6), ("ed", 5)):
        if len(word) >= shortest and word.endswith(ending):
            return word[: -len(ending)]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def stems(text: str) -> list[str]:
    """Stems of all words of a text."""
    return [stem(word) for word in tokens(text)]


def content(text: str) -> list[str]:
    """Stems of the words that carry meaning."""
    return [stem(word) for word in tokens(text) if word not in STOP]


def related(one: str, other: str) -> bool:
    """Whether two stems are synonyms of each other."""
    group = _GROUPS.get(one)
    return group is not None and group == _GROUPS.get(other)


def overlap(question: Iterable[str], words: Iterable[str]) -> float:
    """How much of `words` the question speaks of: 1 for a shared stem, 0.5 for a synonym."""
    asked = set(question)
    return sum(
        1.0 if word in asked else 0.5 * any(related(word, each) for each in asked)
        for word in set(words)
    )


def has(text: str, pattern: str) -> bool:
    """Whether a pattern of whole words occurs in the text, whatever the case."""
    return re.search(rf"\b(?:{pattern})\b", text, re.IGNORECASE) is not None


def number(text: str) -> float | None:
    """A cell as a number, or None."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def shown(cell: str, decimals: int = 0) -> str:
    """A cell as people read it: thousands apart, two decimals where it needs or is told to."""
    value = number(cell)
    if value is None or re.fullmatch(r"(19|20)\d\d", cell):
        return cell
    return f"{value:,.{decimals}f}" if value == int(value) else f"{value:,.2f}"


def plural(noun: str) -> str:
    """More than one of it."""
    if noun in ("people", "staff"):
        return noun
    if re.search(r"(?:s|x|ch|sh)$", noun):
        return f"{noun}es"
    return f"{noun[:-1]}ies" if re.search(r"[^aeiou]y$", noun) else f"{noun}s"


def singular(noun: str) -> str:
    """One of it."""
    if noun.endswith("ies"):
        return f"{noun[:-3]}y"
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


def listed(words: list[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def verb(what: str) -> str:
    """ "Is" or "are", for what is named."""
    several = what.endswith("s") and not what.startswith("number of") and not what.endswith("ss")
    return "are" if several else "is"


MOST_NAMED = 3


def some_of(names: list[str]) -> str:
    """Names in bold; of many the first, and how many more there are."""
    bold = [f"**{name}**" for name in names]
    if len(bold) <= MOST_NAMED + 1:
        return listed(bold)
    return f"{', '.join(bold[:MOST_NAMED])} and {len(bold) - MOST_NAMED} more"


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning with an ellipsis, cut between words."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    return f"{(cut.rpartition(' ')[0] or cut).rstrip(' ,;:')}…"


SENTENCE_END = re.compile(
    r"(?<=[.!?])(?<!^\d\.)(?<!^\d\d\.)(?:(?<!\d\.)|(?!\s+(?:jan|feb|m[äa]r|apr|ma[iy]|jun|jul|aug|sep|o[kc]t|nov|de[zc])))\s+|\n+",
    re.IGNORECASE | re.MULTILINE,
)
"""No dot of "1. März", nor of a numbered line, ends a sentence."""


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without headings' marks and empty ones."""
    return [clean for piece in SENTENCE_END.split(text) if (clean := piece.strip(" \t#*->|•▪◦·"))]
