"""What the agent can do with the CRM."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Annotated

import aiohttp
from pydantic import Field

from bot.toolkit import (
    Changes,
    Provided,
    Reads,
    Secret,
    Source,
    ToolError,
    ToolResult,
    provider,
    tool,
)
from crm_tools.client import Crm


@provider(group="crm")
async def open_crm(url: str, token: Annotated[str, Secret("CRM_TOKEN")]) -> AsyncGenerator[Crm]:
    """Open the client, once per worker: `url` is a key of [tools.crm] in bot.toml."""
    headers = {"Authorization": f"Bearer {token}"}
    async with aiohttp.ClientSession(url, headers=headers) as session:
        crm = Crm(session)
        await crm.account()  # a wrong token is seen at the start, not by the first who asks
        yield crm


@tool(group="crm", summary="Find tickets", safety=Reads(foreign=True), retries=2)
async def find_tickets(words: str, crm: Provided[Crm]) -> ToolResult:
    """Find open tickets in the CRM.

    Args:
        words: Words of the ticket's title.
    """
    tickets = await crm.find(words)
    lines = [f"#{each.id} {each.title} ({each.status})" for each in tickets]
    sources = [
        Source(title=f"Ticket {each.id}", url=each.url, supports=each.title) for each in tickets
    ]
    return ToolResult("\n".join(lines) or "No open ticket has these words.", sources=tuple(sources))


@tool(
    group="crm",
    summary="Close a ticket",
    title="Close ticket {ticket}",
    safety=Changes(sensitive=True),
)
async def close_ticket(
    ticket: Annotated[int, Field(ge=1, description="Number of the ticket.")], crm: Provided[Crm]
) -> str:
    """Close a ticket in the CRM."""
    try:
        await crm.close(ticket)
    except LookupError:
        raise ToolError(f"There is no ticket {ticket}. Find it with find_tickets first.") from None
    return f"Ticket {ticket} is closed."
