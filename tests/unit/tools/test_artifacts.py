"""Saved results can be paged and searched, and say where one is in them (D7, D8)."""

from __future__ import annotations

from dataclasses import replace

import pytest
import pytest_asyncio

from bot.core.errors import ToolError
from bot.services import isolated_interpreters as interpreters
from bot.services.artifact_tables import ArtifactTables
from bot.services.isolated_interpreters import IsolatedInterpreters
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation
from bot.toolkit import Artifact
from tests.support.tools import share
from tools.artifacts import read_artifact, search_artifact, write_file


@pytest_asyncio.fixture(loop_scope="module")
async def log(artifacts: MemoryArtifacts) -> Artifact:
    text = "\n".join(f"line {n}" for n in range(1, 1313))
    return await artifacts.save(
        text.encode(), name="log.txt", media_type="text/plain", prefix="doc"
    )


@pytest_asyncio.fixture(loop_scope="module")
async def people(artifacts: MemoryArtifacts) -> Artifact:
    rows = [[f"Person {n}", n] for n in range(1, 31)]
    return await ArtifactTables(artifacts).save(["name", "n"], rows, name="people.csv")


async def test_lines_are_paged(artifacts: MemoryArtifacts, log: Artifact) -> None:
    result = await read_artifact(log.handle, artifacts, ArtifactTables(artifacts), offset=200)
    lines = result.content.splitlines()
    assert lines[0] == f"handle: {log.handle} · lines 201–400 of 1,312 · next offset 400"
    assert (lines[1], lines[-1]) == ("line 201", "line 400")
    last = await read_artifact(log.handle, artifacts, ArtifactTables(artifacts), offset=1310)
    assert last.content.endswith("of 1,312 · end\nline 1311\nline 1312")
    with pytest.raises(ToolError, match="past its end"):
        await read_artifact(log.handle, artifacts, ArtifactTables(artifacts), offset=1312)


async def test_rows_are_paged_under_their_header(
    artifacts: MemoryArtifacts, people: Artifact
) -> None:
    result = await read_artifact(
        people.handle, artifacts, ArtifactTables(artifacts), offset=10, limit=2
    )
    assert result.content == (
        f"handle: {people.handle} · rows 11–12 of 30 · next offset 12\n"
        "name,n\nPerson 11,11\nPerson 12,12"
    )


async def test_a_page_fits_what_an_output_may_hold(artifacts: MemoryArtifacts) -> None:
    """So paging never runs into the size limit again."""
    saved = await artifacts.save(b"x" * 99_999, name="a.txt", media_type="text/plain")
    result = await read_artifact(saved.handle, artifacts, ArtifactTables(artifacts))
    assert len(result.content) < 15_000
    assert "89,999 more characters in this line" in result.content


async def test_matches_come_with_their_numbers_and_surroundings(
    artifacts: MemoryArtifacts, log: Artifact, people: Artifact
) -> None:
    result = await search_artifact(
        log.handle,
        artifacts,
        ArtifactTables(artifacts),
        IsolatedInterpreters(),
        pattern=r"LINE (100|700)$",
    )
    assert result.content.splitlines() == [
        f"handle: {log.handle} · 2 of 1,312 lines match",
        "99- line 99",
        "100: line 100",
        "101- line 101",
        "--",
        "699- line 699",
        "700: line 700",
        "701- line 701",
    ]
    rows = await search_artifact(
        people.handle,
        artifacts,
        ArtifactTables(artifacts),
        IsolatedInterpreters(),
        pattern="Person 30",
    )
    assert rows.content.splitlines()[-1] == "30: Person 30,30"
    words = await search_artifact(
        people.handle,
        artifacts,
        ArtifactTables(artifacts),
        IsolatedInterpreters(),
        query="who is person 30?",
    )
    assert "30: Person 30,30" in words.content


async def test_a_bad_pattern_says_so(artifacts: MemoryArtifacts, log: Artifact) -> None:
    with pytest.raises(ToolError, match="not a valid regular expression"):
        await search_artifact(
            log.handle, artifacts, ArtifactTables(artifacts), IsolatedInterpreters(), pattern="("
        )


async def test_an_exponential_pattern_is_stopped(
    artifacts: MemoryArtifacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief = replace(interpreters._LIMITS, cpu=0.2)
    monkeypatch.setattr("bot.services.isolated_interpreters._LIMITS", brief)
    text = b"a" * 60 + b"b"
    saved = await artifacts.save(text, name="a.txt", media_type="text/plain")
    with pytest.raises(ToolError, match="takes too long"):
        await search_artifact(
            saved.handle,
            artifacts,
            ArtifactTables(artifacts),
            IsolatedInterpreters(),
            pattern=r"^(a|aa)+\1$",
        )


async def test_a_file_is_written_read_and_shared(
    artifacts: MemoryArtifacts, conversation: MemoryConversation
) -> None:
    """D8: written under a handle, nothing posted; read by its lines, then shared as it is."""
    written = await write_file("plan.toml", "x = 1\ny = 2\x00", artifacts=artifacts)
    [handle] = written.handles
    assert written.content == f"handle: {handle} · plan.toml · 2 lines · 11 bytes"
    assert (await read_artifact(handle, artifacts, ArtifactTables(artifacts))).content.endswith(
        "x = 1\ny = 2"
    )
    await share(
        "plan.toml",
        conversation,
        artifacts,
        handle=handle,
    )
    assert conversation.shared == [("plan.toml", b"x = 1\ny = 2", "")]
