"""Erasure of all stored data about a person or a thread while the bot keeps running."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.core.errors import StoreUnavailable
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.queue.requests import Requests
from bot.runs.queue.workers import NAME
from bot.store import Connection, Erased, Names

if TYPE_CHECKING:
    from bot.model.sdk import AsyncOpenAI

log = logging.getLogger(__name__)

_WAIT_SECONDS = 30.0  # seconds that stopped runs may take to end
_POLL_SECONDS = 0.2
_BATCH = 100  # responses deleted before the store is told
_MAX_PAUSE = 300.0


@dataclass(frozen=True, slots=True)
class ResponseDeleter:
    """A worker that deletes erased conversations from the model service.

    `noted` holds the ids of the responses to delete. `open_client` connects to the model service; it
    is None where no service is configured, and then nothing can be deleted.
    """

    noted: Names
    open_client: Callable[[], AbstractAsyncContextManager[AsyncOpenAI]] | None
    every: float = 30.0
    """Seconds between two attempts of `run`."""

    async def delete(self) -> list[str]:
        """Try each noted response once. Return the ids that the service may still hold."""
        waiting = await self.noted.all()
        if not waiting or self.open_client is None:
            return waiting
        from bot.model.client import delete_responses  # loads OpenAI's SDK, which is slow

        left: list[str] = []
        async with self.open_client() as client:
            for start in range(0, len(waiting), _BATCH):
                some = waiting[start : start + _BATCH]
                failpoint("response-deleting")
                held = await delete_responses(client, some)
                failpoint("response-deleted")
                await self.noted.remove(set(some) - set(held))
                left += held
                if len(held) == len(some):  # the service cannot be reached
                    return left + waiting[start + _BATCH :]
        return left

    async def run(self) -> None:
        """Delete noted responses at intervals, forever; pause longer while the service fails."""
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
            pause = min(max(pause, self.every) * 2, _MAX_PAUSE) if left else self.every


async def erase_person(requests: Requests, user: str) -> Erased:
    """Erase everything about a person, after withdrawing their unanswered requests."""
    erasure = requests.stores.erasure
    threads = await erasure.threads_of(user)
    await _withdraw_requests(requests, threads, user)
    erased = await erasure.person(user)
    await _delete_finished_tickets(requests.stores.redis, erased.threads)
    return erased


async def erase_thread(requests: Requests, thread_key: str) -> Erased:
    """Erase everything about a thread, after withdrawing its unanswered requests.

    The threads of a direct message that hold copies of its exchanges are erased, too.
    """
    threads = await requests.stores.erasure.with_later_threads(thread_key)
    await _withdraw_requests(requests, threads, None)
    erased = await requests.stores.erasure.thread(thread_key)
    await _delete_finished_tickets(requests.stores.redis, erased.threads)
    return erased


async def _delete_finished_tickets(redis: Connection, threads: set[str]) -> None:
    """Delete the finished tickets of `threads`, which name their channel.

    The engine would keep them for another minute.
    """
    names, cursor = {thread.encode() for thread in threads}, -1
    while cursor and names:
        scan = ("SCAN", max(cursor, 0), "MATCH", f"{NAME}:runs:*", "COUNT", 500)
        cursor, keys = await redis.call(*scan)
        for key in keys:
            fields = await redis.call("HGETALL", key)
            is_over = fields.get(b"state") in (b"completed", b"failed", b"cancelled")
            if is_over and any(name in value for name in names for value in fields.values()):
                await redis.call("DEL", key)


async def _withdraw_requests(requests: Requests, threads: set[str], user: str | None) -> None:
    """Withdraw the requests of `user`, or of everybody if None, in these threads.

    Wait until nothing waits or runs there, for at most `_WAIT_SECONDS` seconds: a stopped run needs its
    record to delete the messages that it has posted.
    """
    mailbox = requests.stores.mailbox
    every = [request for thread in threads for request in await mailbox.all_of(thread)]
    own = [request for request in every if user in (None, request.user)]
    for request in own:
        await requests.take_back(request, request.user)
    with suppress(TimeoutError):
        async with asyncio.timeout(_WAIT_SECONDS):
            while True:
                if not await _is_busy(requests, threads, own):
                    break
                await asyncio.sleep(_POLL_SECONDS)
    for request in own:  # also if no worker ended the run in time
        await requests.stores.signals.erase(request, request.user)


async def _is_busy(requests: Requests, threads: set[str], own: list[Request]) -> bool:
    waiting = [thread for thread in threads if await requests.stores.mailbox.waiting(thread)]
    return bool(waiting or [request for request in own if await requests.is_under_way(request.id)])
