"""Interruption of a run from outside, at any await."""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Any

from bot.core.outcome import StopReason


class Interrupted(Exception):
    """A person pressed Stop."""


class Interrupt:
    """Ends every await inside `within` at once, with `Interrupted`.

    It is a signal and not a cancelled task, because the loop still has work to do: outputs for
    calls in progress, a last event, a valid chain. One timer serves all deadlines of a run.
    """

    def __init__(self) -> None:
        self.stopped_by = ""
        """The person who stopped the run, "" for nobody."""

        self._requested = False
        self._reason: StopReason | None = None
        self._scopes: set[_Scope] = set()
        self._timer: asyncio.TimerHandle | None = None

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
        if self._scopes:  # in a callback, when all of them are suspended in their bodies
            asyncio.get_running_loop().call_soon(self._end_scopes)

    def stop(self, by: str) -> None:
        """Interrupt the run because the person `by` wants it stopped; the first of them is named."""
        self.stopped_by = self.stopped_by or by
        self.request()

    def within(self, deadline: float) -> _Scope:
        """Bound what is awaited inside; never emit an event from here.

        Raises Interrupted on a request, TimeoutError when `deadline` (the event loop's clock, in
        seconds) passes; either at once, before anything is begun, if it has happened already.
        """
        return _Scope(self, deadline)

    def enter(self, scope: _Scope) -> None:
        """Begin to bound a scope."""
        self._scopes.add(scope)
        if scope.deadline < (self._timer.when() if self._timer else math.inf):
            self._set_timer()

    def leave(self, scope: _Scope) -> None:
        """End to bound a scope; the timer stays for the next one."""
        self._scopes.discard(scope)

    def release(self) -> None:
        """Drop the timer at the end of a run, unless another run has scopes."""
        if not self._scopes:
            self._set_timer()

    def _end_scopes(self) -> None:
        """End the scopes that are over, and set the timer for the others."""
        now = asyncio.get_running_loop().time()
        for scope in [scope for scope in self._scopes if self._requested or scope.deadline <= now]:
            self._scopes.discard(scope)
            scope.end()
        self._set_timer()

    def _set_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
        self._timer = None
        first = min((scope.deadline for scope in self._scopes), default=math.inf)
        if first < math.inf:
            self._timer = asyncio.get_running_loop().call_at(first, self._end_scopes)


class _Scope:
    """The context manager of `Interrupt.within`, for one task. It is a class, because a turn enters
    some twenty of them and a generator costs twice as much."""

    __slots__ = ("_cancelling", "_interrupt", "_is_over", "_task", "deadline")

    def __init__(self, interrupt: Interrupt, deadline: float) -> None:
        self._interrupt = interrupt
        self._is_over = False
        self.deadline = deadline

    def __enter__(self) -> None:
        if self._interrupt.requested:
            raise Interrupted
        if asyncio.get_running_loop().time() >= self.deadline:
            raise TimeoutError
        self._task: asyncio.Task[Any] = _current_task()
        self._cancelling = self._task.cancelling()
        self._interrupt.enter(self)

    def end(self) -> None:
        """Cancel what is awaited inside."""
        self._is_over = True
        self._task.cancel()

    def __exit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._interrupt.leave(self)
        is_over = isinstance(exception, TimeoutError)
        if self._is_over and self._task.uncancel() <= self._cancelling:
            is_over = is_over or isinstance(exception, asyncio.CancelledError)
        if is_over and self._interrupt.requested:
            raise Interrupted from None
        if is_over and not isinstance(exception, TimeoutError):
            raise TimeoutError from exception


def _current_task() -> asyncio.Task[Any]:
    task = asyncio.current_task()
    if task is None:
        raise RuntimeError("only a task can be interrupted")
    return task
