"""Erasing what is held about a person or a thread while the bot works (reliability 15)."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from bot.core.request import Request
from bot.runs.requests import Requests
from bot.store import Erased

_PATIENCE = 30.0  # seconds in which runs may end
_LOOK = 0.2


async def erase_person(requests: Requests, user: str) -> Erased:
    """Everything; first what they asked and is not answered is taken back."""
    erasure = requests.stores.erasure
    threads = await erasure.threads_of(user)
    await _taken_back(requests, threads, user)
    return await erasure.person(user)


async def erase_thread(requests: Requests, thread_key: str) -> Erased:
    """All that is held of one thread; what was asked there and is not answered is taken back."""
    await _taken_back(requests, {thread_key}, None)
    return await requests.stores.erasure.thread(thread_key)


async def _taken_back(requests: Requests, threads: set[str], user: str | None) -> None:
    """Return once nothing waits or runs in these threads, or when that takes too long. A run that
    was stopped still has to take back what it showed, for which it needs its record."""
    mailbox = requests.stores.mailbox
    every = [request for each in threads for request in await mailbox.all_of(each)]
    own = [request for request in every if user in (None, request.user)]
    for request in own:
        await requests.take_back(request.thread_key, request.id, request.user)
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while True:
                if not await _is_busy(requests, threads, own):
                    break
                await asyncio.sleep(_LOOK)
    for request in own:  # also where no worker came to end it
        await requests.stores.signals.withdraw(request.thread_key, request.id, request.user)


async def _is_busy(requests: Requests, threads: set[str], own: list[Request]) -> bool:
    waiting = [each for each in threads if await requests.stores.mailbox.waiting(each)]
    return bool(waiting or [each for each in own if await requests.is_under_way(each.id)])
