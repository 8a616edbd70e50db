"""Large outputs stay out of the conversation: a preview and a handle instead (D7, D8)."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.testing.artifacts import MemoryArtifacts
from bot.text.token_estimate import estimated_tokens
from bot.toolkit import Artifact, tool
from bot.toolkit.size import Room, limited, preview, room_for_calls, saved_handle


@tool(group="g", summary="s", narrowing=("query", "limit"))
async def search(query: str, limit: int = 10) -> str:
    "Searches."
    return query * limit


# Short lines, long lines, lines of other alphabets, and every kind of line end.
LINES = st.lists(st.text(max_size=60) | st.text("ab é😀", min_size=200, max_size=900), max_size=60)
TEXTS = st.builds(str.join, st.sampled_from(["\n", "\r\n", "\u2028", ""]), LINES)

HIDDEN = re.compile(r"\[… [\d,]+ lines not shown …\]")


def narrowed(text: str, allowed: int, tokens: int = 0) -> tuple[str, MemoryArtifacts]:
    kept, narrowing = MemoryArtifacts(), search.tool.narrowing
    short = limited(text, Room(allowed, tokens), kept, name="search", narrowing=narrowing)
    return asyncio.run(short), kept


@given(TEXTS, st.integers(500, 5_000))
def test_whatever_comes_fits_and_nothing_is_lost(text: str, allowed: int) -> None:
    """Never more than allowed; what is taken out is under the handle, byte for byte."""
    result, kept = narrowed(text, allowed)
    assert len(result) <= allowed
    if len(text) <= allowed:
        assert result == text
        return
    [(artifact, data)] = kept.kept.values()
    assert data.decode() == text.encode("utf-8", "replace").decode()
    assert artifact.handle in result
    assert saved_handle(result) == artifact.handle
    assert artifact.sha256.startswith(re.findall(r"sha256 (\w+)", result)[0])


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
    assert f"{len(data):,} characters, 2,000 are allowed" in result
    assert f"handle: {artifact.handle} · 10,000 lines · {len(data):,} bytes" in result
    assert "Ask for less with query, limit." in result
    assert "row 0\n" in result
    assert result.endswith("row 9999")


def test_five_percent_are_shown_when_there_is_room() -> None:
    """D7: not as much as would fit."""
    text = "\n".join(f"row {n}" for n in range(5_000))
    result, _ = narrowed(text, 20_000)
    assert 0.03 * len(text) < len(result) < 0.05 * len(text) + 400


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
    assert room_for_calls(20_000, window, ratio, 1)[1].characters == allowed


DENSE = ("word ", "1.25,3.5\n", "漢字", "ไทย", "дом ", "🧑‍🚀", "{}[]", "a1B2", "\n")
"""Scripts and notations, from four letters to a token to a token for each character."""


@given(st.lists(st.sampled_from(DENSE), max_size=3_000).map("".join), st.integers(125, 2_000))
def test_tokens_bound_what_is_dense(text: str, tokens: int) -> None:
    """D7: whatever the script, with the handle of the whole where something is left out."""
    result, kept = narrowed(text, 20_000, tokens)
    assert estimated_tokens(result) <= tokens
    assert (result == text) == (not kept.kept)
    if kept.kept:
        assert saved_handle(result) in kept.kept


def test_an_output_that_cannot_be_saved_is_previewed() -> None:
    """D7: the call was made; a store that is away does not turn its output into a failure."""

    class Away(MemoryArtifacts):
        async def save(self, data: bytes, **facts: Any) -> Artifact:
            raise ConnectionError("the store is away")

    text = "\n".join(f"line {n}" for n in range(5_000))
    shown = asyncio.run(limited(text, Room(1_000), Away(), name="search"))
    assert "could not be saved now" in shown
    assert "line 0" in shown
    assert len(shown) <= 1_000
