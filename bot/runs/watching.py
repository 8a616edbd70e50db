"""Watching: what hears of requests, runs and calls of the model, and changes none of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Iterable
from contextlib import (
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from dataclasses import dataclass
from typing import Protocol, TypeVar

from bot.agent.events import Event
from bot.core.budgets import Spent
from bot.core.chain import Usage
from bot.core.errors import LeaseLost, StoreUnavailable
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.model import ModelResponse

log = logging.getLogger(__name__)

Submit = Callable[[Request, str], Awaitable[bool]]
"""Stores a request and its event id durably; returns False when either was seen before.

Raises when the request could not be stored."""


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A call of the model service that ended after `seconds`: a response, or other work of it.

    `outcome` is "ok", "abandoned" or the kind of failure. `usage` is what the service billed, also
    for a response that failed, and `cost` its price in US dollars; both are None if not known.
    `estimated` is what budgets are charged for a call that broke off.
    """

    model: str
    outcome: str
    seconds: float
    response: ModelResponse | None = None
    usage: Usage | None = None
    cost: float | None = None
    estimated: Spent | None = None


class Listener:
    """A listener to one run, or to a job that calls the model: every method does nothing.

    It hears of what passes in the order in which it passes. What it raises is logged, and costs only
    what it would have done: the run goes on, and the listener hears no more of it until its end.
    """

    def on_event(self, event: Event) -> None:
        """Hear an event, after what it holds was saved. Must return at once."""

    def on_model_call(self, call: ModelCalled) -> None:
        """Hear of a call of the model by the loop, a hook or a sub-agent, after it ended."""

    async def on_end(self, outcome: Outcome) -> None:
        """Hear the outcome once its final message is posted; for up to PART_SECONDS.

        If it raises StoreUnavailable, or the process dies, the outcome is delivered again: must be
        safe to repeat.
        """


L = TypeVar("L", bound=Listener)


def doing(method: str, listeners: Iterable[L], base: type[L]) -> list[L]:
    """Return those of which `method` does something, in order: that of their `base` does nothing."""
    nothing = getattr(base, method)
    return [listener for listener in listeners if getattr(type(listener), method) is not nothing]


PART_SECONDS = 60.0


@contextmanager
def optional(part: object, what: str) -> Generator[None]:
    """Go on without what a listener or a part of a feature does in the context, if that raises: it is
    logged as `what`. Raises StoreUnavailable and LeaseLost, which end the attempt anyway."""
    try:
        yield
    except (StoreUnavailable, LeaseLost):
        raise
    except Exception:
        log.exception("%s of %s failed, and is left out", what, name_of(part))


@asynccontextmanager
async def bounded(part: object, what: str) -> AsyncGenerator[None]:
    """Be `optional` for what may take up to PART_SECONDS."""
    with optional(part, what):
        async with asyncio.timeout(PART_SECONDS):
            yield


def name_of(part: object) -> str:
    """Return the name of a listener or part in the log, which shows whose it is."""
    return f"{type(part).__module__}.{type(part).__qualname__}"


class ObservedRun(Listener):
    """What an observer makes of one run."""

    def running(self) -> AbstractContextManager[object]:
        """Return the context inside which the run takes place, up to the delivery of its outcome."""
        return nullcontext()


ListenerFor = Callable[[Request], Listener]
"""Makes a listener to the run of a request."""


@dataclass(slots=True)
class Submission:
    """A request that is being stored. `is_new` is set once it is, unless it was stored before;
    `is_repeated` if Slack sent its event again after it was fully handled."""

    request: Request
    is_new: bool = False
    is_repeated: bool = False


class Observer(Protocol):
    """An observer of a process, as metrics and traces are."""

    def submitting(self, submission: Submission) -> AbstractContextManager[object]:
        """Return the context inside which a request is stored. It may give the request a trace."""

    def listener(self, request: Request) -> ObservedRun:
        """Return a listener to the run of a request."""
