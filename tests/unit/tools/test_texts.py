"""Saved texts and long documents: what is found is where it is said to be."""

from __future__ import annotations

import time

import pytest

from bot.core.errors import ToolError
from bot.library.documents.structure import structure
from bot.services.artifact_tables import ArtifactTables
from bot.services.isolated_interpreters import IsolatedInterpreters
from bot.testing.artifacts import MemoryArtifacts
from tools.documents import check_quote, outline_document, search_document
from tools.texts import compare_texts, edit_file, extract_matches, list_artifacts, query_json

BOOK = """\
[page 1 of 2]
# 1 Scope

The supplier delivers within thirty days of the or-
der, unless both agree otherwise.

[page 2 of 2]
# 2 Penalties

For each day of delay one per cent is due.
"""


async def kept(artifacts: MemoryArtifacts, text: str, media_type: str = "text/plain") -> str:
    saved = await artifacts.save(text.encode(), name="book", media_type=media_type, prefix="doc")
    return saved.handle


async def test_a_passage_is_found_with_its_page(artifacts: MemoryArtifacts) -> None:
    found = await search_document(await kept(artifacts, BOOK), "delay penalty", artifacts)
    assert "[page 2, lines 8–10 · 2 Penalties]\n# 2 Penalties\n\nFor each day" in found.content
    outline = await outline_document(await kept(artifacts, BOOK), artifacts)
    assert outline.content.splitlines()[1:] == [
        "page 1, line 2: 1 Scope",
        "page 2, line 8: 2 Penalties",
    ]


async def test_a_long_passage_is_shown_by_the_sentences_that_were_looked_for(
    artifacts: MemoryArtifacts,
) -> None:
    """K5: a page of a PDF has no blank lines: its first lines do not answer the question."""
    page = await kept(
        artifacts,
        "[page 1 of 1]\n" + "Word of it. " * 900 + "The penalty clause. " + "The end. " * 900,
    )
    found = await search_document(page, "penalty clause", artifacts)
    assert "The penalty clause." in found.content
    assert len(found.content) < 1_200
    almost = await check_quote(page, "of it, the penalty clause and end", artifacts)
    assert "penalty clause" in almost.content


@pytest.mark.parametrize(
    ("text", "query", "place"),
    [
        (
            "§ 1 Gegenstand\nDer Lieferant liefert Holz.\n§ 2 Kündigung\n(1) Jede Partei kann mit Frist "
            "von drei Monaten kündigen.\n(2) Das bedarf der Schriftform.\n§ 3 Haftung\nWer haftet, zahlt.",
            "Frist der Kündigung",
            "§ 2 Kündigung",
        ),
        (
            "Article 1 Objet\nLe vendeur livre.\nArticle 2 Pénalités\nPour chaque jour de retard, un pour "
            "cent est dû.\nArticle 3 Droit\nLe droit est celui de la Norvège.",
            "retards",
            "Article 2 Pénalités",
        ),
        (
            "第1条 目的\n売主は木材を供給する。\n第2条 解除\n当事者は九十日前の通知により契約を解除できる。\n第3条 責任\n責任は限定される。",
            "解除の通知",
            "第2条 解除",
        ),
    ],
)
async def test_a_clause_is_found_in_other_languages(
    artifacts: MemoryArtifacts, text: str, query: str, place: str
) -> None:
    """K5: by the form of its number, without words of a language."""
    found = await search_document(await kept(artifacts, text), query, artifacts)
    assert f"· {place}" in found.content.splitlines()[2]


async def test_a_list_that_is_cut_says_so(artifacts: MemoryArtifacts) -> None:
    book = await kept(artifacts, "\n\n".join(f"# Part {n}\ntext" for n in range(9)))
    assert "9 headings · the first 2 shown" in (await outline_document(book, artifacts, 2)).content
    found = await search_document(book, "part", artifacts, 2)
    assert "9 of 9 passages fit · the best 2 shown" in found.content


