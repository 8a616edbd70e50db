"""Erasing what is held about a person or a thread while the bot works (reliability 15)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass

from openai import AsyncOpenAI

from bot.core.errors import StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.model import delete_responses
from bot.runs.queue.docket import NAME
from bot.runs.queue.requests import Requests
from bot.store import Connection, Erased, ResponseDeletions

log = logging.getLogger(__name__)

_PATIENCE = 30.0  # seconds in which runs may end
_LOOK = 0.2
_AT_ONCE = 100  # responses deleted between two notes of it
_LONGEST_PAUSE = 300.0


@dataclass(frozen=True, slots=True)
class ResponseDeleter:
    """Deletes the stored responses that erases have noted. `open_client` reaches the model
    service; None where none is configured, and then nothing can be deleted."""

    noted: ResponseDeletions
    open_client: Callable[[], AbstractAsyncContextManager[AsyncOpenAI]] | None
    every: float = 30.0
    """Seconds between two looks of `run`."""

    async def delete(self) -> list[str]:
        """Try each noted response once. Return the ids that the service may still hold."""
        waiting = await self.noted.all()
        if not waiting or self.open_client is None:
            return waiting
        left: list[str] = []
        async with self.open_client() as client:
            for start in range(0, len(waiting), _AT_ONCE):
                some = waiting[start : start + _AT_ONCE]
                failpoint("response-deleting")
                held = await delete_responses(client, some)
                failpoint("response-deleted")
                await self.noted.remove(set(some) - set(held))
                left += held
                if len(held) == len(some):  # the service is away
                    return left + waiting[start + _AT_ONCE :]
        return left

    async def run(self) -> None:
        """Delete what is noted, for ever; look less often while the service does not."""
        pause = self.every
        while True:
            await asyncio.sleep(pause)
            try:
                left = await self.delete()
            except StoreUnavailable:
                continue
            except Exception:
                log.exception("erased responses could not be deleted")
                left = ["unknown"]
            if left:
                log.warning("%d erased responses are not deleted yet; trying again", len(left))
            pause = min(max(pause, self.every) * 2, _LONGEST_PAUSE) if left else self.every


async def erase_person(requests: Requests, user: str) -> Erased:
    """Everything; first what they asked and is not answered is taken back."""
    erasure = requests.stores.erasure
    threads = await erasure.threads_of(user)
    await _taken_back(requests, threads, user)
    erased = await erasure.person(user)
    await _without_tickets(requests.stores.redis, erased.threads)
    return erased


async def erase_thread(requests: Requests, thread_key: str) -> Erased:
    """All that is held of one thread; what was asked there and is not answered is taken back."""
    await _taken_back(requests, {thread_key}, None)
    erased = await requests.stores.erasure.thread(thread_key)
    await _without_tickets(requests.stores.redis, erased.threads)
    return erased


async def _without_tickets(redis: Connection, threads: set[str]) -> None:
    """Delete what the engine still keeps of finished tickets of `threads`, which it would for a
    minute: a thread's key names its channel."""
    names, cursor = {each.encode() for each in threads}, -1
    while cursor and names:
        scan = ("SCAN", max(cursor, 0), "MATCH", f"{NAME}:runs:*", "COUNT", 500)
        cursor, keys = await redis.call(*scan)
        for key in keys:
            fields = await redis.call("HGETALL", key)
            is_over = fields.get(b"state") in (b"completed", b"failed", b"cancelled")
            if is_over and any(name in each for name in names for each in fields.values()):
                await redis.call("DEL", key)


async def _taken_back(requests: Requests, threads: set[str], user: str | None) -> None:
    """Return once nothing waits or runs in these threads, or when that takes too long. A run that
    was stopped still has to take back what it showed, for which it needs its record."""
    mailbox = requests.stores.mailbox
    every = [request for each in threads for request in await mailbox.all_of(each)]
    own = [request for request in every if user in (None, request.user)]
    for request in own:
        await requests.take_back(request, request.user)
    with suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while True:
                if not await _is_busy(requests, threads, own):
                    break
                await asyncio.sleep(_LOOK)
    for request in own:  # also where no worker came to end it
        await requests.stores.signals.erase(request, request.user)


async def _is_busy(requests: Requests, threads: set[str], own: list[Request]) -> bool:
    waiting = [each for each in threads if await requests.stores.mailbox.waiting(each)]
    return bool(waiting or [each for each in own if await requests.is_under_way(each.id)])
