"""Messages that come while a run works, or together with the one that began it.

What its author writes in the thread is taken into the run before its next call to the model, and
answered with the rest; `during_run` of a channel says whether. What others write waits for its
turn, and so does what comes too late for another call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Protocol

from typing_extensions import override

from bot.agent import prompts
from bot.agent.events import Event, MessagesJoined
from bot.agent.hooks.chain import Hooks
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
        """Those that were taken back or edited."""


@dataclass(frozen=True, slots=True)
class Change:
    """What `items` tell the model: the requests `joining` are taken in, and those that the run then
    has besides its first, `joined`, lack what was taken back."""

    items: tuple[Item, ...]
    joining: list[Request]
    joined: list[Request]


class Steering(Hooks):
    """Of one run. `joined` are the requests that it has taken in beside the one that began it; with
    `is_short` some of them were taken back while no worker had the run.

    Whoever keeps what the run adds to its conversation keeps in the same step who joins and leaves
    (`change`), so that no message is lost, asked twice, or told of twice; and then says so (`kept`).
    """

    inherited = False

    def __init__(
        self,
        request: Request,
        joined: Sequence[Request],
        waiting: Waiting,
        interrupt: Interrupt,
        *,
        is_short: bool,
        steers: bool,
        images: bool,
    ) -> None:
        self.joined = list(joined)
        self._is_short = is_short
        self._request = request
        self._waiting = waiting
        self._interrupt = interrupt
        self._steers = steers and _takes_more(request)
        self._images = images
        self._untold = list(joined)
        self._offered: Change | None = None

    @override
    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        if state.closing or self._interrupt.requested:
            return ()
        gone = await self._waiting.gone(self.joined)
        left = [each for each in self.joined if each not in gone]
        notes = [prompts.message_withdrawn(each.text) for each in gone]
        if self._is_short:
            texts = [each.text for each in (self._request, *left)]
            notes.append(prompts.messages_withdrawn(texts))
        new = await self._new() if self._steers else []
        messages = [prompts.request_message(each, images=self._images) for each in new]
        self._offered = Change((*notes, *messages), new, [*left, *new])
        return self._offered.items

    def requests(self) -> Sequence[Request]:
        """All that the run is to answer."""
        return (self._request, *self.joined)

    def asked(self) -> str:
        """In the words of those who asked it."""
        return "\n\n".join(each.text for each in self.requests())

    def change(self, state: LoopState) -> Change | None:
        """Return what the last messages to the model change, if they are in what is about to be kept."""
        offered, pending = self._offered, {id(item) for item in state.pending}
        if offered is None or not any(id(item) in pending for item in offered.items):
            return None
        if offered.joining:
            failpoint("messages-joining")
        return offered

    def kept(self, change: Change | None) -> None:
        """Go on from a `change` that was kept."""
        if change is None:
            return
        if change.joining:
            failpoint("messages-joined")
        self.joined = change.joined
        self._untold += change.joining
        self._is_short, self._offered = False, None

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
    return ordinary and below and not request.private and request.counts


def _is_plain(request: Request) -> bool:
    """Whether somebody typed it into the thread, and no more is wanted than such an answer."""
    return request.is_typed and _takes_more(request)
