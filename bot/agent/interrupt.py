"""Interruption of a run from outside, at any await."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from types import TracebackType
from typing import TypeVar

from bot.core.outcome import StopReason

T = TypeVar("T")


class Interrupted(Exception):
    """A person pressed Stop."""


class Interrupt:
    """Ends every await inside `within` at once, with `Interrupted`.

    It is a signal and not a cancelled task, because the loop still has work to do: outputs for
    calls in progress, a last event, a valid chain.
    """

    def __init__(self) -> None:
        self._requested = False
        self._reason: StopReason | None = None
        self.scopes: set[asyncio.Timeout] = set()

    @property
    def requested(self) -> bool:
        return self._requested

    def reason_or(self, default: StopReason) -> StopReason:
        """Return why the run was interrupted: `default`, unless the request named a reason."""
        return self._reason or default

    def request(self, reason: StopReason | None = None) -> None:
        """Interrupt the run; without `reason` because a person stopped it. Call it on the event
        loop's thread; the first call counts."""
        if not self._requested:
            self._requested, self._reason = True, reason
        now = asyncio.get_running_loop().time()
        for scope in self.scopes:
            scope.reschedule(now)
        self.scopes.clear()

    def within(self, deadline: float) -> _Scope:
        """Bound what is awaited inside; never yield to a consumer from here.

        Raises Interrupted on a request, TimeoutError when `deadline` (the event loop's clock, in
        seconds) passes; either at once, before anything is begun, if it has happened already.
        """
        return _Scope(self, deadline)

    async def iterate(self, stream: AsyncGenerator[T], deadline: float) -> AsyncGenerator[T]:
        """Iterate over `stream` with every step bounded as by `within`, and close it at the end."""
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


class _Scope:
    """The context manager of `Interrupt.within`. It is a class, because a turn enters some twenty
    of them and a generator costs twice as much."""

    __slots__ = ("_deadline", "_interrupt", "_timeout")

    def __init__(self, interrupt: Interrupt, deadline: float) -> None:
        self._interrupt = interrupt
        self._deadline = deadline
        self._timeout = asyncio.timeout_at(deadline)

    async def __aenter__(self) -> None:
        if self._interrupt.requested:
            raise Interrupted
        if asyncio.get_running_loop().time() >= self._deadline:
            raise TimeoutError
        await self._timeout.__aenter__()
        self._interrupt.scopes.add(self._timeout)

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._interrupt.scopes.discard(self._timeout)
        is_over = isinstance(exception, TimeoutError)
        try:
            await self._timeout.__aexit__(exception_type, exception, traceback)
        except TimeoutError:
            if not self._interrupt.requested:
                raise
            is_over = True
        if is_over and self._interrupt.requested:
            raise Interrupted from None
