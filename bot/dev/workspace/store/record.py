"""The record of the workspace: every Web API call, and every change that people could see."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

# Seconds. A condition may depend on the app's own state, whose changes the record does not see.
POLL_INTERVAL = 0.05

Found = TypeVar("Found")


@dataclass(frozen=True)
class Effect:
    """A call of the app, recorded when it was complete.

    `ok` says whether it was carried out; `error` is what the caller was told, or "reply_lost"
    when it was carried out and the reply never arrived. `at` is in seconds since the epoch.
    """

    method: str
    args: dict[str, Any]
    at: float
    ok: bool
    error: str | None
    result: dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A change that people could see.

    `kind` is one of message, message_changed, message_deleted, ephemeral, status, view_opened,
    view_updated, view_closed, home, reaction, stream, prompts, session, file, members (somebody
    joined or left a channel, or it was archived), people (an account ended), workflow.
    """

    kind: str
    channel: str | None = None
    thread_ts: str | None = None
    ts: str | None = None
    user: str | None = None
    data: dict[str, Any] = field(default_factory=dict)


class Record:
    """Effects and changes, and ways of waiting for them."""

    def __init__(self) -> None:
        self.effects: list[Effect] = []
        self._subscribers: list[asyncio.Queue[Change]] = []  # in the order of subscription
        self._news = asyncio.Event()

    def effect(self, effect: Effect) -> None:
        """Record a call."""
        self.effects.append(effect)
        self._wake()

    def change(self, change: Change) -> None:
        """Send a change to every subscriber."""
        for queue in self._subscribers:
            queue.put_nowait(change)
        self._wake()

    @asynccontextmanager
    async def subscribe(self) -> AsyncGenerator[AsyncIterator[Change]]:
        """Yield the changes from now on, in order and without gaps, while the context is open."""
        queue: asyncio.Queue[Change] = asyncio.Queue()
        self._subscribers.append(queue)
        try:
            yield _drain(queue)
        finally:
            self._subscribers.remove(queue)

    async def until(self, condition: Callable[[], Found], seconds: float) -> Found:
        """Return the first true value of `condition`.

        Raises:
            TimeoutError: it stayed false for `seconds`; the message shows the last effects.
        """
        try:
            async with asyncio.timeout(seconds):
                while not (found := condition()):
                    await self._next_news()
                return found
        except TimeoutError:
            raise TimeoutError(f"not so after {seconds} s; last effects:\n{self.dump()}") from None

    def dump(self, last: int = 20) -> str:
        """Return the last effects, one a line."""
        lines = (
            f"  {e.method} {'ok' if e.ok else e.error} {json.dumps(e.args, default=str)[:300]}"
            for e in self.effects[-last:]
        )
        return "\n".join(lines) or "  (none)"

    async def _next_news(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_INTERVAL):
                await self._news.wait()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()


async def _drain(queue: asyncio.Queue[Change]) -> AsyncGenerator[Change]:
    while True:
        yield await queue.get()
