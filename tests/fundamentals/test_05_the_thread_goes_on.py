"""A thread is one conversation, even if the bot restarts in between.

The model service keeps the conversation as a chain of responses. To continue, the bot
needs only the id of the last response and a little more: the `CallerState`, in Redis. So any process
can answer a follow-up, and sends only the new question.
"""

from pathlib import Path

from bot.dev.model import ResponsesServer, Script, call, finish
from bot.store import open_stores
from bot.store.embedded import embedded_redis
from tests.support.runs import answer, bot_on


async def test_a_follow_up_after_a_restart(tmp_path: Path) -> None:
    """The thread continues in a new process, with a new Redis server on the same data."""
    script = Script(
        [call("calculate", {"expression": "6*7"}), finish(answer("42.")), finish(answer("43."))]
    )
    async with ResponsesServer.open(brain=script) as api:
        async with (
            embedded_redis(tmp_path) as url,
            open_stores(url) as stores,
            bot_on(stores, api) as before,
        ):
            await before.ask("What is six times seven?")

        async with (
            embedded_redis(tmp_path) as url,
            open_stores(url) as stores,
            bot_on(stores, api) as after,
        ):
            outcome = await after.ask("And one more?")

    follow_up = api.requests[-1].body
    assert follow_up["previous_response_id"] == api.requests[-2].response_id
    [question] = after.said()
    assert "And one more?" in question
    assert "six times seven" not in str(follow_up["input"])  # the service knows it
    assert "six times seven" in str(api.conversation(follow_up["previous_response_id"]))
    assert outcome.result == answer("43.")
