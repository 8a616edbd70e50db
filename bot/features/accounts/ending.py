"""Ending accounts: a person disconnects one, leaves, or is erased; a workspace removes the bot."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import partial

from bot.core.errors import CorruptValue
from bot.features.accounts.account import AccountOwner, Outcome, Revoked
from bot.features.accounts.change_outbox import ChangeOutbox
from bot.features.accounts.oauth.access import change_of
from bot.features.accounts.revocations import Revocations
from bot.features.accounts.storage import AccountStorage


@dataclass(frozen=True, slots=True)
class Ending:
    """Deletes accounts, and has the servers revoke their tokens where they can."""

    storage: AccountStorage
    revocations: Revocations
    outbox: ChangeOutbox

    async def disconnect(self, owner: AccountOwner, server: str, *, id: str = "") -> Revoked:
        """Delete an account. Return whether the server has revoked its tokens.

        With `id`, do so only if that is still the current connection.
        """
        unconfirmed = await self.storage.unconfirmed(owner, server)
        if unconfirmed and id in ("", unconfirmed.id):
            revocation = await self.revocations.store(unconfirmed, named=False)
            await self.storage.forget_unconfirmed(owner, server)
            await self.revocations.attempt(revocation)
        try:
            kept = await self.storage.load(owner, server)
        except CorruptValue:
            await self.storage.discard(owner, server)
            return Revoked.NEVER
        if kept is None or id not in ("", kept.value.id):
            return Revoked.NEVER
        change = change_of(kept.value, Outcome.DISCONNECTED)
        revocation = await self.revocations.store(kept.value, named=True)
        if not await self.storage.remove(kept, change):  # just refreshed or replaced
            return await self.disconnect(owner, server, id=kept.value.id)
        self.outbox.tell_soon(change)
        return await self.revocations.attempt(revocation)

    async def erase(self, owner: AccountOwner, *, named: bool = False) -> int:
        """Delete everything about a person's accounts and revoke the tokens.

        Return how many accounts there were. With `named`, the audit log says whose tokens were not
        revoked at once.
        """
        removed = await self.storage.remove_all(owner, partial(self.revocations.of, named=named))
        await asyncio.gather(*(self.revocations.attempt(each) for each in removed))
        return len(removed)

    async def erase_team(self, team: str) -> int:
        """Do the same for everybody of a workspace, and leave the revoking to `Revocations.run`."""
        revocation_of = partial(self.revocations.of, named=False, soon=True)
        owners = await self.storage.owners(team)
        return sum([len(await self.storage.remove_all(each, revocation_of)) for each in owners])
