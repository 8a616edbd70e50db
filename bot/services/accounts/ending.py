"""Ending accounts: a person disconnects one, leaves, or is erased; a workspace removes the bot."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from bot.core.accounts import AccountOwner, Outcome
from bot.core.errors import CorruptValue
from bot.services.accounts.access import change_of
from bot.services.accounts.change_outbox import ChangeOutbox
from bot.services.accounts.flow import ConnectFlow
from bot.services.accounts.storage import AccountStorage


@dataclass(frozen=True, slots=True)
class Ending:
    """Deletes accounts, and has the servers revoke their tokens where they can."""

    storage: AccountStorage
    flow: ConnectFlow
    outbox: ChangeOutbox

    async def disconnect(self, owner: AccountOwner, server: str, *, id: str = "") -> bool:
        """Delete an account and revoke its tokens. Return whether the server has revoked them.

        With `id`, do so only if that is still the current connection.
        """
        unconfirmed = await self.storage.unconfirmed(owner, server)
        if unconfirmed and id in ("", unconfirmed.id):
            await self.storage.forget_unconfirmed(owner, server)
            await self.flow.revoke(unconfirmed)
        try:
            kept = await self.storage.load(owner, server)
        except CorruptValue:
            await self.storage.discard(owner, server)
            return False
        if kept is None or id not in ("", kept.value.id):
            return False
        change = change_of(kept.value, Outcome.DISCONNECTED)
        if not await self.storage.remove(kept, change):  # just refreshed or replaced
            return await self.disconnect(owner, server, id=kept.value.id)
        self.outbox.tell_soon(change)
        return await self.flow.revoke(kept.value)

    async def erase(self, owner: AccountOwner) -> int:
        """Delete everything about a person's accounts and revoke the tokens.

        Return how many accounts there were.
        """
        records = await self.storage.remove_all(owner)
        await asyncio.gather(*(self.flow.revoke(each) for each in records))
        return len(records)

    async def erase_team(self, team: str) -> int:
        """Do the same for everybody of a workspace."""
        return sum([await self.erase(each) for each in await self.storage.owners(team)])
