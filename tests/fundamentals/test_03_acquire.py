"""Most tools are offered to the model only on request.

A definition costs tokens in every request. So the model sees a few core tools, and one line for
each other tool in the description of `acquire_tools`. It asks for the tools it needs by name.
"""

from bot.agent.events import ToolsAcquired
from bot.dev.model import ResponsesServer, Script, call, finish
from bot.store import Stores
from bot.toolkit import tool
from bot.toolkit.tool import Services
from tests.support.runs import answer, bot_on, bot_with


async def almanac(_services: Services) -> str:
    return "The observatory knows nothing of days."


@tool(group="sky", summary="Phase of the moon on a date", on_acquired=almanac)
async def moon(date: str) -> str:
    """The phase of the moon."""
    return "full"


@tool(group="talk", summary="Greets", core=True)
async def greet() -> str:
    """Greets."""
    return "Hello."


async def test_a_tool_is_acquired_then_used(stores: Stores) -> None:
    """Name a tool first; offer it once acquired, with its documentation."""
    script = Script(
        [
            call("acquire_tools", {"names": ["moon"]}),
            call("moon", {"date": "2026-11-24"}),
            finish(answer("Full.")),
        ]
    )
    async with bot_with(stores, script, moon.tool, greet.tool) as bot:
        await bot.ask("What does the moon look like?")

    assert bot.offered(0) == ["greet", "acquire_tools", "complete_task"]
    assert "sky: moon" in str(bot.api.requests[0].body["tools"])
    assert bot.said(0)[-1].endswith("- moon: Phase of the moon on a date")  # it fits the question
    assert bot.offered(1) == ["greet", "acquire_tools", "complete_task", "moon"]
    assert "The observatory knows nothing of days." in bot.said(1)[-1]
    assert bot.outputs(2) == ["full"]
    assert bot.board.of(ToolsAcquired) == [ToolsAcquired(("moon",))]


async def test_it_stays_for_the_rest_of_the_thread(stores: Stores) -> None:
    """The next question in the thread has the tool, and knows what it said: another process asks it, of a
    service that has lost the conversation."""
    script = Script(
        [call("acquire_tools", {"names": ["moon"]}), finish(answer()), finish(answer())]
    )
    async with ResponsesServer.open(brain=script) as api:
        async with bot_on(stores, api, moon.tool, greet.tool) as bot:
            await bot.ask("Look up the moon.")
        for response in api.responses.values():
            response.kept = False
        async with bot_on(stores, api, moon.tool, greet.tool) as bot:
            await bot.ask("And tomorrow?")

    assert "moon" in bot.offered()
    assert str(bot.said()).count("The observatory knows nothing of days.") == 1
