"""Conversations as colleagues have them: what the bot knows of them without being told again."""

from __future__ import annotations

from bot.dev.model import Script, finish
from bot.dev.workspace import ADA, BEN, CHLOE, FakeFile
from tests.support.redis import redis_server, redis_url
from tests.support.runs import answer
from tests.support.slack import GENERAL, Place, bot_in_slack

__all__ = ["redis_server", "redis_url"]


def heard(place: Place, request: int = -1) -> str:
    """The messages that a request carried, as one text."""
    items = place.api.requests[request].body["input"]
    return "\n".join(str(each["content"]) for each in items if "content" in each)


async def test_a_thread_is_known_from_the_first_mention_on_and_only_the_new_is_told(
    redis_url: str,
) -> None:
    """U2: what others wrote comes with the question, once, as data, with one call of Slack's API."""
    script = Script([finish(answer("Ben.")), finish(answer("Chloe."))])
    async with bot_in_slack(script, redis_url) as place:
        root = await place.slack.say(BEN, GENERAL, "The launch moves to Friday.")
        thread = root["ts"]
        report = FakeFile("report.csv", 1_000)
        await place.slack.say(CHLOE, GENERAL, "Numbers:", thread_ts=thread, files=[report])
        await place.slack.say(ADA, GENERAL, place.mention("who said it?"), thread_ts=thread)
        await place.answered(thread, "Ben.")
        first = heard(place)
        reads = [
            each.args
            for each in place.slack.effects
            if each.method == "conversations.replies" and "oldest" in each.args
        ]

        await place.slack.say(CHLOE, GENERAL, "Saturday suits me better.", thread_ts=thread)
        await place.slack.edit(BEN, GENERAL, thread, "The launch moves to Monday.")
        await place.slack.say(ADA, GENERAL, place.mention("and who is against?"), thread_ts=thread)
        await place.answered(thread, "Chloe.")
        second = heard(place)

    assert "Ben Okafor: The launch moves to Friday." in first
    assert "Chloe Martin: Numbers:" in first
    assert "report.csv" in first
    assert first.index("launch moves") < first.index("who said it?")
    assert "[data " in first
    assert len(reads) == 1
    assert "Chloe Martin: Saturday suits me better." in second
    assert "Ben Okafor (edited): The launch moves to Monday." in second
    assert "Numbers" not in second
    assert "who said it" not in second
