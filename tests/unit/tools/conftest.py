"""What the tests of tools share: artifacts, a conversation, and a bound request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from bot.core.context import RequestContext
from bot.library.isolated.pool import warm_processes
from bot.services.artifact_tables import ArtifactTables
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import MemoryConversation, asked

HERE = Path(__file__).parent


@pytest.fixture
def artifacts() -> MemoryArtifacts:
    return MemoryArtifacts()


@pytest.fixture
def tables(artifacts: MemoryArtifacts) -> ArtifactTables:
    return ArtifactTables(artifacts)


@pytest.fixture
def conversation() -> MemoryConversation:
    return MemoryConversation()


@pytest.fixture(autouse=True)
def request_context() -> Iterator[RequestContext]:
    with asked() as context:
        yield context


@pytest_asyncio.fixture(loop_scope="module", scope="module", autouse=True)
async def one_run() -> AsyncIterator[None]:
    """Keep isolated processes warm for all tests of a module, as between the calls of one run: to
    start one takes longer than most tests do."""
    async with warm_processes():
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of a module in one event loop, in which its warm processes live."""
    for item in items:
        if item.path.parent == HERE and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)
