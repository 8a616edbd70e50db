"""Messages that come while a run works, or together with the one that began it.

What its author writes in the thread is taken into the run before its next call to the model, and
answered with the rest; `during_run` of a channel says whether. What others write waits for its
turn, and so does what comes too late for another call.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Protocol

from typing_extensions import override

from bot.agent import prompts
from bot.agent.events import Event, MessagesJoined
from bot.agent.hooks import Hooks
from bot.agent.interrupt import Interrupt
from bot.agent.state import LoopState
from bot.core.chain import Item
from bot.core.failpoints import failpoint
from bot.core.request import Entry, Request

MOST_MESSAGES = 200
MOST_CHARACTERS = 60_000
"""Of all messages of a run together; further ones wait for the next."""

_ELSEWHERE = frozenset({Entry.WORKFLOW_STEP, Entry.HEADLESS})
"""Something waits for their answers that is no reader of the thread."""


class Waiting(Protocol):
    """The mailbox, as far as it is needed here."""

    async def behind(self, request: Request, most: int) -> list[Request]:
        """The requests that wait behind `request`, in their order."""

    async def gone(self, requests: Sequence[Request]) -> list[Request]:
        """Those that were taken back."""


class Steering(Hooks):
    """Of one run. `joined` are the requests that it has taken in beside the one that began it.

    Whoever keeps what the run adds to its conversation keeps in the same step that they wait no
    longer (`joining`), so that none is lost or asked twice; and then says so (`taken`).
    """

    inherited = False

    def __init__(
        self,
        request: Request,
        joined: Sequence[Request],
        waiting: Waiting,
        interrupt: Interrupt,
        *,
        steers: bool,
        images: bool,
    ) -> None:
        self.joined = list(joined)
        self._request = request
        self._waiting = waiting
        self._interrupt = interrupt
        self._steers = steers and _takes_more(request)
        self._images = images
        self._watched = list(joined)
        self._untold = list(joined)
        self._offered: list[tuple[Request, Item]] = []

    @override
    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        if state.closing or self._interrupt.requested:
            return ()
        gone = await self._waiting.gone(self._watched)
        self._watched = [each for each in self._watched if each not in gone]
        new = await self._new() if self._steers else []
        self._offered = [(each, prompts.request_message(each, images=self._images)) for each in new]
        taken_back = (prompts.taken_back(each.text) for each in gone)
        return (*taken_back, *(item for _, item in self._offered))

    def requests(self) -> Sequence[Request]:
        """All that the run is to answer."""
        return (self._request, *self.joined)

    def asked(self) -> str:
        """In the words of those who asked it."""
        return "\n\n".join(each.text for each in self.requests())

    def joining(self, state: LoopState) -> list[Request]:
        """Those whose messages are in what is about to be kept."""
        kept = {id(item) for item in state.pending}
        joining = [each for each, item in self._offered if id(item) in kept]
        if joining:
            failpoint("messages-joining")
        return joining

    def taken(self, requests: Sequence[Request]) -> None:
        """They were kept."""
        if requests:
            failpoint("messages-joined")
            self.joined += requests
            self._watched += requests
            self._untold += requests
            self._offered = []

    def news(self) -> list[Event]:
        """What is to be told of those that joined since the last time."""
        new, self._untold = self._untold, []
        if not new:
            return []
        return [MessagesJoined(tuple(each.text for each in new), new[-1].message or new[-1].ts)]

    async def _new(self) -> list[Request]:
        room = MOST_MESSAGES - len(self.joined)
        if room <= 0:
            return []
        waiting = await self._waiting.behind(self._request, room)
        fitting = list(takewhile(self._fits, waiting))
        before = sum(map(_size, self.requests()))
        sizes = accumulate(map(_size, fitting), initial=before)
        next(sizes)
        return [each for each, size in zip(fitting, sizes, strict=True) if size <= MOST_CHARACTERS]

    def _fits(self, request: Request) -> bool:
        return _is_plain(request) and request.user == self._request.user


def _size(request: Request) -> int:
    return len(request.text) + len(request.quoted)


def _takes_more(request: Request) -> bool:
    """Whether it has an ordinary answer that everybody sees, below all that was said before."""
    ordinary = request.response_type == "Answer" and request.response_schema is None
    below = not request.replaces and request.entry not in _ELSEWHERE
    return ordinary and below and not request.private and not request.superseded


def _is_plain(request: Request) -> bool:
    """Whether somebody typed it into the thread, and no more is wanted than such an answer."""
    return request.is_typed and _takes_more(request)
