"""Stop in Slack while an answer is judged."""

from __future__ import annotations

import asyncio
from typing import Any

from bot.dev.model import finish, held, text
from bot.dev.workspace import ADA
from bot.settings import ModelSettings
from tests.support.deployment import deployed
from tests.support.runs import answer

SALES = "C0SALES001"


async def test_stop_wins_while_the_answer_is_judged(redis_url: str) -> None:
    """H1 I2: the person does not wait for the judge, and gets no answer that nobody vouched for."""
    judging, asked = asyncio.Event(), []

    def brain(request: Any) -> Any:
        asked.append(request)
        if len(asked) == 1:
            return finish(answer("It is two."))
        judging.set()
        return held(text("never", disobey=True), asyncio.Event())

    judged = ModelSettings(evaluation="basic")
    async with deployed(brain, redis_url, model=judged) as bot:
        root = await bot.ask(ADA, SALES, "1+1?")
        await asyncio.wait_for(judging.wait(), 30)
        await bot.ws.say(ADA, SALES, "stop", thread_ts=root)
        [told] = await bot.answered(SALES, root, seconds=30)
    assert "Stopped. I" in str(told["blocks"])
    assert "It is two." not in str(told["blocks"])
    assert len(asked) == 2
