"""What the tests of tools share: artifacts, a conversation, and a bound request."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bot.core.context import RequestContext
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
