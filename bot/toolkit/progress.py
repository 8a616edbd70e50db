"""Progress of a running call, for the people who watch it: one short line, and how much is done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, suppress
from contextvars import ContextVar
from typing import Any

from bot.core.bound import Bound
from bot.text.invisible_text import readable
from bot.text.redaction import redacted

_PACE = 1.0
"""Least seconds between two lines of a call. People read no faster, and Slack limits changes."""

_LONGEST = 80
_MOST_READ = 500  # characters; a tool may hand over anything

Tell = Callable[[str, float | None], None]
"""Takes what a call does now, and the share that is done (0 to 1), None if nobody knows."""


def progress(text: str, share: float | None = None) -> Any:
    """Show what the running call does now, and the share of it that is done (0 to 1).

    Write `await progress(…)` in an async function, and `progress(…)` in a plain one, which runs in
    a thread. People see the newest line, at most one a second, until the call ends. Outside a run
    it does nothing.
    """
    current_progress()(text, share)
    return _REPORTED  # an awaitable; declared as Any, since type checkers want all of them awaited


def current_progress() -> Tell:
    """Return what takes the progress of the call that runs here.

    For code that hears of progress elsewhere, as in a callback of another task: get it during the
    call, and call it from any task or thread.
    """
    return _current.get()


def safe_progress(text: str, share: float | None) -> tuple[str, float | None]:
    """Return what a tool reported as one short line, without secrets and invisible characters, and
    the share if it is one."""
    line = " ".join(redacted(readable(str(text)[:_MOST_READ])).split())
    if len(line) > _LONGEST:
        line = f"{line[: _LONGEST - 1].rstrip()}…"
    is_share = isinstance(share, int | float) and 0 <= share <= 1
    return line, share if is_share else None


def shown_progress(text: str, share: float | None) -> str:
    """Return the line that people see: the share in percent, then the text."""
    done = "" if share is None else f"{share * 100:.0f} %"
    return " · ".join(filter(None, (done, text)))


def bound_progress(tell: Tell) -> Bound[Tell]:
    """Let `tell` take all progress that the body reports, in its tasks and threads too."""
    return Bound(_current, tell)


def paced_progress(tell: Tell, pace: float = _PACE) -> AbstractContextManager[None]:
    """Let `tell` take the newest progress of the body, at most once in `pace` seconds.

    It gets safe lines, always on this event loop, and nothing after the body: a thread that was
    left behind may go on reporting.
    """
    return _Paced(tell, pace)


class _Paced:
    """The progress of one call. `report` may be called from any thread."""

    def __init__(self, tell: Tell, pace: float) -> None:
        self._tell = tell
        self._pace = pace
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._newest: tuple[str, float | None] | None = None
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._closed = False

    def __enter__(self) -> None:
        self._token = _current.set(self.report)

    def __exit__(self, *_: object) -> None:
        _current.reset(self._token)
        self._closed = True
        if self._timer:
            self._timer.cancel()

    def report(self, text: str, share: float | None) -> None:
        newest = (str(text)[:_MOST_READ], share)
        with self._lock:
            is_planned, self._newest = self._newest is not None, newest
        if not is_planned:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(self._plan)

    def _plan(self) -> None:
        if self._closed:
            return
        if self._loop.time() >= self._next:
            self._pass_on()
        else:
            self._timer = self._loop.call_at(self._next, self._pass_on)

    def _pass_on(self) -> None:
        with self._lock:
            newest, self._newest = self._newest, None
        self._next = self._loop.time() + self._pace
        if newest:
            self._tell(*safe_progress(*newest))


class _Reported:
    """An awaitable that lets the event loop run once."""

    def __await__(self) -> Generator[None]:
        yield


def _ignore(text: str, share: float | None) -> None:
    """Drop progress that nobody watches."""


_REPORTED = _Reported()
_current: ContextVar[Tell] = ContextVar("progress", default=_ignore)
