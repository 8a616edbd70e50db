"""Tools for saved texts: list, edit, compare, extract matches, query JSON."""

from __future__ import annotations

import asyncio
import difflib
from typing import Annotated

from pydantic import Field

from bot.toolkit import (
    Artifact,
    Artifacts,
    Interpreters,
    Provided,
    Query,
    Reads,
    Tables,
    ToolError,
    ToolResult,
    clean,
    tool,
)
from bot.toolkit.narrowing import has_words

_MOST_LINES, _LONGEST_LINE = 100_000, 300
_MOST_COMPARED = 3_000  # lines

_Handle = Annotated[str, Field(description="A handle as a tool gave it: doc_…, file_…, out_….")]


@tool(
    group="artifacts",
    summary="List what is saved in this thread, with handles",
    safety=Reads(foreign=True, repeatable=False),
    title="List what is saved",
    narrowing=("query", "limit"),
)
async def list_artifacts(
    artifacts: Provided[Artifacts],
    query: Query = None,
    limit: Annotated[int, Field(ge=1, le=200, description="The newest so many.")] = 50,
) -> ToolResult:
    """List saved tables, documents, files and charts of this thread, the newest first."""
    every = await artifacts.all()
    matching = [
        artifact
        for artifact in every
        if has_words(f"{artifact.name} {artifact.source_title}", query)
    ]
    lines = [_about(artifact) for artifact in matching[:limit]]
    head = f"{len(matching):,} saved" + (
        f" · the newest {limit} shown" if len(matching) > limit else ""
    )
    return ToolResult("\n".join([head, *lines]))


def _about(artifact: Artifact) -> str:
    size = f"{artifact.rows:,} rows or lines" if artifact.rows is not None else ""
    facts = (artifact.handle, artifact.name, size or f"{artifact.size:,} bytes")
    line = " · ".join((*facts, f"{artifact.created:%Y-%m-%d %H:%M} UTC"))
    return f"{line} · not complete: {'; '.join(artifact.left_out)}" if artifact.left_out else line


@tool(
    group="artifacts",
    summary="Change a passage of a written file",
    safety=Reads(evidence=False),
    title="Edit {handle}",
)
async def edit_file(
    handle: Annotated[str, Field(description="Handle file_… or doc_… of a text.")],
    old: Annotated[
        str, Field(min_length=1, description="The passage as it stands, word for word.")
    ],
    new: Annotated[str, Field(description="What stands there instead; empty to take it out.")],
    artifacts: Provided[Artifacts],
    everywhere: Annotated[bool, Field(description="Each time it occurs, not once.")] = False,
) -> ToolResult:
    """Replace a passage. The changed text is kept under a new handle; the old one stays as it was."""
    artifact, text = await _text(handle, artifacts)
    times = text.count(old)
    if not times:
        near = await asyncio.to_thread(_nearest, old, text)
        raise ToolError(
            f"That passage is not in {handle}. "
            + (f"The nearest line: {near}" if near else "Read it with read_artifact.")
        )
    if times > 1 and not everywhere:
        raise ToolError(f"That passage occurs {times} times. Give more of it, or set everywhere.")
    changed = clean(text.replace(old, new))
    saved = await artifacts.save(
        changed.encode(),
        name=artifact.name,
        media_type=artifact.media_type,
        prefix="file",
        rows=len(changed.splitlines()),
        left_out=artifact.left_out,
    )
    summary = f"handle: {saved.handle} · {saved.name} · {saved.rows:,} lines · replaced {times} ×"
    return ToolResult("\n".join([summary, *saved.gap_notes]), handles=(saved.handle,))


def _nearest(passage: str, text: str) -> str | None:
    """Return the line most similar to the passage, None if no line is similar.

    The number and length of the compared lines are limited, because comparing takes time.
    """
    from rapidfuzz import fuzz, process

    lines = [line[:_LONGEST_LINE] for line in text.splitlines()[:_MOST_LINES]]
    closest = process.extractOne(passage[:_LONGEST_LINE], lines, scorer=fuzz.ratio, score_cutoff=50)
    return closest[0] if closest else None


