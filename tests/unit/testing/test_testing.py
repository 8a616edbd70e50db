"""Tool authors test one tool without the bot, and a whole run with a scripted model (D2, D9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
from pydantic import Field, ValidationError

from bot.testing import MemoryArtifacts, MemoryConversation, asked, assert_schema, run_tool
from bot.testing.scripted import call, finish, scripted_run
from bot.toolkit import (
    Artifacts,
    Changes,
    Conversation,
    Provided,
    Tables,
    ToolError,
    ToolResult,
    current_request,
    progress,
    tool,
)


@dataclass
class Shop:
    """A client of a system that the bot does not know."""

    prices: dict[str, int]


@tool(group="shop", summary="Price of a thing")
async def price(
    thing: Annotated[str, Field(description="What to look up.")],
    shop: Provided[Shop],
    amount: Annotated[int, Field(ge=1, description="How many.")] = 1,
) -> int:
    """Return what a number of things costs, in dollars."""
    if thing not in shop.prices:
        raise ToolError(f"There is no {thing}. Things: {', '.join(shop.prices)}.")
    return shop.prices[thing] * amount


@tool(group="shop", summary="Order a thing", safety=Changes(sensitive=True))
async def order(
    thing: Annotated[str, Field(description="What to order.")],
    conversation: Provided[Conversation],
) -> str:
    """Order a thing."""
    await conversation.post(f"Ordered: {thing}", channel="#orders")
    return f"ordered for {current_request().user}"


@tool(group="shop", summary="List all prices")
async def list_prices(shop: Provided[Shop], tables: Provided[Tables]) -> ToolResult:
    """List all prices as a table."""
    await progress("asking the shop", 0.5)
    table = await tables.save(["thing", "price"], [*shop.prices.items()], name="prices")
    return ToolResult(await tables.shown(table), handles=(table.handle,))


SHOP: dict[type, object] = {Shop: Shop({"pear": 3})}


async def test_a_tool_is_called_with_checked_arguments() -> None:
    """Null leaves an argument out, as from a model; what does not fit never reaches the tool."""
    assert (await run_tool(price, {"thing": "pear", "amount": None}, SHOP)).content == "3"
    with pytest.raises(ValidationError, match="amount"):
        await run_tool(price, {"thing": "pear", "amount": 0}, SHOP)
    with pytest.raises(ValidationError, match="colour"):
        await run_tool(price, {"thing": "pear", "colour": "green"}, SHOP)
    with pytest.raises(ToolError, match="There is no fig"):
        await run_tool(price, {"thing": "fig"}, SHOP)


async def test_a_missing_service_is_named() -> None:
    """By tool and type, before anything runs."""
    with pytest.raises(LookupError, match="price asks for Shop"):
        await run_tool(price, {"thing": "pear"})
    with pytest.raises(LookupError, match="price asks for Shop"):
        await scripted_run("?", [], tools=[price])


async def test_tables_and_files_work_in_memory() -> None:
    """What a tool saves is at hand for the next."""
    artifacts = MemoryArtifacts()
    services = {**SHOP, Artifacts: artifacts}
    shown: list[str] = []
    listed = await run_tool(list_prices, services=services, progress=shown)
    assert shown == ["50 % · asking the shop"]
    assert "thing,price\npear,3" in listed.content
    assert [*listed.handles] == [*artifacts.kept]


async def test_a_schema_is_what_the_model_sees() -> None:
    """Names, types and bounds, none more and none undescribed; services are not among them."""
    assert_schema(price, {"thing": {"type": "string"}, "amount": {"type": ["integer", "null"]}})
    with pytest.raises(AssertionError, match="amount"):
        assert_schema(price, {"thing": {"type": "string"}})
    with pytest.raises(AssertionError, match="thing is"):
        assert_schema(price, {"thing": {"type": "number"}, "amount": {}})


async def test_a_request_can_be_chosen() -> None:
    """Its fields are those that a tool reads of it."""
    conversation = MemoryConversation()
    with asked(time_zone="Europe/Rome", extra={"project": "apollo"}) as context:
        done = await run_tool(order, {"thing": "pear"}, {Conversation: conversation})
        assert context.extra["project"] == "apollo"
    assert done.content == "ordered for U1"
    assert conversation.posted == [("#orders", None, "Ordered: pear")]


async def test_a_scripted_run_takes_ten_lines() -> None:
    """The real loop and runner: the model's mistake goes back to it, and the answer is typed."""
    run = await scripted_run(
        "What do four pears cost?",
        [
            call("price", {"thing": "pears"}),
            call("price", {"thing": "pear", "amount": 4}),
            finish({"summary": "12 dollars."}),
        ],
        tools=[price],
        services=SHOP,
    )
    assert [output.split(".")[0] for output in run.outputs] == ["There is no pears", "12"]
    assert run.called == ["price", "price"]
    assert run.answer.summary == "12 dollars."


async def test_what_people_saw_meanwhile_is_visible() -> None:
    """22.4: the lines of `progress`, in a call and in a whole run."""
    script = [call("list_prices", {}), finish({"summary": "A pear is 3 dollars."})]
    run = await scripted_run("Prices?", script, tools=[list_prices], services=SHOP)
    assert run.progress == ["50 % · asking the shop"]


@pytest.mark.parametrize("approve", [True, False])
async def test_people_decide_in_a_scripted_run(approve: bool) -> None:
    """A call that needs a person gets a yes or a no at once."""
    conversation = MemoryConversation()
    replies = [call("order", {"thing": "pear"}), finish({"summary": "Done."})]
    run = await scripted_run(
        "Order a pear", replies, tools=[order], conversation=conversation, approve=approve
    )
    assert len(conversation.posted) == approve
    assert run.answer.summary == "Done."


async def test_a_script_that_does_not_fit_fails() -> None:
    """Replies that nobody asked for, and requests beyond the script."""
    with pytest.raises(AssertionError, match="never asked for"):
        await scripted_run("?", [finish({"summary": "A."})] * 2, tools=[price], services=SHOP)
    with pytest.raises(AssertionError, match="used up"):
        await scripted_run("?", [call("price", {"thing": "pear"})], tools=[price], services=SHOP)
