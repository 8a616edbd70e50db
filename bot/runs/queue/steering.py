"""Steering: messages that join a run while it works.

Before each call to the model, a run takes in what its author has written in the thread since, and
answers it with the rest; the channel setting `during_run` can turn that off. Messages of other
people, and messages after the last call to the model, wait for a run of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import TYPE_CHECKING

from typing_extensions import override

from bot.agent import prompts
from bot.agent.events import Event, MessagesJoined
from bot.agent.hooks.chain import Hooks
from bot.agent.state import LoopState
from bot.core.chain import Item
from bot.core.failpoints import failpoint
from bot.core.request import Request

if TYPE_CHECKING:
    from bot.runs.run import Run

MOST_MESSAGES = 200
MOST_CHARACTERS = 60_000
"""Limits for all messages of a run together; further messages wait for the next run."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the requests that a run answers, which `items` tell the model.

    `joining` are the new requests; `joined` are all requests beside the first one after the change,
    without those that were withdrawn.
    """

    items: tuple[Item, ...]
    joining: list[Request]
    joined: list[Request]


class Steering(Hooks):
    """The steering of one run, as a hook of the loop.

    `joined` are the requests that the run answers beside the one that began it. The caller saves each `change` in the same step as
    the conversation that tells the model about it, so that no message is lost or told twice, and
    then calls `on_saved`.
    """

    inherited = False

    def __init__(self, run: Run) -> None:
        self.joined = list(run.joined)
        # Some were withdrawn while no worker had the run.
        self._is_short = len(run.joined) < len(run.record.joined)
        self._request = run.request
        self._mailbox = run.deps.stores.mailbox
        self._interrupt = run.interrupt
        self._steers = run.channel.during_run == "steer" and _takes_more(run.request)
        self._images = run.deps.images
        self._untold = list(run.joined)
        self._may_wait = True
        self._offered: Change | None = None

    @override
    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        if state.closing or self._interrupt.requested:
            return ()
        obsolete = await self._mailbox.obsolete(self.joined)
        remaining = [request for request in self.joined if request not in obsolete]
        notes = [prompts.message_withdrawn(request.text) for request in obsolete]
        if self._is_short:
            texts = [request.text for request in (self._request, *remaining)]
            notes.append(prompts.messages_withdrawn(texts))
        new = await self._new() if self._steers and self._may_wait else []
        messages = [prompts.request_message(request, images=self._images) for request in new]
        self._offered = Change((*notes, *messages), new, [*remaining, *new])
        return self._offered.items

    def requests(self) -> Sequence[Request]:
        """Return all requests that the run answers."""
        return (self._request, *self.joined)

    @property
    def joining(self) -> Sequence[Request]:
        """The requests that the last `on_turn_start` took in."""
        return self._offered.joining if self._offered else ()

    def asked(self) -> str:
        """Return the text of all requests that the run answers."""
        return "\n\n".join(request.text for request in self.requests())

    def change(self, state: LoopState) -> Change | None:
        """Return the change that the last messages told the model, if `state` is about to save them."""
        offered = self._offered
        if offered is None or not offered.items:
            return None
        pending = {id(item) for item in state.pending}
        if not any(id(item) in pending for item in offered.items):
            return None
        if offered.joining:
            failpoint("messages-joining")
        return offered

    def on_counted(self, waiting: int) -> None:
        """Note how many requests are in the mailbox just now, with the run's own."""
        self._may_wait = waiting > 1

    def on_saved(self, change: Change | None) -> None:
        """Apply a `change` that was saved."""
        if change is None:
            return
        if change.joining:
            failpoint("messages-joined")
        self.joined[:] = change.joined  # tools see it, too
        self._untold += change.joining
        self._is_short, self._offered = False, None

    def news(self) -> list[Event]:
        """Return an event about the requests that joined since the last call, if any."""
        new, self._untold = self._untold, []
        if not new:
            return []
        return [MessagesJoined(tuple(request.text for request in new))]

    async def _new(self) -> list[Request]:
        room = MOST_MESSAGES - len(self.joined)
        if room <= 0:
            return []
        waiting = await self._mailbox.waiting_behind(self._request, room)
        fitting = list(takewhile(self._fits, waiting))
        before = sum(map(_size, self.requests()))
        sizes = accumulate(map(_size, fitting), initial=before)
        next(sizes)
        return [
            request for request, size in zip(fitting, sizes, strict=True) if size <= MOST_CHARACTERS
        ]

    def _fits(self, request: Request) -> bool:
        return _is_plain(request) and request.user == self._request.user


def _size(request: Request) -> int:
    return len(request.text) + len(request.quoted)


def _takes_more(request: Request) -> bool:
    """Return whether more messages may join: the answer is ordinary, public and last in the thread."""
    ordinary = request.response_type == "Answer" and request.response_schema is None
    below = not request.replaces and not request.is_of_program
    return ordinary and below and not request.private and request.is_current


def _is_plain(request: Request) -> bool:
    """Return whether somebody typed the request in the thread and expects an ordinary answer.

    One that a backup brought back must first find out by itself whether it was answered since.
    """
    return request.is_typed and _takes_more(request) and request.restored is None
