"""What can be done with requests from outside a run: take in, take back, stop."""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.request import Request
from bot.runs.engine import Engine
from bot.store import Stores


@dataclass(frozen=True, slots=True)
class Requests:
    """For whoever listens to people."""

    stores: Stores
    engine: Engine

    async def submit(self, request: Request, event_id: str) -> bool:
        """Keep the request and have it run; False when it was taken in before.

        Raises StoreUnavailable when that is not certain: do not acknowledge it then.
        """
        new = await self.engine.submit(request, event_id)
        if not request.private:  # what only one person saw makes nobody's reply meant for us
            await self.stores.threads.join(request.thread_key, request.user)
        return new

    async def withdraw(self, thread_key: str, ts: str, by: str) -> bool:
        """Take back what the message `ts` asked, waiting or running; False when it does not wait."""
        team, channel, _ = thread_key.split(":", 2)
        request_id = await self.stores.mailbox.find(team, channel, ts)
        if request_id is None:
            return False
        await self.stores.signals.request_cancel(thread_key, request_id, by)
        return await self.stores.mailbox.remove(thread_key, request_id)

    async def cancel(self, thread_key: str, by: str) -> bool:
        """Stop the thread's current run; False when nothing runs there."""
        return await self.stores.signals.request_cancel(thread_key, None, by) is not None
