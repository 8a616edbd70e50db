"""Threads that the bot is part of."""

from __future__ import annotations

from bot.store import Stores


async def test_replies_count_only_where_the_bot_takes_part(stores: Stores) -> None:
    """A reply without a mention is for the bot only in its own threads."""
    assert await stores.threads.participants("T1:C1:1.0") == frozenset()
    await stores.threads.join("T1:C1:1.0", "U1")
    await stores.threads.join("T1:C1:1.0", "U2")
    assert await stores.threads.participants("T1:C1:1.0")
    assert await stores.threads.participants("T1:C1:2.0") == frozenset()
    assert await stores.threads.participants("T1:C1:1.0") == {"U1", "U2"}
