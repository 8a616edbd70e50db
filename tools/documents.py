"""Tools for long documents: find passages, check quotes, list headings."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bot.toolkit import (
    Artifact,
    Artifacts,
    Provided,
    Reads,
    Source,
    ToolError,
    ToolResult,
    current_room,
    tool,
)
from bot.toolkit.passages import find_passages, structure

_PAGE = re.compile(r"\[page \d+ of \d+\]")
_ALIKE = 80.0

_Handle = Annotated[str, Field(description="Handle doc_… of a document that was read.")]


@dataclass(frozen=True, slots=True)
class _Document:
    """The text of a document."""

    artifact: Artifact
    text: str

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
    handle: _Handle,
    query: Annotated[
        str, Field(min_length=1, max_length=300, description="Words that the passage should hold.")
    ],
    artifacts: Provided[Artifacts],
    limit: Annotated[int, Field(ge=1, le=30, description="Passages to show.")] = 8,
) -> ToolResult:
    """Find the passages that fit best: whole clauses or sections where these are short, each with its
    page, lines and headings. Rare words count for more than common ones."""
    document = await _read(handle, artifacts)
    found = await asyncio.to_thread(find_passages, document.text, query)
    if not found.hits:
        return document.result(
            f"None of the {found.total:,} passages of {document.name} has a word of: {query}",
            is_used=False,
        )
    shown = found.shown(current_room(), limit=limit)
    head = f"handle: {handle} · {found.fitting:,} of {found.total:,} passages fit"
    if len(found.hits) > len(shown):
        head += f" · the best {len(shown)} shown"
    return document.result(head, [f"\n{block}" for block in shown])


@tool(
    group="documents",
    summary="Check that a quote stands in a document, and on which page",
    safety=Reads(foreign=True),
    title="Check a quote in {handle}",
)
async def check_quote(
    handle: _Handle,
    quote: Annotated[
        str, Field(min_length=8, max_length=2_000, description="The quote, without quote marks.")
    ],
    artifacts: Provided[Artifacts],
) -> ToolResult:
    """Look for a quote word for word; spaces, line breaks, hyphenation, case and the form of quote
    marks do not matter. Where it does not stand, show the passage that is most alike. Check each
    quote before you use it."""
    document = await _read(handle, artifacts)
    exact, alike = await asyncio.to_thread(_compared, document.text, _plain(quote))
    if exact:
        return document.result(f"exact: it stands in {document.name}, {exact}.")
    if alike is None:
        return document.result(f"not found: nothing in {document.name} is like it.", is_used=False)
    head = f"not word for word. Most alike ({alike.score:.0f} %) is {alike.place}:"
    return document.result(head, [alike.text])


@tool(
    group="documents",
    summary="Headings of a document with their pages and lines",
    safety=Reads(foreign=True),
    title="Outline {handle}",
    narrowing=("limit",),
)
async def outline_document(
    handle: _Handle,
    artifacts: Provided[Artifacts],
    limit: Annotated[int, Field(ge=1, le=500, description="Headings to show.")] = 150,
) -> ToolResult:
    """List what looks like a heading, to see how a document is built before reading parts of it with
    read_artifact (offset is the line less one)."""
    document = await _read(handle, artifacts)
    parts = await asyncio.to_thread(structure, document.text)
    lines = [
        f"{parts.place(section.start)}: {section.label}"
        for section in parts.sections
        if section.title
    ]
    if not lines:
        none = f"{document.name} has no headings that can be told from text. Use search_document."
        raise ToolError("\n".join([none, *document.artifact.gap_notes]))
    head = f"handle: {handle} · {len(lines):,} headings"
    if len(lines) > limit:
        head += f" · the first {limit} shown"
    return document.result(head, lines[:limit])


async def _read(handle: str, artifacts: Artifacts) -> _Document:
    artifact = await artifacts.find(handle)
    if not artifact.media_type.startswith("text/"):
        raise ToolError(f"{handle} ({artifact.name}) is {artifact.media_type}, not a document.")
    text = (await artifacts.read(handle)).decode("utf-8", "replace")
    return _Document(artifact, "\n".join(text.splitlines()))


@dataclass(frozen=True, slots=True)
class _Alike:
    """The passage that is most like a quote; `score` is in per cent."""

    place: str
    text: str
    score: float


def _compared(text: str, quote: str) -> tuple[str, _Alike | None]:
    """Return where the quote begins, or else "" and the passage that is most like it.

    A quote may continue across the ends of passages and pages.
    """
    from rapidfuzz import fuzz

    parts = structure(text)
    joined, starts = "", list[int]()
    for line in text.split("\n"):
        starts.append(len(joined))
        joined += _plain(_PAGE.sub("", line))
    at = joined.find(quote)
    if at >= 0:
        return parts.place(parts.starts[bisect_right(starts, at) - 1]), None
    more = len(quote)  # of the text around a passage, over whose end a quote may go on
    scores = [
        fuzz.partial_ratio(quote, _plain(text[max(0, passage.start - more) : passage.end + more]))
        for passage in parts.passages
    ]
    score = max(scores, default=0.0)
    if score < _ALIKE:
        return "", None
    passage = parts.passages[scores.index(score)]
    words = text[passage.start : passage.end].strip()
    return "", _Alike(parts.place(passage.start, passage.end), words, score)


def _plain(text: str) -> str:
    """Return only letters and digits, in lower case: a quote may differ in everything else."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
