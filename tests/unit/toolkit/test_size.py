"""Large outputs stay out of the conversation: a preview and a handle instead (D7, D8)."""

from __future__ import annotations

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.answers import Source
from bot.toolkit import ToolResult, tool
from bot.toolkit.size import allowed_size, limited, preview
from tests.support.artifacts import MemoryArtifacts


@tool(group="g", summary="s", narrowing=("query", "limit"))
async def search(query: str, limit: int = 10) -> str:
    "Searches."
    return query * limit


# Short lines, long lines, lines of other alphabets, and every kind of line end.
LINES = st.lists(st.text(max_size=60) | st.text("ab é😀", min_size=200, max_size=900), max_size=60)
TEXTS = st.builds(str.join, st.sampled_from(["\n", "\r\n", "\u2028", ""]), LINES)

HIDDEN = re.compile(r"\[… [\d,]+ lines not shown …\]")


def narrowed(text: str, allowed: int) -> tuple[ToolResult, MemoryArtifacts]:
    kept = MemoryArtifacts()
    return asyncio.run(limited(ToolResult(text), search.tool, allowed, kept)), kept


@given(TEXTS, st.integers(500, 5_000))
def test_whatever_comes_fits_and_nothing_is_lost(text: str, allowed: int) -> None:
    """Never more than allowed; what is taken out is under the handle, byte for byte."""
    result, kept = narrowed(text, allowed)
    assert len(result.content) <= allowed
    if len(text) <= allowed:
        assert result.content == text
        return
    [(artifact, data)] = kept.kept.values()
    assert data.decode() == text.encode("utf-8", "replace").decode()
    assert artifact.handle in result.content
    assert artifact.handle in result.handles
    assert artifact.sha256.startswith(re.findall(r"sha256 (\w+)", result.content)[0])


@given(TEXTS, st.integers(0, 2_000))
def test_a_preview_shows_whole_lines_from_both_ends(text: str, size: int) -> None:
    """No line is cut, none is shown twice, and what is left out is counted."""
    shown = preview(text, size)
    assert len(shown) <= size
    lines, parts = text.splitlines(), shown.split("\n")
    marks = [n for n, part in enumerate(parts) if HIDDEN.fullmatch(part)]
    if len(marks) == 1:
        head, mark, tail = parts[: marks[0]], parts[marks[0]], parts[marks[0] + 1 :]
        assert lines[: len(head)] == head
        assert lines[len(lines) - len(tail) :] == tail
        assert mark == f"[… {len(lines) - len(head) - len(tail):,} lines not shown …]"


def test_one_long_line_is_shown_from_both_ends() -> None:
    """JSON without line ends is common; its characters stay whole."""
    shown = preview("😀" * 5_000 + "é" * 5_000, 500)
    assert shown.startswith("😀" * 200)
    assert shown.endswith("é" * 200)
    assert set(shown) - set("😀é") <= set("\n[…]the middle of long lines is not shown")


def test_the_notice_says_size_handle_and_how_to_ask_for_less() -> None:
    """Feedback that the model can act on."""
    result, kept = narrowed("\n".join(f"row {n}" for n in range(10_000)), 2_000)
    [(artifact, data)] = kept.kept.values()
    assert f"{len(data):,} characters, 2,000 are allowed" in result.content
    assert f"handle: {artifact.handle} · 10,000 lines · {len(data):,} bytes" in result.content
    assert "Ask for less with query, limit." in result.content
    assert "row 0\n" in result.content
    assert result.content.endswith("row 9999")


def test_five_percent_are_shown_when_there_is_room() -> None:
    """D7: not as much as would fit."""
    text = "\n".join(f"row {n}" for n in range(5_000))
    result, _ = narrowed(text, 20_000)
    assert 0.03 * len(text) < len(result.content) < 0.05 * len(text) + 400


def test_sources_stay_with_a_large_output() -> None:
    """Its links may still be posted."""
    source = Source(title="t", url="https://example.org/", supports="all")
    large = ToolResult("x" * 2_000, sources=(source,), handles=("tbl_1",))
    result = asyncio.run(limited(large, search.tool, 1_000, MemoryArtifacts()))
    assert result.sources == (source,)
    assert result.handles[0] == "tbl_1"


def test_lone_surrogates_are_kept_as_question_marks() -> None:
    """Issue 2, bad input: such text cannot be stored, and must not end the run."""
    _, kept = narrowed("\ud800" * 1_000, 500)
    [(_, data)] = kept.kept.values()
    assert data == b"?" * 1_000


@pytest.mark.parametrize(
    ("window", "ratio", "allowed"),
    [
        (0, 0.9, 20_000),
        (400_000, 0.1, 20_000),
        (20_000, 0.5, 10_000),
        (20_000, 0.99, 500),
        (9, 2, 500),
    ],
)
def test_the_limit_shrinks_as_the_context_fills(window: int, ratio: float, allowed: int) -> None:
    """D7: a share of what context is left, and never so little that a handle would not fit."""
    assert allowed_size(20_000, window, ratio) == allowed
