"""What is approved is what was shown, whatever becomes of the run meanwhile (D6, reliability 10)."""

from __future__ import annotations

import json
from typing import Any

from bot.dev.workspace import ADA
from bot.slack.ui.buttons import APPROVE
from tests.security.model import question, won_over
from tests.security.test_approving import cards, posted
from tests.security.test_boundaries import press
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

SALES = "C0SALES001"


def posting(text: str) -> tuple[str, dict[str, Any]]:
    return "post_message", {"channel": "general", "text": text, "thread": None}


async def card_with(bot: Deployment, thread: str, text: str) -> dict[str, Any]:
    """The card that shows `text` and can be decided, and the thread rests."""

    def there() -> list[dict[str, Any]]:
        return [c for c in cards(bot, thread) if text in str(c["blocks"]) and approving(c)]

    [card] = await bot.ws.until(there)
    await bot.ws.until(lambda: "Waiting" in str(bot.own(SALES, thread)))
    return card


def approving(card: dict[str, Any]) -> dict[str, Any] | None:
    """Its Approve button, while it has one."""
    buttons = [e for b in card["blocks"] if b["type"] == "actions" for e in b["elements"]]
    return next((each for each in buttons if each["action_id"] == APPROVE), None)


async def pressed(bot: Deployment, thread: str, button: dict[str, Any] | None) -> None:
    """Pressed as it was, also when the card has changed since: by a client that is behind, or by
    whoever forges it."""
    assert button is not None
    await bot.ws.delivery.ask("interactive", press(bot, ADA, SALES, thread, button))


def said(bot: Deployment) -> list[str]:
    return [m["text"] for m in posted(bot)]


async def test_a_card_of_before_the_person_wrote_more(redis_url: str) -> None:
    """What they wrote answers it; a yes to it that comes later posts neither what it showed nor what
    the run, which has changed its mind, asks for now."""
    async with deployed(won_over, redis_url) as bot:
        thread = await bot.ask(ADA, SALES, question(posting("harmless")))
        old = approving(await card_with(bot, thread, "harmless"))
        await bot.ask(ADA, SALES, question(posting("harmful"), say=answer("Done.")), thread)
        new = approving(await card_with(bot, thread, "harmful"))
        await pressed(bot, thread, old)
        assert said(bot) == []
        await pressed(bot, thread, new)
        await bot.answered(SALES, thread)
        assert said(bot) == ["harmful"]


async def test_a_card_of_before_the_question_was_edited(redis_url: str) -> None:
    async with deployed(won_over, redis_url) as bot:
        thread = await bot.ask(ADA, SALES, question(posting("harmless")))
        old = approving(await card_with(bot, thread, "harmless"))
        edited = question(posting("harmful"), say=answer("Edited."))
        await bot.ws.edit(ADA, SALES, thread, f"<@{bot.ws.bot_user_id}> {edited}")
        new = approving(await card_with(bot, thread, "harmful"))
        await pressed(bot, thread, old)
        assert said(bot) == []
        await pressed(bot, thread, new)
        await bot.answered(SALES, thread)
        assert said(bot) == ["harmful"]


async def test_a_second_card_is_not_decided_by_the_first(redis_url: str) -> None:
    """Nor by a forged press that mixes the two, or shows the second question under another hash."""
    async with deployed(won_over, redis_url) as bot:
        both = question(posting("harmless"), posting("harmful"), say=answer("Done."))
        thread = await bot.ask(ADA, SALES, both)
        first = approving(await card_with(bot, thread, "harmless"))
        await pressed(bot, thread, first)
        second = approving(await card_with(bot, thread, "harmful"))
        assert first is not None
        assert second is not None
        one, two = json.loads(first["value"]), json.loads(second["value"])
        forged = [one, two | {"sha256": one["sha256"]}, one | {"sha256": two["sha256"]}]
        forged += [two | {"sha256": two["sha256"][::-1]}, two | {"id": two["id"] + ":1"}]
        for each in forged:
            await pressed(bot, thread, second | {"value": json.dumps(each)})
        assert approving(await card_with(bot, thread, "harmful")) is not None
        assert said(bot) == ["harmless"]
        await pressed(bot, thread, second)
        await bot.answered(SALES, thread)
        assert said(bot) == ["harmless", "harmful"]
