"""What the tests of tools share: artifacts, a conversation, and a bound request."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from bot.core.context import RequestContext
from bot.toolkit.isolation import warm_processes
from tests.support.artifacts import MemoryArtifacts
from tests.support.conversation import MemoryConversation, asked


@pytest.fixture
def artifacts() -> MemoryArtifacts:
    return MemoryArtifacts()


@pytest.fixture
def conversation() -> MemoryConversation:
    return MemoryConversation()


@pytest.fixture(autouse=True)
def request_context() -> Iterator[RequestContext]:
    with asked() as context:
        yield context


@pytest.fixture(autouse=True)
async def one_run(request_context: RequestContext) -> AsyncIterator[None]:
    """Processes stay warm between the calls of a test, as between those of a run."""
    async with warm_processes():
        yield
