"""Outbox of changes: each change of an account is told at least once, also after a crash."""

from __future__ import annotations

import asyncio
import logging

from bot.features.accounts.account import AccountChange, OnAccountChange
from bot.features.accounts.storage import AccountStorage

log = logging.getLogger(__name__)

_STOP_SECONDS = 10.0  # for changes that are being told when the process ends
_LOOK_SECONDS = 60.0  # between two looks for changes that were not told


class ChangeOutbox:
    """Tells `on_change` of each change, in a process that sets it; the others leave that to it."""

    def __init__(self, storage: AccountStorage) -> None:
        self.on_change: OnAccountChange | None = None
        self._storage = storage
        self._telling: set[asyncio.Task[None]] = set()

    async def untold(self) -> list[AccountChange]:
        """Return the changes that nobody was told of yet, oldest first."""
        return await self._storage.changes()

    def tell_soon(self, change: AccountChange) -> None:
        """Tell a change in a task of its own, so that no browser or Slack request waits for it."""
        task = asyncio.create_task(self._tell(change), name="change of an account")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def run(self) -> None:
        """Tell changes that no process has told, for ever: those of workers, and after crashes."""
        while True:
            try:
                for change in await self.untold():
                    await self._tell(change)
            except Exception:
                log.exception("Changes of accounts are told later")
            await asyncio.sleep(_LOOK_SECONDS)

    async def settled(self) -> None:
        """Wait until the changes that this process has made are told."""
        if self._telling:
            await asyncio.wait(self._telling)

    async def stop(self) -> None:
        """Tell no more changes; what takes long is cut off, and told again by another process."""
        self.on_change = None
        tasks = set(self._telling)
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tell(self, change: AccountChange) -> None:
        """Tell a change, if this process does that. When it fails, it is told again later."""
        if self.on_change is None:
            return
        try:
            async with self._storage.telling(change) as may_tell:
                if may_tell:
                    await self.on_change(change)
                    await self._storage.told(change)
        except Exception:
            log.exception("A change of an account at %s is told later", change.server)