async def test_a_quote_is_checked_over_line_breaks_and_a_wrong_one_is_not_passed(
    artifacts: MemoryArtifacts,
) -> None:
    """What the model made of a passage from memory does not become a quote."""
    book = await kept(artifacts, BOOK)
    right = await check_quote(book, "within thirty days of the order", artifacts)
    assert right.content == "exact: it stands in book, page 1, line 4."
    wrong = await check_quote(book, "For each day of delay two per cent is due", artifacts)
    assert wrong.content.startswith("not word for word. Most alike")
    assert "page 2, lines 8–10" in wrong.content
    other = await check_quote(book, "The moon is made of green cheese", artifacts)
    assert other.content.startswith("not found")


async def test_an_edited_file_is_a_new_one(artifacts: MemoryArtifacts) -> None:
    book = await kept(artifacts, BOOK)
    made = await edit_file(book, "one per cent", "2 %", artifacts)
    diff = await compare_texts(book, made.handles[0], artifacts)
    assert "1 lines went, 1 came" in diff.content
    assert "+For each day of delay 2 % is due." in diff.content
    with pytest.raises(ToolError, match="occurs 2 times"):
        await edit_file(book, "# ", "## ", artifacts)
    with pytest.raises(ToolError, match="nearest line: # 2 Penalties"):
        await edit_file(book, "# 2 Penaltys", "x", artifacts)
    listed = await list_artifacts(artifacts)
    assert listed.content.startswith("2 saved")


async def test_matches_become_a_table(artifacts: MemoryArtifacts) -> None:
    log = await kept(artifacts, "10:01 GET /a 12ms\nnothing\n10:02 GET /b 8ms\n")
    made = await extract_matches(
        log,
        r"(?P<path>/\w+) (?P<ms>\d+)ms",
        artifacts,
        ArtifactTables(artifacts),
        IsolatedInterpreters(),
    )
    assert made.content.splitlines()[-3:] == ["line,path,ms", "1,/a,12", "3,/b,8"]
    with pytest.raises(ToolError, match="not a valid"):
        await extract_matches(
            log, "(", artifacts, ArtifactTables(artifacts), IsolatedInterpreters()
        )


async def test_json_is_asked_and_lists_become_tables(artifacts: MemoryArtifacts) -> None:
    text = '{"items": [{"id": 1, "price": 5}, {"id": 2, "price": 20}, {"id": 3, "price": 30}]}'
    data = await kept(artifacts, text, "application/json")
    made = await query_json(
        data, "items[?price > `10`]", artifacts, ArtifactTables(artifacts), IsolatedInterpreters()
    )
    [table] = made.handles
    total = await ArtifactTables(artifacts).query(f"SELECT sum(price) FROM {table}", [table])
    assert total.content.endswith("50")
    assert (
        await query_json(
            data, "items[0].id", artifacts, ArtifactTables(artifacts), IsolatedInterpreters()
        )
    ).content == "1"
    with pytest.raises(ToolError, match="cannot be used"):
        await query_json(
            data, "items[", artifacts, ArtifactTables(artifacts), IsolatedInterpreters()
        )
    with pytest.raises(ToolError, match="not JSON"):
        await query_json(
            await kept(artifacts, "hello"),
            "@",
            artifacts,
            ArtifactTables(artifacts),
            IsolatedInterpreters(),
        )


def test_clauses_without_spaces_are_found_in_linear_time() -> None:
    """K5: a Japanese clause is one long word; what strangers write holds up nobody."""
    line = (
        "本契約は当事者間の合意に基づき締結され甲は乙に対して次の各号に定める義務を負うものとする"
        * 2
    )
    text = "\n".join(f"{number}. {line}" for number in range(1, 400))
    began = time.process_time()
    found = structure(text)
    assert time.process_time() - began < 2
    assert found.sections[0].number == "1"
