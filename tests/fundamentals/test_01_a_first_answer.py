"""A question goes in, one structured answer comes out.

A run always ends the same way: the model calls the tool `complete_task`, whose arguments are the
fields of an `Answer`. Plain text of the model is never used as the answer.

Here the model is a `Script`: a local model server returns prepared replies, one after the other,
with the real protocol over a real socket. The rest is the bot as in production, without Slack.
"""

from bot.core.answers import Answer
from bot.core.outcome import RunStatus
from bot.dev.model import Script, finish
from bot.store import Stores
from tests.support.runs import answer, bot_with


async def test_a_first_answer(stores: Stores) -> None:
    """The outcome holds the answer and its cost, time and tokens."""
    script = Script([finish(answer("Paris.", follow_ups=["How many people live there?"]))])
    async with bot_with(stores, script) as bot:
        outcome = await bot.ask("What is the capital of France?")

    assert outcome.status is RunStatus.SUCCESS
    assert Answer.model_validate(outcome.result).summary == "Paris."
    assert outcome.totals.turns == 1


async def test_what_the_model_is_sent(stores: Stores) -> None:
    """The request holds instructions, tools and the question, with the asker and the place."""
    async with bot_with(stores, Script([finish(answer())])) as bot:
        await bot.ask("What is the capital of France?", author="Ada", place="#travel")

    [request] = bot.api.requests
    assert "complete_task" in request.body["instructions"]
    assert "complete_task" in bot.offered()
    message = bot.said()[0]
    assert message.startswith("[Ada asks in #travel")
    assert "What is the capital of France?" in message
