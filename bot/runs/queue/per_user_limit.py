"""A limit on runs per person, so that one person cannot take all the places of a worker."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager

from bot.core.request import Request
from bot.runs.queue.requeue import Requeue
from bot.store import Mailbox

_STOPPED_PAUSE = 1.0  # seconds until a stopped request that found no place looks again


class PerUserLimit:
    """A count of each person's runs in this process, with at most `most` at once.

    A request beyond that is deferred: its thread is parked until another run of the person ends in
    this process, or, if this process dies, until the sweep finds it after `seconds`. Requests that
    were stopped while deferred may use `most` more places, so that people see at once that they were
    stopped.
    """

    def __init__(self, mailbox: Mailbox, most: int, seconds: float) -> None:
        self._mailbox = mailbox
        self._most = most
        self._seconds = seconds
        self._running = Counter[str]()
        self._waiting: defaultdict[str, dict[str, None]] = defaultdict(dict)

    async def is_deferred(self, request: Request) -> bool:
        """Return whether the request must wait for another run of the same person to end.

        A request that was stopped is not deferred. Raises Requeue when a place became free meanwhile,
        and when a stopped request finds no place.
        """
        if not self._has_running(request, self._most):
            return False
        if not await self._mailbox.defer(request, self._seconds):
            if self._has_running(request, 2 * self._most):
                raise Requeue(_STOPPED_PAUSE)
            return False
        if not self._has_running(
            request, self._most
        ):  # a run ended meanwhile and saw nobody waiting
            await self._mailbox.undefer(request.thread_key)
            raise Requeue
        self._waiting[_person_key(request)][request.thread_key] = None
        return True

    @contextmanager
    def counted(self, request: Request) -> Generator[None]:
        """Count one more run of the person for the length of the context."""
        person = _person_key(request)
        self._running[person] += 1
        try:
            yield
        finally:
            self._running[person] -= 1
            self._running += Counter()  # removes the people who have no runs

    async def pop_next_thread(self, request: Request) -> str | None:
        """Unpark the thread that has waited longest for a run of this person to end.

        Return its key: the thread needs tickets now. Return None when no thread waits.
        """
        waiting = self._waiting.get(person := _person_key(request))
        if not waiting:
            return None
        thread_key = next(iter(waiting))
        del waiting[thread_key]
        if not waiting:
            del self._waiting[person]
        await self._mailbox.undefer(thread_key)
        return thread_key

    def _has_running(self, request: Request, runs: int) -> bool:
        return self._running[_person_key(request)] >= runs


def _person_key(request: Request) -> str:
    """Return whose runs a request counts among: its asker's; those of rules apart from the others, or
    whoever floods a channel would have its rules' owner wait."""
    return f"{request.team}:{request.user}{':rules' if request.is_by_rule else ''}"
