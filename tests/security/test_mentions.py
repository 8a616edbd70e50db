"""Whom a post calls (reliability 11): those whom the asker mentioned themselves, and nobody else."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.slack.ui.buttons import APPROVE, APPROVE_THREAD
from tests.security.test_approving import POST, SALES, cards, posted
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

GENERAL, RANDOM = "C0GENERAL1", "C0RANDOM01"
NAMES = "@Ben Okafor @Chloe Martin @Ada Lovelace #random #sales"
MARKUP = f"<@{CHLOE}> <@{CHLOE}|Ben Okafor> <#{SALES}> <!channel> <!here> <!subteam^S1|@team>"
LIVE = re.compile(r"(?<!\\)<[@#!][^>]*>")


def says(*texts: str) -> Any:
    """A model that posts these, one after the other, each in a run of its own."""
    left = list(texts)

    def brain(request: ModelRequest) -> Reply:
        last = request.items[-1]
        if last.get("type") != "function_call_output":
            return call("acquire_tools", {"names": ["post_message", "read_channel"]})
        if left and not str(last.get("output")).startswith("posted"):
            text = left.pop(0)
            if text == "$read":
                return call("read_channel", {"channel": "general", "limit": 5})
            return call("post_message", POST | {"text": text.replace("$output", last["output"])})
        return finish(answer("Posted."))

    return brain


def live(message: dict[str, Any]) -> set[str]:
    """What a post calls, or leads to, beside who stands below it as having asked."""
    texts = [message["text"], *(each.get("text", "") for each in message["blocks"])]
    return {found for text in texts for found in LIVE.findall(str(text))}


async def approved(bot: Deployment, text: str, how: str = APPROVE) -> tuple[str, dict[str, Any]]:
    """What the card said, and what was posted."""
    before = len(posted(bot))
    thread = await bot.ask(ADA, SALES, text)
    [card] = await bot.ws.until(lambda: cards(bot, thread))
    await bot.ws.click(ADA, SALES, card["ts"], how)
    await bot.answered(SALES, thread)
    return str(card["blocks"]), posted(bot)[before:][0]


async def test_only_whom_the_asker_mentioned_is_called(redis_url: str) -> None:
    """Whatever the model writes beside, in whichever notation; the card names who is called, and
    calls nobody itself."""
    async with deployed(says(f"{NAMES} {MARKUP} @channel"), redis_url) as bot:
        said, message = await approved(bot, f"Post to <@{BEN}> about <#{RANDOM}>!")
        assert live(message) == {f"<@{BEN}>", f"<#{RANDOM}>"}
        assert f"Mentions @Ben Okafor ({BEN}). Other @names notify nobody." in said
        assert f"<@{BEN}>" not in said


async def test_a_command_mentions_as_a_message_does(redis_url: str) -> None:
    """Slack writes a name beside the id there; the card has that of the directory."""
    async with deployed(says(NAMES), redis_url) as bot:
        await bot.ws.command(ADA, SALES, "/ask", f"Post to <@{BEN}>!")
        [thread] = await bot.ws.until(lambda: [m["ts"] for m in bot.ws.messages(SALES)][-1:])
        [card] = await bot.ws.until(lambda: cards(bot, thread))
        await bot.ws.click(ADA, SALES, card["ts"], APPROVE)
        await bot.answered(SALES, thread)
        assert f"Mentions @Ben Okafor ({BEN})." in str(card["blocks"])
        assert live(posted(bot)[-1]) == {f"<@{BEN}>"}


@pytest.mark.parametrize("asked", ["Post it!", "Post hi to @Ben Okafor", f"Post &lt;@{BEN}&gt;"])
async def test_what_was_typed_as_words_calls_nobody(redis_url: str, asked: str) -> None:
    async with deployed(says(f"{NAMES} {MARKUP}"), redis_url) as bot:
        said, message = await approved(bot, asked)
        assert live(message) == set()
        assert "@names here notify nobody" in said


async def test_what_a_tool_read_calls_nobody(redis_url: str) -> None:
    """Chloe mentioned Ben in a channel, and the model posts that again."""
    async with deployed(says("$read", "$output"), redis_url) as bot:
        await bot.ws.say(CHLOE, GENERAL, f"<@{BEN}> <!channel> look at <#{RANDOM}>")
        _, message = await approved(bot, "Post again what stands in general!")
        assert "Ben Okafor" in str(message)
        assert live(message) == set()


CODE = "```\n@Ben Okafor\n```"
LINKED = "[@Ben Okafor](https://docs.example/a) ![@Ben Okafor](https://docs.example/a)"
LONG = "word " * 700 + "@Ben Okafor"


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (CODE, False),
        (f"` @Ben Okafor` {LINKED}", False),
        ('[a]: https://docs.example/a "@Ben Okafor"\n\nHello', False),
        (LONG, True),
        ("> " * 60 + "@Ben Okafor", True),
        ("@Ben\u200b Okafor", True),
        ("&#64;Ben Okafor", True),
        ("\\@Ben Okafor", True),
        (f"{CODE}\n@Ben Okafor", True),
    ],
)
async def test_the_card_says_what_the_post_does(redis_url: str, text: str, calls: bool) -> None:
    async with deployed(says(text), redis_url) as bot:
        said, message = await approved(bot, f"Post https://docs.example/a to <@{BEN}>")
        assert ("Mentions @Ben Okafor" in said, f"<@{BEN}>" in live(message)) == (calls, calls)


async def test_an_approval_for_the_thread_widens_to_nobody(redis_url: str) -> None:
    """It counts where the same people are called; for somebody else, there is a card."""
    async with deployed(
        says("Hi @Ben Okafor", "Bye @Ben Okafor", "Hi @Chloe Martin"), redis_url
    ) as bot:
        thread = await bot.ask(ADA, SALES, f"Post hi to <@{BEN}>")
        [card] = await bot.ws.until(lambda: cards(bot, thread))
        assert "same: Channel and people mentioned" in str(card["blocks"])
        await bot.ws.click(ADA, SALES, card["ts"], APPROVE_THREAD)
        await bot.answered(SALES, thread)
        await bot.ws.say(ADA, SALES, f"and bye to <@{BEN}>", thread_ts=thread)
        await bot.ws.until(lambda: len(posted(bot)) == 2)
        assert len(cards(bot, thread)) == 1
        await bot.ws.say(ADA, SALES, f"and hi to <@{CHLOE}>", thread_ts=thread)
        await bot.ws.until(lambda: len(cards(bot, thread)) == 2)
        assert len(posted(bot)) == 2
