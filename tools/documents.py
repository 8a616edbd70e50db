"""Long documents: found passages with their pages, quotes that are checked, and the outline."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from bot.toolkit import Artifacts, Provided, Source, ToolError, ToolResult, tool

_PAGE = re.compile(r"\[page (\d+) of \d+\]")
_HEADING = re.compile(r"#{1,6} \S|(?:\d+\.)+\d* +[A-Z]\S|(?:Chapter|Section|Part|Article|§) ?\d")
_LONGEST_HEADING = 120
_LONGEST_PASSAGE = 1_500
_ALIKE = 80.0

_Document = Annotated[str, Field(description="Handle doc_… of a document that was read.")]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A paragraph; `line` counts from 1, `page` is None where the document has none."""

    page: int | None
    line: int
    text: str

    @property
    def place(self) -> str:
        return f"page {self.page}, line {self.line}" if self.page else f"line {self.line}"


@tool(
    group="documents",
    summary="Find passages of a long document, with page numbers",
    title="Search {handle} for {query}",
    narrowing=("query", "limit"),
    foreign=True,
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
    name, source, passages = await _read(handle, artifacts)
    ranked = await asyncio.to_thread(_ranked, passages, query)
    if not ranked:
        return ToolResult(
            f"None of the {len(passages):,} passages of {name} has a word of: {query}"
        )
    shown = "\n\n".join(
        f"[{each.place}]\n{each.text[:_LONGEST_PASSAGE]}" for each in ranked[:limit]
    )
    head = f"handle: {handle} · {len(ranked):,} of {len(passages):,} passages fit"
    return ToolResult(f"{head}\n\n{shown}", (source,))


@tool(
    group="documents",
    summary="Check that a quote stands in a document, and on which page",
    title="Check a quote in {handle}",
    foreign=True,
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
    name, source, passages = await _read(handle, artifacts)
    exact, alike = await asyncio.to_thread(_compared, passages, _plain(quote))
    if exact:
        return ToolResult(f"exact: it stands in {name}, {exact.place}.", (source,))
    if alike is None:
        return ToolResult(f"not found: nothing in {name} is like it.")
    passage, score = alike
    return ToolResult(
        f"not word for word. Most alike ({score:.0f} %) is {passage.place}:\n"
        f"{passage.text[:_LONGEST_PASSAGE]}",
        (source,),
    )


@tool(
    group="documents",
    summary="Headings of a document with their pages and lines",
    title="Outline {handle}",
    narrowing=("limit",),
    foreign=True,
)
async def outline_document(
    handle: _Document,
    artifacts: Provided[Artifacts],
    limit: Annotated[int, Field(ge=1, le=500, description="Headings to show.")] = 150,
) -> ToolResult:
    """List what looks like a heading, to see how a document is built before reading parts of it with
    read_artifact (offset is the line less one)."""
    name, source, passages = await _read(handle, artifacts)
    lines = [
        f"{each.place}: {first}"
        for each in passages
        if len(first := each.text.split("\n", 1)[0].strip()) <= _LONGEST_HEADING
        and _HEADING.match(first)
    ]
    if not lines:
        raise ToolError(f"{name} has no headings that can be told from text. Use search_document.")
    head = f"handle: {handle} · {len(lines):,} headings"
    return ToolResult("\n".join([head, *lines[:limit]]), (source,))


async def _read(handle: str, artifacts: Artifacts) -> tuple[str, Source, list[_Passage]]:
    artifact = await artifacts.find(handle)
    if not artifact.media_type.startswith("text/"):
        raise ToolError(f"{handle} ({artifact.name}) is {artifact.media_type}, not a document.")
    text = (await artifacts.read(handle)).decode("utf-8", "replace")
    title = artifact.source_title or artifact.name
    source = Source(title=title, url=artifact.source_url, supports="What was found in it.")
    return title, source, await asyncio.to_thread(lambda: list(_passages(text)))


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
    """Passages with any of the words, by the sum of how rare each of theirs is."""
    wanted = set(_words(query))
    found = [(wanted.intersection(_words(each.text)), each) for each in passages]
    having = {word: sum(word in words for words, _ in found) for word in wanted}
    scored = [(sum(1 / having[w] for w in words), each) for words, each in found if words]
    return [each for _, each in sorted(scored, key=lambda pair: (-pair[0], pair[1].line))]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def _compared(
    passages: list[_Passage], quote: str
) -> tuple[_Passage | None, tuple[_Passage, float] | None]:
    """Where the quote stands, over the ends of paragraphs and pages too; else what is most alike."""
    from rapidfuzz import fuzz

    joined, starts = "", list[int]()
    for each in passages:
        starts.append(len(joined))
        joined += _plain(each.text)
    at = joined.find(quote)
    if at >= 0:
        before = [each for start, each in zip(starts, passages, strict=True) if start <= at]
        return before[-1], None
    scored = [(fuzz.partial_ratio(quote, _plain(each.text)), each) for each in passages]
    score, best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    return None, (best, score) if best is not None and score >= _ALIKE else None


def _plain(text: str) -> str:
    """Letters and digits alone: a quote is the same whatever stands between them."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
