"""A tool is one typed function.

Its name, its docstring and its parameters are what the model sees. The model calls it with
arguments; the bot checks them, runs the function, and sends back its result.
"""

from typing import Annotated

from pydantic import Field

from bot.dev.model import Script, call, finish
from bot.store import Stores
from bot.toolkit import tool
from tests.support.runs import answer, bot_with


@tool(group="shop", summary="Price of a thing", core=True)
async def price(
    thing: Annotated[str, Field(description="What to look up.")],
    amount: Annotated[int, Field(ge=1, description="How many.")] = 1,
) -> int:
    """What a number of things costs, in dollars."""
    return amount * {"apple": 2, "pear": 3}[thing]


async def test_the_model_calls_a_tool_and_reads_its_result(stores: Stores) -> None:
    """The run takes two turns: the call, then the answer that uses its result."""
    script = Script([call("price", {"thing": "pear", "amount": 4}), finish(answer("12 dollars."))])
    async with bot_with(stores, script, price.tool) as bot:
        outcome = await bot.ask("What do four pears cost?")

    assert bot.outputs() == ["12"]
    assert outcome.totals.tool_calls == 1


async def test_the_models_mistakes_go_back_to_the_model(stores: Stores) -> None:
    """The model reads the error and corrects its call; the person does not see the mistake."""
    script = Script(
        [
            call("price", {"thing": "pear", "amount": 0}),
            call("price", {"thing": "pear", "amount": 1}),
            finish(answer("3 dollars.")),
        ]
    )
    async with bot_with(stores, script, price.tool) as bot:
        outcome = await bot.ask("What does a pear cost?")

    [complaint] = bot.outputs(1)
    assert "amount: Input should be greater than or equal to 1" in complaint
    assert bot.outputs(2) == ["3"]
    assert outcome.note == ""
