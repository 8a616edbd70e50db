"""Tools for long documents: find passages, check quotes, list headings."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bot.toolkit import Artifact, Artifacts, Provided, Reads, Source, ToolError, ToolResult, tool

_PAGE = re.compile(r"\[page (\d+) of \d+\]")
_HEADING = re.compile(r"#{1,6} \S|(?:\d+\.)+\d* +[A-Z]\S|(?:Chapter|Section|Part|Article|§) ?\d")
_LONGEST_HEADING = 120
_LONGEST_PASSAGE = 1_500
_MOST_PLACES = 20
"""Occurrences of each word that are considered for the shown part of a long passage."""
_ALIKE = 80.0

_Document = Annotated[str, Field(description="Handle doc_… of a document that was read.")]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A paragraph. `line` counts from 1; `page` is None in a document without pages."""

    page: int | None
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"page {self.page}, line {self.line}" if self.page else f"line {self.line}"


@dataclass(frozen=True, slots=True)
class _Text:
    """The passages of a document, in order."""

    artifact: Artifact
    passages: list[_Passage]

    @property
    def name(self) -> str:
        return self.artifact.source_title or self.artifact.name

    def result(self, head: str, shown: Sequence[str] = (), *, is_used: bool = True) -> ToolResult:
        """Return a result: `head`, notes on parts that are missing from the text, then `shown`.

        The document is a source of the result if `is_used`.
        """
        source = Source(
            title=self.name, url=self.artifact.source_url, supports="What was found in it."
        )
        text = "\n".join([head, *self.artifact.gap_notes, *shown])
        return ToolResult(text, (source,) if is_used else ())


@tool(
    group="documents",
    summary="Find passages of a long document, with page numbers",
    safety=Reads(foreign=True),
    title="Search {handle} for {query}",
    narrowing=("query", "limit"),
)
async def search_document(
    handle: _Document,
    query: Annotated[
        str, Field(min_length=1, max_length=300, description="Words that the passage should hold.")
    ],
    artifacts: Provided[Artifacts],
    limit: Annotated[int, Field(ge=1, le=30, description="Passages to show.")] = 8,
) -> ToolResult:
    """Find the passages with the most of the words, the best first, each with its page and line. Rare
    words count for more than common ones."""
    text = await _read(handle, artifacts)
    ranked = await asyncio.to_thread(_ranked, text.passages, query)
    count = len(text.passages)
    if not ranked:
        return text.result(
            f"None of the {count:,} passages of {text.name} has a word of: {query}", is_used=False
        )
    head = f"handle: {handle} · {len(ranked):,} of {count:,} passages fit"
    if len(ranked) > limit:
        head += f" · the best {limit} shown"
    words = set(_words(query))
    return text.result(
        head, [f"\n[{passage.place}]\n{_around(passage.text, words)}" for passage in ranked[:limit]]
    )


@tool(
    group="documents",
    summary="Check that a quote stands in a document, and on which page",
    safety=Reads(foreign=True),
    title="Check a quote in {handle}",
)
async def check_quote(
    handle: _Document,
    quote: Annotated[
        str, Field(min_length=8, max_length=2_000, description="The quote, without quote marks.")
    ],
    artifacts: Provided[Artifacts],
) -> ToolResult:
    """Look for a quote word for word; spaces, line breaks, hyphenation, case and the form of quote
    marks do not matter. Where it does not stand, show the passage that is most alike. Check each
    quote before you use it."""
    text = await _read(handle, artifacts)
    exact, alike = await asyncio.to_thread(_compared, text.passages, _plain(quote))
    if exact:
        return text.result(f"exact: it stands in {text.name}, {exact.place}.")
    if alike is None:
        return text.result(f"not found: nothing in {text.name} is like it.", is_used=False)
    passage, score = alike
    head = f"not word for word. Most alike ({score:.0f} %) is {passage.place}:"
    return text.result(head, [_around(passage.text, set(_words(quote)))])


