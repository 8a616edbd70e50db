"""The stand-in with the bot's real tools in the workspace: what they say is read, not guessed."""

from __future__ import annotations

from functools import partial
from typing import Any

from bot.dev.model.standin import StandIn
from tests.support.slack import GENERAL, Place, bot_in_slack

ADA = "U0ADA00001"
PATIENCE = 60  # seconds, on a machine with much else to do


async def told(place: Place, question: str, said: str) -> str:
    """The blocks of the answer that holds `said`, in a thread of its own; what waits is approved."""
    asked = await place.slack.say(ADA, GENERAL, place.mention(question))
    thread = asked["ts"]

    def card() -> dict[str, Any] | None:
        replies = place.slack.messages(GENERAL, thread)[1:]
        return next((each for each in replies if "Approve" in str(each.get("blocks"))), None)

    def answered() -> dict[str, Any] | None:
        replies = place.slack.messages(GENERAL, thread)[1:]
        return next((each for each in replies if said in str(each.get("blocks"))), None)

    await place.slack.until(lambda: answered() or card(), timeout=PATIENCE)
    if waiting := card() if answered() is None else None:
        button = next(
            element
            for block in waiting["blocks"]
            for element in block.get("elements", ())
            if element.get("action_id") and element["text"]["text"] == "Approve"
        )
        await place.slack.click(
            ADA, GENERAL, waiting["ts"], button["action_id"], value=button.get("value")
        )
    message = await place.slack.until(answered, timeout=PATIENCE)
    assert message is not None
    return str(message["blocks"])


async def test_what_the_tools_say_becomes_sentences(redis_url: str) -> None:
    """People, channels, schedules and canvases: no id and no name of a tool in any answer."""
    async with bot_in_slack(StandIn(), redis_url) as place:
        answers = [
            await told(place, "who is Chloe?", "**Chloe Martin** is in the time zone Europe/Paris"),
            await told(place, "who is in this channel?", "4 people are in #general"),
            await told(place, "which channels are there?", "**#sales**: 4 members"),
            await told(place, "every Monday at 9 tell me who is here", "It is scheduled, "),
            await told(place, "what is scheduled?", "“tell me who is here”, "),
            await told(place, "cancel my schedules", "Cancelled: “tell me who is here”"),
            await told(
                place, "create a canvas about our launch plan", "is made. It holds an outline"
            ),
            await told(place, "read the canvas", "says:"),
            await told(
                place,
                "remember for this channel that we ship in May",
                "I will remember “we ship in May”",
            ),
            await told(place, "what do you remember?", "“we ship in May”, for this channel since"),
        ]
    for answer in answers:
        assert "_canvas" not in answer
        assert "handle" not in answer
        assert "mem_" not in answer


async def test_what_is_written_instead_of_a_yes_changes_what_is_asked(redis_url: str) -> None:
    """A new card with the change; the one before can no longer be pressed."""
    async with bot_in_slack(StandIn(), redis_url) as place:
        ws = place.slack
        asked = await ws.say(ADA, GENERAL, place.mention("post 'We ship' in #sales"))

        def card(channel: str) -> dict[str, Any] | None:
            replies = ws.messages(GENERAL, asked["ts"])[1:]
            cards = (each for each in replies if "Approve" in str(each.get("blocks")))
            return next((each for each in cards if channel in str(each["blocks"])), None)

        await ws.until(lambda: card("We ship"), timeout=PATIENCE)
        # However often: what was not decided is no failure of a tool.
        changes = ("no, use #general", "change the text to: One", "change the text to: Two")
        for change, shown in zip(changes, (GENERAL, "One", "Two"), strict=True):
            await ws.say(ADA, GENERAL, change, thread_ts=asked["ts"])
            await ws.until(partial(card, shown), timeout=PATIENCE)
        assert not card("C0SALES001")
        assert "kept failing" not in str(ws.messages(GENERAL, asked["ts"]))
