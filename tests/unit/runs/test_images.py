"""Images that people attach reach the model as images, and nothing else does."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from bot.core.request import FileRef
from bot.dev.model import Script, finish
from bot.store import Stores
from bot.toolkit.provided.conversation import ThreadMessage
from tests.support.redis import asked
from tests.support.runs import Bot, answer, bot_with

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
JPEG = b"\xff\xd8\xff\xe0" + b"\0" * 20


def attached(bot: Bot, name: str, data: bytes, kind: str) -> FileRef:
    return bot.conversation.attach(name, data, kind)


def seen(bot: Bot, request: int = -1) -> list[dict[str, Any]]:
    """The parts of messages that a request carried, texts of messages without parts left out."""
    items = bot.api.requests[request].body["input"]
    parts = [item["content"] for item in items if isinstance(item.get("content"), list)]
    return [part for each in parts for part in each]


def images(bot: Bot, request: int = -1) -> list[str]:
    return [part["image_url"] for part in seen(bot, request) if part["type"] == "input_image"]


async def test_an_attached_image_is_seen_and_only_referred_to_in_the_record(stores: Stores) -> None:
    """As a data URL of what its bytes are; the state in Redis stays small."""
    async with bot_with(stores, Script([finish(answer()), finish(answer())])) as bot:
        picture = attached(bot, "shot.png", JPEG, "image/png")
        notes = attached(bot, "notes.txt", b"hello", "text/plain")
        await bot.ask("What is on it?", files=(picture, notes))
        await bot.ask("And now?")
    [url] = images(bot, 0)
    assert url == f"data:image/jpeg;base64,{base64.b64encode(JPEG).decode()}"
    assert "shot.png" in seen(bot, 0)[0]["text"]
    assert images(bot, 1) == []  # the chain has it
    kept = str([entry.items for entry in await stores.ledger.entries("T1:C1:1.0")])
    assert "base64" not in kept
    assert f"attached-image:{picture.id}" in kept


@pytest.mark.parametrize(
    ("data", "said"), [(b"<svg/>", "is no PNG"), (PNG + b"\0" * 6_000_000, "too large")]
)
async def test_what_is_no_image_or_too_large_is_said(
    stores: Stores, data: bytes, said: str
) -> None:
    """The model can tell the person; nothing fails."""
    async with bot_with(stores, Script([finish(answer())])) as bot:
        await bot.ask("What is it?", files=(attached(bot, "x.png", data, "image/png"),))
    assert images(bot) == []
    assert said in seen(bot)[-1]["text"]


async def test_images_of_others_in_the_thread_are_seen_once(stores: Stores) -> None:
    """Tagged below somebody's screenshot, it sees it; in the next question it is not sent again, and
    what the bot itself has drawn is not at all."""
    async with bot_with(stores, Script([finish(answer())] * 3)) as bot:
        picture = attached(bot, "shot.png", PNG, "image/png")
        said = ThreadMessage("1.0", datetime.now(UTC), "Ben", "Look", (picture,))
        bot.conversation.messages.append(said)
        await bot.ask(asked("What is on it?", thread="1.0", ts="1.5"))
        chart = attached(bot, "chart.png", PNG, "image/png")
        bot.conversation.messages.append(
            ThreadMessage("1.55", datetime.now(UTC), "Bot", "", (chart,), own=True)
        )
        await bot.ask(asked("And?", thread="1.0", ts="1.6"))
        later = attached(bot, "more.png", PNG, "image/png")
        bot.conversation.messages.append(
            ThreadMessage("1.7", datetime.now(UTC), "Ben", "", (later,))
        )
        await bot.ask(asked("And here?", thread="1.0", ts="1.8"))
    assert [len(images(bot, number)) for number in range(3)] == [1, 0, 1]
    assert "- shot.png" in seen(bot, 0)[0]["text"].partition("Files above in this thread:")[2]
    assert bot.conversation.fetched == [picture.id, later.id]


async def test_a_chain_that_is_made_anew_has_its_images_again(stores: Stores) -> None:
    """B8: the record refers to them, and they are fetched once more."""
    async with bot_with(stores, Script([finish(answer())] * 2)) as bot:
        await bot.ask("What is on it?", files=(attached(bot, "shot.png", PNG, "image/png"),))
        bot.api.faults.fail("missing_parent_once", times=9)
        await bot.ask("And now?")
    assert len(images(bot)) == 1


async def test_a_model_that_sees_no_images_is_sent_none(stores: Stores) -> None:
    """`images = false` in [model]: they are named, as any file."""
    async with bot_with(stores, Script([finish(answer())]), model={"images": False}) as bot:
        await bot.ask("What is on it?", files=(attached(bot, "shot.png", PNG, "image/png"),))
    assert seen(bot) == []
    assert "shot.png" in bot.said()[0]
