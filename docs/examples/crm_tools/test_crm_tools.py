"""The tools against a CRM over a real socket."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import aiohttp
import pytest
from crm_tools.client import Crm
from crm_tools.tools import close_ticket, find_tickets, open_crm
from fake_crm import TOKEN, running_crm

from bot.testing import assert_schema, run_tool
from bot.testing.scripted import call, finish, scripted_run
from bot.toolkit import ToolError


@pytest.fixture
async def crm() -> AsyncGenerator[Crm]:
    async with (
        running_crm() as server,
        open_crm.opened(url=str(server.make_url("")), token=TOKEN) as client,
    ):
        yield client


async def test_tickets_are_found(crm: Crm) -> None:
    """With a source for each, which the answer may link."""
    result = await run_tool(find_tickets, {"words": "invoice november"}, {Crm: crm})
    assert result.content == "#17 The invoice of November is missing (open)"
    assert [each.url for each in result.sources] == ["https://crm.example/17"]


async def test_an_unknown_ticket_is_the_models_mistake(crm: Crm) -> None:
    """The model is told what to do next."""
    with pytest.raises(ToolError, match="no ticket 99"):
        await run_tool(close_ticket, {"ticket": 99}, {Crm: crm})


async def test_a_wrong_token_is_noticed_when_the_client_opens() -> None:
    """So the log of the bot's start names it."""
    async with running_crm() as server:
        with pytest.raises(aiohttp.ClientResponseError, match="401"):
            async with open_crm.opened(url=str(server.make_url("")), token="wrong"):
                pass


def test_what_the_model_sees() -> None:
    """Only the arguments that are its own."""
    assert_schema(find_tickets, {"words": {"type": "string"}})


async def test_a_whole_run(crm: Crm) -> None:
    """A ticket is found, and closed once a person has approved it."""
    run = await scripted_run(
        "Close the ticket about the printer.",
        [
            call("find_tickets", {"words": "printer"}),
            call("close_ticket", {"ticket": 42}),
            finish({"summary": "Done."}),
        ],
        tools=[find_tickets, close_ticket],
        services={Crm: crm},
    )
    assert run.outputs[-1] == "Ticket 42 is closed."
    assert await crm.find("printer") == []
