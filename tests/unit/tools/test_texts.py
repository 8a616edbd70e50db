"""Saved texts and documents: listed, changed, compared, picked from, quoted."""

from __future__ import annotations

import pytest

from bot.core.errors import ToolError
from bot.toolkit import Artifact
from tests.support.artifacts import MemoryArtifacts
from tools import documents, texts

POLICY = """\
[page 1 of 2]
# Leave policy

Every employee has 30 days
of leave each year.

[page 2 of 2]
2.1 Sick leave

A doctor's note is needed from the third day on."""


async def kept(artifacts: MemoryArtifacts, text: str, name: str = "policy.pdf.txt") -> Artifact:
    return await artifacts.save(text.encode(), name=name, media_type="text/plain", prefix="doc")


async def test_what_is_saved_is_listed_the_newest_first(artifacts: MemoryArtifacts) -> None:
    first, second = await kept(artifacts, "a", "a.md"), await kept(artifacts, "b", "b.md")
    listed = (await texts.list_artifacts(artifacts)).content.splitlines()
    assert listed[0] == "2 saved"
    assert [line.split()[0] for line in listed[1:]] == [second.handle, first.handle]


async def test_a_passage_is_replaced_and_the_old_text_stays(artifacts: MemoryArtifacts) -> None:
    old = await kept(artifacts, "one\ntwo\none", "plan.md")
    result = await texts.edit_file(old.handle, "two", "2", artifacts)
    assert await artifacts.read(result.handles[0]) == b"one\n2\none"
    assert await artifacts.read(old.handle) == b"one\ntwo\none"
    with pytest.raises(ToolError, match="occurs 2 times"):
        await texts.edit_file(old.handle, "one", "1", artifacts)
    with pytest.raises(ToolError, match="nearest line: two"):
        await texts.edit_file(old.handle, "twoo", "2", artifacts)


async def test_texts_are_compared(artifacts: MemoryArtifacts) -> None:
    old, new = await kept(artifacts, "a\nb\nc"), await kept(artifacts, "a\nB\nc")
    shown = (await texts.compare_texts(old.handle, new.handle, artifacts)).content
    assert shown.startswith("1 lines went, 1 came")
    assert "-b\n+B" in shown
    same = await texts.compare_texts(old.handle, old.handle, artifacts)
    assert same.content == "The texts are equal, line by line."


async def test_matches_become_a_table(artifacts: MemoryArtifacts) -> None:
    log = await kept(artifacts, "start\n2026-01-01 12.50 EUR\n2026-01-02 3 EUR")
    pattern = r"(?P<day>\S+) (?P<sum>[\d.]+) EUR"
    shown = (await texts.extract_matches(log.handle, pattern, artifacts)).content
    assert "columns: line BIGINT, day DATE" in shown
    assert shown.endswith("2,2026-01-01,12.50\n3,2026-01-02,3")
    with pytest.raises(ToolError, match="not a valid regular expression"):
        await texts.extract_matches(log.handle, "(", artifacts)


async def test_nested_json_is_asked(artifacts: MemoryArtifacts) -> None:
    given = await kept(artifacts, '{"a": {"items": [{"id": 1, "p": 2}, {"id": 2, "p": 30}]}}')
    found = await texts.query_json(given.handle, "a.items[?p > `10`].id", artifacts)
    assert found.content == "[\n 2\n]"
    assert (await texts.query_json(given.handle, "a.items", artifacts)).handles
    with pytest.raises(ToolError, match="cannot be used"):
        await texts.query_json(given.handle, "a[", artifacts)
    with pytest.raises(ToolError, match="is not JSON"):
        await texts.query_json((await kept(artifacts, "no")).handle, "@", artifacts)


async def test_passages_are_found_with_their_page(artifacts: MemoryArtifacts) -> None:
    document = await kept(artifacts, POLICY)
    shown = (await documents.search_document(document.handle, "doctor note", artifacts)).content
    assert "[page 2, line 10]\nA doctor's note" in shown


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        (
            "every employee has 30 days of leave",
            "exact: it stands in policy.pdf.txt, page 1, line 4.",
        ),
        ("of leave each year. 2.1 Sick", "exact: it stands in policy.pdf.txt, page 1, line 4."),
        ("A doctors note is needed from third day", "not word for word. Most alike"),
        ("unicorns fly at midnight in Paris", "not found"),
    ],
)
async def test_a_quote_is_checked(artifacts: MemoryArtifacts, quote: str, said: str) -> None:
    """Line breaks, pages and quote marks do not matter; other words do."""
    document = await kept(artifacts, POLICY)
    assert said in (await documents.check_quote(document.handle, quote, artifacts)).content


async def test_a_document_has_an_outline(artifacts: MemoryArtifacts) -> None:
    document = await kept(artifacts, POLICY)
    shown = (await documents.outline_document(document.handle, artifacts)).content
    assert shown.splitlines()[1:] == [
        "page 1, line 2: # Leave policy",
        "page 2, line 8: 2.1 Sick leave",
    ]
