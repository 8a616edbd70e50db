"""Erasing what is held about a person or a thread while the bot works (reliability 15)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from bot.core.request import Request
from bot.store import Erased, Stores

_PATIENCE = 30.0  # seconds in which runs may end
_LOOK = 0.2


async def erase_person(stores: Stores, user: str) -> Erased:
    """Everything; first what they asked and is not answered is taken back."""
    threads = await stores.erasure.threads_of(user)
    await _taken_back(stores, threads, user)
    return await stores.erasure.person(user)


async def erase_thread(stores: Stores, thread_key: str) -> Erased:
    """All that is held of one thread; what was asked there and is not answered is taken back."""
    await _taken_back(stores, {thread_key}, None)
    return await stores.erasure.thread(thread_key)


async def _taken_back(stores: Stores, threads: set[str], user: str | None) -> None:
    """Return once nothing waits or runs in these threads, or when that takes too long."""
    for thread_key in threads:
        for request in await stores.mailbox.all_of(thread_key):
            if user in (None, request.user):
                await _withdraw(stores, request)
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while True:
                if not [each for each in threads if await stores.mailbox.waiting(each)]:
                    return
                await asyncio.sleep(_LOOK)


async def _withdraw(stores: Stores, request: Request) -> None:
    await stores.signals.withdraw(request.thread_key, request.id, request.user)
