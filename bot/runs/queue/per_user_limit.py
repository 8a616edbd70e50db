"""Fair shares of a worker: nobody's questions take all the runs that it has at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import contextmanager

from bot.core.request import Request
from bot.runs.queue.requeue import Requeue
from bot.store import Mailbox

_STOPPED_PAUSE = 1.0  # seconds until a stopped request that found no place looks again


class PerUserLimit:
    """Counts the runs of each person in this process. Who has `most` of them waits: the thread rests
    as one that waits for people does, until another run of that person ends here; when this process
    dies, until the rest is over and the sweep looks. As many again may end what was stopped while it
    waited: that is to be seen at once."""

    def __init__(self, mailbox: Mailbox, most: int, seconds: float) -> None:
        self._mailbox = mailbox
        self._most = most
        self._seconds = seconds
        self._running = Counter[str]()
        self._waiting: defaultdict[str, dict[str, None]] = defaultdict(dict)

    async def rests(self, request: Request) -> bool:
        """Whether the request waits for another of its person's; not when it is to be stopped.

        Raises Requeue when a place became free meanwhile, and for one to be stopped that finds none.
        """
        if not self._has(request, self._most):
            return False
        if not await self._mailbox.rest(request, self._seconds):
            if self._has(request, 2 * self._most):
                raise Requeue(_STOPPED_PAUSE)
            return False
        if not self._has(request, self._most):  # and whoever ended saw nobody waiting
            await self._mailbox.end_rest(request.thread_key)
            raise Requeue
        self._waiting[_person(request)][request.thread_key] = None
        return True

    @contextmanager
    def taken(self, request: Request) -> Generator[None]:
        """One more run of the person for the length of the context."""
        person = _person(request)
        self._running[person] += 1
        try:
            yield
        finally:
            self._running[person] -= 1
            self._running += Counter()  # keeps none of those who have no runs

    async def next_after(self, request: Request) -> str | None:
        """The thread that has waited longest for a run of this person to end, which needs tickets
        now; None when there is none."""
        waiting = self._waiting.get(person := _person(request))
        if not waiting:
            return None
        thread_key = next(iter(waiting))
        del waiting[thread_key]
        if not waiting:
            del self._waiting[person]
        await self._mailbox.end_rest(thread_key)
        return thread_key

    def _has(self, request: Request, runs: int) -> bool:
        return self._running[_person(request)] >= runs


def _person(request: Request) -> str:
    return f"{request.team}:{request.user}"
