"""A protected server, and a bot at which people connect accounts."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from bot.store import Stores
from tests.support.accounts import Connecting, connecting
from tests.support.notes_server import Notes, notes_server


@pytest.fixture
async def notes() -> AsyncGenerator[Notes]:
    async with notes_server() as started:
        yield started


@pytest.fixture
async def place(stores: Stores, notes: Notes) -> AsyncGenerator[Connecting]:
    async with connecting(stores, notes) as opened:
        yield opened
