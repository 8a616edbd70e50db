"""Audience of what personal accounts find: everybody in the thread, or the asker alone.

The asker is asked before the first call on their account whose answer others would read, once for
each account and thread; for a schedule once, as each of its questions is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from bot.core.errors import CorruptValue
from bot.core.request import Request
from bot.features.accounts.account import AccountOwner
from bot.store import Decisions, Stores


class Audience(StrEnum):
    """Who may see what an account finds."""

    EVERYBODY = "everybody"
    ASKER = "asker"


class Audiences(BaseModel):
    """What a person chose in one thread, by server."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    servers: Mapping[str, Audience] = {}


@dataclass(frozen=True, slots=True)
class AudienceBook:
    """What people chose, in the store."""

    store: Decisions

    @classmethod
    def of(cls, stores: Stores) -> AudienceBook:
        """Return the book in the Redis of `stores`."""
        return cls(Decisions(stores.redis, stores.retention, "account-audiences"))

    async def choice(self, request: Request, server: str) -> Audience | None:
        """Return the choice of the asker, None before they have chosen."""
        return (await self._all(request)).servers.get(server)

    async def choose(self, request: Request, server: str, audience: Audience) -> None:
        """Store the choice of the asker for the request's thread, or for its schedule."""
        servers = {**(await self._all(request)).servers, server: audience}
        await self.store.save(_name(request), Audiences(servers=servers))

    async def _all(self, request: Request) -> Audiences:
        try:
            return await self.store.load(_name(request), Audiences) or Audiences()
        except CorruptValue:
            return Audiences()


def _name(request: Request) -> str:
    owner = AccountOwner.of(request)
    place = f"{owner.team}:{request.schedule}" if request.schedule else request.thread_key
    return f"{place}:{owner.user}"
