"""A CRM that answers lines over TCP, and counts who is connected."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

TOKEN = "correct horse battery"

FILE = '''
import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated

from pydantic import Field

from bot.toolkit import Provided, Reads, Secret, provider, tool


class Crm:
    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    async def ask(self, words: str) -> str:
        self.writer.write(f"{words}\\n".encode())
        return (await self.reader.readline()).decode().strip()


@provider(group="crm")
async def open_crm(
    port: int, token: Annotated[str, Secret("CRM_TOKEN")], host: str = "127.0.0.1"
) -> AsyncGenerator[Crm]:
    reader, writer = await asyncio.open_connection(host, port)
    crm = Crm(reader, writer)
    try:
        if await crm.ask(token) != "welcome":
            raise PermissionError(f"the CRM does not know {token}")
        yield crm
    finally:
        writer.close()
        await writer.wait_closed()


@tool(group="crm", summary="Find tickets", core=True, safety=Reads(foreign=True))
async def find_tickets(
    words: Annotated[str, Field(description="Words of the ticket.")], crm: Provided[Crm]
) -> str:
    """Find tickets in the CRM."""
    return await crm.ask(words)
'''
"""A file of tools with a provider of their client."""


@dataclass
class CrmServer:
    """What clients did. Nobody is greeted while `greets` is not set."""

    port: int = 0
    logins: list[str] = field(default_factory=list)
    connected: int = 0
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    greets: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.greets.set()

    async def until(self, connected: int) -> None:
        """Wait until so many clients are connected."""
        async with asyncio.timeout(10), self.changed:
            await self.changed.wait_for(lambda: self.connected == connected)

    async def _count(self, change: int) -> None:
        async with self.changed:
            self.connected += change
            self.changed.notify_all()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Greet the one that knows the token, then answer each line."""
        await self._count(1)
        self.logins.append((await reader.readline()).decode().strip())
        await self.greets.wait()
        writer.write(b"welcome\n" if self.logins[-1] == TOKEN else b"go away\n")
        while line := await reader.readline():
            writer.write(b"ticket 17 about " + line)
        writer.close()
        await writer.wait_closed()
        await self._count(-1)


@asynccontextmanager
async def crm_server(port: int = 0) -> AsyncGenerator[CrmServer]:
    """Serve a CRM for the body."""
    crm = CrmServer()
    server = await asyncio.start_server(crm.serve, "127.0.0.1", port)
    crm.port = server.sockets[0].getsockname()[1]
    try:
        yield crm
    finally:
        server.close()
