"""Tasks that must not delay an acknowledgement to Slack, and still have an owner."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from types import TracebackType
from typing import Any

log = logging.getLogger(__name__)


class Background:
    """A group of tasks whose failures are only logged: hints to people, never guaranteed effects.

    Leaving the context waits `grace` seconds for the tasks, then cancels them.
    """

    def __init__(self, *, grace: float = 2.0) -> None:
        self._grace = grace
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, object], what: str) -> None:
        """Start `work` as a task; `what` names it in the log."""
        task = asyncio.create_task(self._run(work, what), name=what)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, work: Coroutine[Any, Any, object], what: str) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - no failure of a hint may reach the caller
            log.warning("%s failed: %s: %s", what, type(error).__name__, error)

    async def __aenter__(self) -> Background:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._tasks:
            return
        _, late = await asyncio.wait(set(self._tasks), timeout=self._grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
