"""A deployment with more tools than are listed for the model."""

from __future__ import annotations

from bot.agent.limits import Limits
from bot.dev.model import Script, call, calls, finish
from bot.settings import ChannelTable
from bot.store import Stores
from bot.toolkit import Changes, Tool, tool
from tests.support.runs import answer, bot_with

THINGS = ("invoices", "customers", "appointments", "messages", "issues")


def find(thing: str) -> Tool:
    async def act(words: str) -> str:
        """Finds."""
        return "found"

    act.__name__ = f"find_{thing}"
    return tool(group=thing, summary=f"Finds {thing}")(act).tool


TOOLS = [find(thing) for thing in THINGS]


async def test_each_request_comes_with_the_tools_that_fit_it(stores: Stores) -> None:
    """D1: in its own note; the tools and instructions before it stay the same, byte for byte, so
    that the service's prompt cache holds."""
    script = Script([finish(answer()), finish(answer())])
    async with bot_with(stores, script, *TOOLS, limits=Limits(listed_tools=3)) as bot:
        await bot.ask("Which invoice is the oldest?")
        await bot.ask("And what did the customer write in the last message?")
    first, second = (bot.said(n)[-1].splitlines()[1:] for n in (0, 1))
    assert first == ["- find_invoices: Finds invoices"]
    assert sorted(second) == [
        "- find_customers: Finds customers",
        "- find_messages: Finds messages",
    ]
    assert bot.api.requests[0].body["tools"] == bot.api.requests[1].body["tools"]
    assert bot.api.requests[0].body["instructions"] == bot.api.requests[1].body["instructions"]


async def test_what_the_thread_has_already_is_not_named_again(stores: Stores) -> None:
    """D1: nor is there a note without a line."""
    acquire = call("acquire_tools", {"names": ["find_invoices"], "search": None})
    script = Script([acquire, finish(answer()), finish(answer())])
    async with bot_with(stores, script, *TOOLS, limits=Limits(listed_tools=3)) as bot:
        await bot.ask("Which invoice is the oldest?")
        await bot.ask("And which invoice is the newest?")
    assert "And which" in bot.said()[-1]


async def test_what_a_channel_or_a_dry_run_leaves_out_is_left_out_of_calls(stores: Stores) -> None:
    """D1 D6 K6: a tool that is called without having been acquired is bound by both all the same."""
    made: list[str] = []

    @tool(group="g", summary="Changes", safety=Changes())
    async def draw_change(what: str) -> str:
        """Changes."""
        made.append(what)
        return what

    script = Script(
        [calls(("draw_change", {"what": "a"}), ("find_issues", {"words": "b"})), finish(answer())]
    )
    rules = {"channels": {"C1": ChannelTable(tools=("draw_*",))}}
    async with bot_with(stores, script, draw_change.tool, *TOOLS, dry_run=True, **rules) as bot:
        outcome = await bot.ask("Change it, and find it!")
    assert [each.split(":")[0] for each in bot.outputs()] == [
        "Dry run",
        "There is no tool find_issues. You can call",
    ]
    assert [each.tool for each in outcome.rehearsed] == ["draw_change"]
    assert made == []


async def test_a_channel_with_few_tools_has_them_listed(stores: Stores) -> None:
    """D1: what counts is what there is in that channel; nothing is named that it may not use."""
    rules = {"C1": ChannelTable(tools=("find_[im]*",))}
    script = Script([finish(answer())])
    settings = {"channels": rules, "limits": Limits(listed_tools=3)}
    async with bot_with(stores, script, *TOOLS, **settings) as bot:
        await bot.ask("Which customer has the oldest invoice?")
    assert "issues: find_issues" in str(bot.api.requests[0].body["tools"])
    assert "find_customers" not in str(bot.api.requests[0].body)
