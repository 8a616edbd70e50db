"""What is asked below somebody's file is most often about that file: the model is told that it is there."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.dev.model import Script, finish
from bot.store import Stores
from bot.toolkit.conversation import ThreadMessage
from tests.support.redis import asked
from tests.support.runs import Bot, answer, bot_with


def attached(bot: Bot, name: str, ts: str, *, own: bool = False) -> None:
    file = bot.conversation.attach(name, b"a,b", "text/csv")
    said = ThreadMessage(ts, datetime.now(UTC), "Ben", "Look", (file,), own=own)
    bot.conversation.messages.append(said)


async def test_files_above_are_named_once(stores: Stores) -> None:
    """As data, for others named them; not what the bot shared, nor what came after the question."""
    async with bot_with(stores, Script([finish(answer())] * 2), model={"images": False}) as bot:
        for name, ts in (("sales.csv", "1.0"), ("shot.png", "1.1"), ("later.csv", "1.7")):
            attached(bot, name, ts)
        attached(bot, "export.csv", "1.2", own=True)
        await bot.ask(asked("How much?", thread="1.0", ts="1.5"))
        await bot.ask(asked("And now?", thread="1.0", ts="1.8"))
    first, second = bot.said(0)[0], bot.said(1)[-1]
    _, listed = first.split("Files above in this thread:\n[data ")
    assert "- sales.csv (file_id F1, text/csv, 3 B)" in listed
    assert "shot.png" in listed
    assert "export" not in first
    assert "later" not in first
    assert ["later.csv" in second, "sales.csv" in second] == [True, False]