@tool(
    group="artifacts",
    summary="Compare two saved texts line by line",
    safety=Reads(foreign=True),
    title="Compare two texts",
    narrowing=("limit",),
)
async def compare_texts(
    before: _Handle,
    after: _Handle,
    artifacts: Provided[Artifacts],
    limit: Annotated[int, Field(ge=1, le=2000, description="Lines of the difference.")] = 300,
) -> ToolResult:
    """Show the difference as a unified diff: lines with - are only in the first, with + only in the
    second."""
    (old, first), (new, second) = await _text(before, artifacts), await _text(after, artifacts)

    gaps = [*old.gap_notes, *new.gap_notes]
    names = f"{before} {old.name}", f"{after} {new.name}"
    differences = await asyncio.to_thread(_differences, first, second, names)
    if not differences:
        return ToolResult("\n".join(["The texts are equal, line by line.", *gaps]))
    added = sum(line.startswith("+") for line in differences) - 1
    removed = sum(line.startswith("-") for line in differences) - 1
    head = [f"{removed:,} lines went, {added:,} came", *gaps]
    cut = [f"[{len(differences) - limit:,} more lines]"] if len(differences) > limit else []
    return ToolResult("\n".join([*head, *differences[:limit], *cut]))


def _alike(one: list[str], other: list[str]) -> int:
    """Return the number of equal lines at the beginning of both lists."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def _differences(first: str, second: str, names: tuple[str, str]) -> list[str]:
    """Return a unified diff. Raises ToolError if the texts differ over too many lines.

    The time grows with the square of the distance between the first and the last difference, and
    nothing can end the thread that compares them.
    """
    before, after = first.splitlines(), second.splitlines()
    same = _alike(before, after)
    rest = _alike(before[same:][::-1], after[same:][::-1])
    if max(len(before), len(after)) - same - rest > _MOST_COMPARED:
        raise ToolError(
            f"The texts differ over more than {_MOST_COMPARED:,} lines. Compare parts of them, or ask "
            "for what is in one of them with search_artifact."
        )
    return list(difflib.unified_diff(before, after, *names, lineterm="", n=1))


@tool(
    group="artifacts",
    summary="Collect every match of a pattern in a saved text as a table",
    safety=Reads(foreign=True),
    title="Collect {pattern} from {handle}",
    narrowing=("limit",),
)
async def extract_matches(
    handle: _Handle,
    pattern: Annotated[
        str,
        Field(
            min_length=1,
            max_length=500,
            description="Regular expression; named groups (?P<amount>…) become columns.",
        ),
    ],
    artifacts: Provided[Artifacts],
    tables: Provided[Tables],
    interpreters: Provided[Interpreters],
    limit: Annotated[int, Field(ge=1, le=200, description="Rows to show; all are kept.")] = 20,
) -> ToolResult:
    """Turn what a log or document repeats into a table tbl_… with the line of each match."""
    artifact, text = await _text(handle, artifacts)
    columns, rows = await interpreters.matches("\n".join(text.splitlines()), pattern)
    if not rows:
        return ToolResult(
            "\n".join([f"Nothing in {handle} matches {pattern}.", *artifact.gap_notes])
        )
    table = await tables.save(
        columns, rows, name=f"matches in {artifact.name}", left_out=artifact.left_out
    )
    return ToolResult(await tables.shown(table, limit=limit), handles=(table.handle,))


@tool(
    group="artifacts",
    summary="Ask a saved JSON text with a JMESPath expression",
    safety=Reads(foreign=True),
    title="Ask {handle}: {expression}",
    narrowing=("expression",),
)
async def query_json(
    handle: _Handle,
    expression: Annotated[
        str,
        Field(
            min_length=1,
            max_length=1_000,
            description="JMESPath, as items[?price > `10`].{id: id, price: price}; @ is the whole.",
        ),
    ],
    artifacts: Provided[Artifacts],
    tables: Provided[Tables],
    interpreters: Provided[Interpreters],
) -> ToolResult:
    """Pick values out of nested JSON. A list of objects with plain values also becomes a table."""
    artifact, text = await _text(handle, artifacts)
    output, columns, rows = await interpreters.select(text, expression)
    output = "\n".join([*artifact.gap_notes, output])
    if not columns:
        return ToolResult(output)
    table = await tables.save(
        columns, rows, name=f"from {artifact.name}", left_out=artifact.left_out
    )
    about_table = await tables.shown(table, compact=True)
    return ToolResult(f"{about_table}\n{output}", handles=(table.handle,))


async def _text(handle: str, artifacts: Artifacts) -> tuple[Artifact, str]:
    artifact = await artifacts.find(handle)
    if not artifact.media_type.startswith(("text/", "application/json")):
        raise ToolError(f"{handle} ({artifact.name}) is {artifact.media_type}, not text.")
    return artifact, (await artifacts.read(handle)).decode("utf-8", "replace")
