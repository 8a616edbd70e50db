"""Stop signals: from the person who stops a request to the worker that runs it."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager

from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from bot.core.background import alongside
from bot.core.errors import StoreUnavailable
from bot.core.request import Request
from bot.store.connection import Connection, Retention
from bot.store.threads.mailbox import mailbox_keys, parked_key, request_key, run_of_key

log = logging.getLogger(__name__)

RECONNECT_SECONDS = 0.5

OnCancel = Callable[[str], None]
"""Called at most once, with the user who asked to stop. Must return at once and never raise."""


class Signals:
    """The sender and receiver of stop signals. A signal is stored until it is received.

    Processes that call `watched` must enter `listening`; sending works without.
    """

    def __init__(self, redis: Connection, retention: Retention) -> None:
        self._redis = redis
        self._seconds = retention.request
        self._channel = redis.key("cancel")
        self._watched: dict[str, OnCancel] = {}
        self._lost = False

    async def request_cancel(self, thread_key: str, request_id: str, by: str) -> bool:
        """Ask to stop a request. Return False when the request is no longer in the mailbox.

        A waiting request is stopped when its turn comes. A request that waits for a person needs a
        ticket, which the caller must queue.
        """
        keys = [
            mailbox_keys(self._redis, thread_key)[0],
            self._redis.key("cancelled", request_id),
            parked_key(self._redis, thread_key),
        ]
        found = await self._redis.script(
            "request_cancel", keys, request_id, by, self._seconds, self._channel
        )
        return bool(found)

    async def withdraw(self, request: Request, by: str) -> bool:
        """Withdraw a request and delete its text. Return False when it neither waits nor runs.

        The request leaves its mailbox, unless it has a run or has taken over a run's message: then
        it is stopped, and its run ends what it posted.
        """
        blank = {"text": "", "own": "", "before_edit": "", "quoted": "", "files": ()}
        left = request.model_copy(update={**blank, "withdrawn": True})
        stays = "always" if request.replaces else "begun"
        return await self._take_off(request, by, left.model_dump_json(), "", stays)

    async def supersede(self, request: Request, by: str) -> bool:
        """Mark a request as replaced by an edit. Return False when it neither waits nor runs.

        The request leaves its mailbox, or is stopped if it has a run.
        """
        left = request.model_copy(update={"superseded": True}).model_dump_json()
        return await self._take_off(request, by, left, left, "begun")

    async def erase(self, request: Request, by: str) -> bool:
        """Withdraw a request and delete it at once, even if its run has posted something."""
        return await self._take_off(request, by, "", "", "never")

    async def _take_off(
        self, request: Request, by: str, while_it_stays: str, otherwise: str, stays: str
    ) -> bool:
        keys = [
            *mailbox_keys(self._redis, request.thread_key),
            request_key(self._redis, request.id),
            self._redis.key("cancelled", request.id),
            parked_key(self._redis, request.thread_key),
            run_of_key(self._redis, request.id),
        ]
        args = (request.id, request.thread_key, by, self._seconds, self._channel)
        left = (while_it_stays, otherwise, stays)
        return bool(await self._redis.script("withdraw", keys, *args, *left))

    @contextmanager
    def watched(self, request_id: str, on_cancel: OnCancel) -> Generator[None]:
        """Call `on_cancel` when somebody asks to stop the request. `Runs.start`, called inside, says
        whether somebody has already."""
        self._watched[request_id] = on_cancel
        try:
            yield
        finally:
            self._watched.pop(request_id, None)

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[None]:
        """Receive signals for the requests watched in this process; reconnect when necessary."""
        async with alongside(self._listen(), name="stop signals"):
            yield

    async def _listen(self) -> None:
        while True:
            try:
                async with self._redis.listening.pubsub() as pubsub:
                    await self._receive(pubsub)
            except (RedisError, OSError, StoreUnavailable):
                if not self._lost:  # once, not on each attempt
                    log.warning("Redis is gone; trying again until it is back")
                self._lost = True
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _receive(self, pubsub: PubSub) -> None:
        await pubsub.subscribe(self._channel)
        async for message in pubsub.listen():
            if message["type"] == "subscribe":  # earlier signals did not reach this process
                if self._lost:
                    log.info("Redis is back")
                self._lost = False
                for request_id in list(self._watched):
                    await self._check(request_id)
            elif message["type"] == "message":
                signal = json.loads(message["data"])
                self._notify(signal["request_id"], signal["by"])

    async def _check(self, request_id: str) -> None:
        by = await self._redis.call("GET", self._redis.key("cancelled", request_id))
        if by is not None:
            self._notify(request_id, by.decode())

    def _notify(self, request_id: str, by: str) -> None:
        if on_cancel := self._watched.pop(request_id, None):
            on_cancel(by)
