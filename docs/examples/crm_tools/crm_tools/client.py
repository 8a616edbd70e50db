"""A client of the CRM. It knows nothing of the bot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import aiohttp


@dataclass(frozen=True)
class Ticket:
    """A ticket, with the address of its page."""

    id: int
    title: str
    status: str
    url: str


class Crm:
    """The CRM as one account sees it."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def account(self) -> str:
        """Return the name of the account. Raises aiohttp.ClientResponseError for a wrong token."""
        return str((await self._get("/account"))["name"])

    async def find(self, words: str) -> list[Ticket]:
        """Return the open tickets that contain `words`."""
        return [Ticket(**each) for each in await self._get("/tickets", q=words)]

    async def close(self, ticket: int) -> None:
        """Close a ticket. Raises LookupError when there is none with this number."""
        async with self._session.post(f"/tickets/{ticket}/close") as reply:
            if reply.status == 404:
                raise LookupError(ticket)
            reply.raise_for_status()

    async def _get(self, path: str, **query: str) -> Any:
        async with self._session.get(path, params=query) as reply:
            reply.raise_for_status()
            return await reply.json()
