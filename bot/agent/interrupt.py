"""Stopping a run from outside, at any await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypeVar

from bot.core.outcome import StopReason

T = TypeVar("T")


class Interrupted(Exception):
    """A person pressed Stop."""


class Interrupt:
    """Seen by whatever awaits inside `within`: it ends at once with `Interrupted`.

    A signal rather than a cancelled task, because the loop must answer it: outputs for calls in
    progress, a last event, a valid chain.
    """

    def __init__(self) -> None:
        self._requested = False
        self._reason: StopReason | None = None
        self._scopes: set[asyncio.Timeout] = set()

    @property
    def requested(self) -> bool:
        return self._requested

    def why(self, default: StopReason) -> StopReason:
        """Return why the run was interrupted: `default`, unless the request named a reason."""
        return self._reason or default

    def request(self, reason: StopReason | None = None) -> None:
        """Interrupt, for `reason` if it is not that a person wants it. Call it on the event loop's
        thread; the first call counts."""
        if not self._requested:
            self._requested, self._reason = True, reason
        now = asyncio.get_running_loop().time()
        for scope in self._scopes:
            scope.reschedule(now)
        self._scopes.clear()

    @asynccontextmanager
    async def within(self, deadline: float) -> AsyncGenerator[None]:
        """Bound what is awaited inside; never yield to a consumer from here.

        Raises Interrupted on a request, TimeoutError when `deadline` (the event loop's clock, in
        seconds) passes; either at once, before anything is begun, if it has happened already.
        """
        if self._requested:
            raise Interrupted
        if asyncio.get_running_loop().time() >= deadline:
            raise TimeoutError
        try:
            async with asyncio.timeout_at(deadline) as scope:
                self._scopes.add(scope)
                try:
                    yield
                finally:
                    self._scopes.discard(scope)
        except TimeoutError:
            if self._requested:
                raise Interrupted from None
            raise

    async def each(self, stream: AsyncGenerator[T], deadline: float) -> AsyncGenerator[T]:
        """Iterate with every step bounded as by `within`; closes `stream` however it ends."""
        try:
            while True:
                async with self.within(deadline):
                    try:
                        part = await anext(stream)
                    except StopAsyncIteration:
                        return
                yield part
        finally:
            await stream.aclose()
