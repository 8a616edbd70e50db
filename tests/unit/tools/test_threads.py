"""Messages read as people see them, with ids of files and links to cite."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.core.errors import ToolError
from bot.core.request import FileRef
from bot.services.artifact_tables import ArtifactTables
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation, asked
from bot.toolkit import ThreadMessage
from tools.directory import read_linked_thread
from tools.threads import read_channel, read_thread

TABLES = ArtifactTables(MemoryArtifacts())
DAY = datetime(2026, 11, 20, 13, 3, tzinfo=UTC)
FILE = FileRef(id="F123", name="x.csv")


@pytest.fixture
def talk(conversation: MemoryConversation) -> MemoryConversation:
    conversation.messages = [
        ThreadMessage("1.0", DAY, "Ada", "Look\nat this", (FILE,), url="https://slack.example/p1"),
        ThreadMessage("2.0", DAY.replace(hour=14), "Bo", "Budget is 5k", replies=3),
    ]
    conversation.channels["general"] = conversation.messages
    return conversation


async def test_a_thread_is_read_in_the_askers_time(talk: MemoryConversation) -> None:
    with asked(time_zone="Europe/Berlin"):
        result = await read_thread(talk, TABLES)
    head, handle, *lines = result.content.splitlines()
    assert head == "2 messages · times in Europe/Berlin"
    assert handle.startswith(f"handle: {result.handles[0]} · rows 1–2 of 2 · columns: n, time, ")
    assert lines == [
        "1 [2026-11-20 14:03] Ada: Look",
        "  at this (files: x.csv F123)",
        "2 [2026-11-20 15:03] Bo: Budget is 5k (3 replies)",
    ]
    with asked(time_zone="Europe/Berlin"):
        linked = await read_linked_thread("https://slack.example/p1", talk, TABLES)
    assert [source.url for source in result.sources] == ["https://slack.example/p1", None]
    assert linked.content.splitlines()[2:] == lines


async def test_a_full_page_says_how_to_get_older_ones(talk: MemoryConversation) -> None:
    result = await read_thread(talk, TABLES, limit=1)
    assert "for older ones call again with before=2.0" in result.content
    assert "Ada" in (await read_thread(talk, TABLES, limit=1, before="2.0")).content


async def test_a_channel_is_searched_by_words(talk: MemoryConversation) -> None:
    result = await read_channel(talk, TABLES, query="BUDGET 5k")
    assert result.content.startswith("1 message of this channel with “BUDGET 5k” among the last 2")
    by_file = await read_channel(talk, TABLES, query="x.csv")
    assert "Ada" in by_file.content


async def test_a_channel_is_read_between_times(talk: MemoryConversation) -> None:
    """A time without a zone is in the asker's."""
    with asked(time_zone="Europe/Berlin"):
        result = await read_channel(talk, TABLES, time_range="2026-11-20T14:30/")
    assert "Bo" in result.content
    assert "Ada" not in result.content
    with pytest.raises(ToolError, match="the start is after the end"):
        await read_channel(talk, TABLES, time_range="2026-11-21/2026-11-20")


async def test_a_channel_out_of_sight_is_refused(talk: MemoryConversation) -> None:
    with pytest.raises(ToolError, match="no such channel"):
        await read_channel(talk, TABLES, "secret")
