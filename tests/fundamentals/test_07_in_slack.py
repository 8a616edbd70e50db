"""The same bot in Slack.

The local workspace speaks Slack's protocols over real sockets and is as strict as Slack. The bot connects to it with Socket Mode and does not know the difference.
"""

from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA
from tests.support.runs import answer
from tests.support.slack import GENERAL, bot_in_slack


async def test_a_mention_is_answered_in_its_thread(redis_url: str) -> None:
    """The bot posts one message, updates it while it works, and turns it into the answer."""
    script = Script(
        [call("calculate", {"expression": "6*7"}), finish(answer("It is **42**.", gaps=["Why."]))]
    )
    async with bot_in_slack(script, redis_url) as place:
        question = await place.slack.say(ADA, GENERAL, place.mention("what is 6*7?"))
        message = await place.answered(question["ts"], "It is **42**.")
        thread = place.slack.messages(GENERAL, question["ts"])

    [posted] = place.posted()
    assert posted["thread_ts"] == question["ts"]
    assert [each["ts"] for each in thread] == [question["ts"], message["ts"]]
    assert "gpt-5.4-mini · " in str(message["blocks"][-1])


async def test_a_reply_in_the_thread_needs_no_mention(redis_url: str) -> None:
    """The asker continues in the thread without a mention, on the same chain."""
    script = Script([finish(answer("It is 42.")), finish(answer("It is 43."))])
    async with bot_in_slack(script, redis_url) as place:
        question = await place.slack.say(ADA, GENERAL, place.mention("what is 6*7?"))
        await place.answered(question["ts"], "It is 42.")
        await place.slack.say(ADA, GENERAL, "and one more?", thread_ts=question["ts"])
        await place.answered(question["ts"], "It is 43.")

    first, second = place.api.requests
    assert second.body["previous_response_id"] == first.response_id
    assert "Ada Lovelace replies in #general" in str(second.body["input"])
    assert len(place.posted()) == 2