@tool(
    group="documents",
    summary="Headings of a document with their pages and lines",
    safety=Reads(foreign=True),
    title="Outline {handle}",
    narrowing=("limit",),
)
async def outline_document(
    handle: _Document,
    artifacts: Provided[Artifacts],
    limit: Annotated[int, Field(ge=1, le=500, description="Headings to show.")] = 150,
) -> ToolResult:
    """List what looks like a heading, to see how a document is built before reading parts of it with
    read_artifact (offset is the line less one)."""
    text = await _read(handle, artifacts)
    lines = [
        f"{passage.place}: {first}"
        for passage in text.passages
        if len(first := passage.text.split("\n", 1)[0].strip()) <= _LONGEST_HEADING
        and _HEADING.match(first)
    ]
    if not lines:
        none = f"{text.name} has no headings that can be told from text. Use search_document."
        raise ToolError("\n".join([none, *text.artifact.gap_notes]))
    head = f"handle: {handle} · {len(lines):,} headings"
    if len(lines) > limit:
        head += f" · the first {limit} shown"
    return text.result(head, lines[:limit])


async def _read(handle: str, artifacts: Artifacts) -> _Text:
    artifact = await artifacts.find(handle)
    if not artifact.media_type.startswith("text/"):
        raise ToolError(f"{handle} ({artifact.name}) is {artifact.media_type}, not a document.")
    text = (await artifacts.read(handle)).decode("utf-8", "replace")
    return _Text(artifact, await asyncio.to_thread(lambda: list(_passages(text))))


def _passages(text: str) -> Iterator[_Passage]:
    page: int | None = None
    began, lines = 0, list[str]()
    for number, line in enumerate([*text.splitlines(), ""], 1):
        marker = _PAGE.fullmatch(line.strip())
        heading = line.startswith("#")
        if (marker or heading or not line.strip()) and lines:
            yield _Passage(page, began, "\n".join(lines))
            lines = []
        if marker:
            page = int(marker[1])
        elif line.strip():
            began = began if lines else number
            lines.append(line)


def _ranked(passages: list[_Passage], query: str) -> list[_Passage]:
    """Return passages with any word of the query, sorted by the total rarity of these words."""
    query_words = set(_words(query))
    matches = [(query_words.intersection(_words(passage.text)), passage) for passage in passages]
    having = {word: sum(word in words for words, _ in matches) for word in query_words}
    scored = [(sum(1 / having[w] for w in words), passage) for words, passage in matches if words]
    return [passage for _, passage in sorted(scored, key=lambda pair: (-pair[0], pair[1].line))]


def _around(text: str, words: set[str]) -> str:
    """Return a passage, or the part of a long one with the most words; … marks a cut."""
    if len(text) <= _LONGEST_PASSAGE:
        return text
    places: dict[str, list[int]] = {word: [] for word in words}
    for match in re.finditer(r"\w+", text):
        if match[0].casefold() in places:
            places[match[0].casefold()].append(match.start())
    starts = [
        max(0, place - _LONGEST_PASSAGE // 4)
        for at in places.values()
        for place in at[:_MOST_PLACES]
    ]

    def held(start: int) -> int:
        end = start + _LONGEST_PASSAGE
        return sum(any(start <= place < end for place in at) for at in places.values())

    start = max(sorted(starts), key=held, default=0)
    end = start + _LONGEST_PASSAGE
    return f"{'…' * (start > 0)}{text[start:end]}{'…' * (end < len(text))}"


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _compared(
    passages: list[_Passage], quote: str
) -> tuple[_Passage | None, tuple[_Passage, float] | None]:
    """Return the passage where the quote begins, or else the most similar passage and its score.

    A quote may continue across the ends of paragraphs and pages.
    """
    from rapidfuzz import fuzz

    joined, starts = "", list[int]()
    for passage in passages:
        starts.append(len(joined))
        joined += _plain(passage.text)
    at = joined.find(quote)
    if at >= 0:
        before = [passage for start, passage in zip(starts, passages, strict=True) if start <= at]
        return before[-1], None
    scored = [(fuzz.partial_ratio(quote, _plain(passage.text)), passage) for passage in passages]
    score, best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return None, (best, score) if best is not None and score >= _ALIKE else None


def _plain(text: str) -> str:
    """Return only letters and digits, in lower case: a quote may differ in everything else."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
