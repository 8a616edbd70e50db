"""Some calls wait for a person.

A tool that posts elsewhere is `sensitive`: the run pauses before the call, and a card with its exact
arguments asks whoever asked. While it waits it is nothing but a few keys in Redis. A press wakes it,
and the call is made with the arguments that were shown, or the model is told who said no.
"""

from typing import Any

import pytest

from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA
from bot.slack.render.buttons import APPROVE, DENY
from tests.support.runs import answer
from tests.support.slack import GENERAL, Place, bot_in_slack

SALES = "C0SALES001"


def announcement() -> Script:
    """What the model does: it asks for the tool, calls it, and says how it went."""
    wanted = {"channel": "sales", "text": "We have a winner.", "thread": None}
    return Script(
        [
            call("acquire_tools", {"names": ["post_message"]}),
            call("post_message", wanted),
            finish(answer("That is all.")),
        ]
    )


async def card(place: Place, thread: str) -> dict[str, Any]:
    """The message with the buttons."""
    return await place.slack.until(
        lambda: next(
            (m for m in place.slack.messages(GENERAL, thread) if APPROVE in str(m.get("blocks"))),
            {},
        )
    )


@pytest.mark.parametrize(("button", "posted"), [(APPROVE, 1), (DENY, 0)])
async def test_nothing_is_posted_before_somebody_says_so(
    redis_url: str, button: str, posted: int
) -> None:
    async with bot_in_slack(announcement(), redis_url) as place:
        question = await place.slack.say(ADA, GENERAL, place.mention("tell #sales who won"))
        asked = await card(place, question["ts"])
        assert "We have a winner." in str(asked["blocks"])
        assert place.slack.messages(SALES) == []

        await place.slack.click(ADA, GENERAL, asked["ts"], button)
        await place.answered(question["ts"], "That is all.")
        assert len(place.slack.messages(SALES)) == posted
