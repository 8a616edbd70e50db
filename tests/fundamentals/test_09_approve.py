"""Some calls wait for a person's approval.

A tool that posts elsewhere is `sensitive`: the run pauses before the call, and a card with its exact
arguments asks the asker. A waiting run is only a few keys in Redis. A press resumes it: the call is
made with the arguments that were shown, or the model is told who denied it.
"""

from typing import Any

import pytest

from bot.dev.model import Script, call, finish
from bot.dev.workspace import ADA
from bot.slack.ui.buttons import APPROVE, DENY
from tests.support.runs import answer
from tests.support.slack import GENERAL, Place, bot_in_slack

SALES = "C0SALES001"


def announcement() -> Script:
    """Return the script of the model: acquire the tool, call it, and report the result."""
    wanted = {"channel": "sales", "text": "We have a winner.", "thread": None}
    return Script(
        [
            call("acquire_tools", {"names": ["post_message"]}),
            call("post_message", wanted),
            finish(answer("That is all.")),
        ]
    )


async def card(place: Place, thread: str) -> dict[str, Any]:
    """Return the message with the buttons."""
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
