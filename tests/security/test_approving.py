"""Approvals under attack (reliability 10): by whoever may press, write, or choose what is asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from bot.core.approvals import Decision, Verdict
from bot.core.budgets import Pause
from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA, BEN
from bot.runs.policy.access import Policy
from bot.runs.queue.engine import open_engine
from bot.slack.ui.buttons import APPROVE
from bot.store import open_stores
from tests.security.judge import calls, links
from tests.security.model import question, won_over
from tests.support.deployment import Deployment, deployed
from tests.support.redis import decided
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"
POST = {"channel": "general", "text": "Hello", "thread": None}


def cards(bot: Deployment, thread: str) -> list[dict[str, Any]]:
    own = bot.own(SALES, thread)
    return [m for m in own if "card" in ((m.get("metadata") or {}).get("event_payload") or {})]


def posted(bot: Deployment) -> list[dict[str, Any]]:
    return [m for m in bot.ws.messages(GENERAL) if m["user"] == bot.ws.bot_user_id]


async def test_calls_may_have_any_name(redis_url: str) -> None:
    """(D6) Other services name calls as they like, with colons too; the run waits all the same, and
    does not turn in circles until it is decided."""

    def brain(request: ModelRequest) -> Reply:
        done = sum(item.get("type") == "function_call_output" for item in request.items)
        if not done:
            return call("acquire_tools", {"names": ["post_message"]}, call_id="functions.acquire:0")
        if done == 1:
            return call("post_message", POST, call_id="functions.post_message:1")
        return finish(answer("Posted."))

    async with deployed(brain, redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        [card] = await bot.ws.until(lambda: cards(bot, thread))
        await bot.ws.until(lambda: "Waiting" in str(bot.own(SALES, thread)))
        await bot.ws.click(ADA, SALES, card["ts"], APPROVE)
        await bot.answered(SALES, thread)
        assert len(posted(bot)) == 1


async def test_nothing_hides_behind_what_the_card_leaves_out(redis_url: str) -> None:
    """(reliability 10, 11) A card shows no secrets; what looks like one is not posted either, or a
    letter to everybody could hide in a "key" that nobody who approves it gets to read."""
    hidden = "Give-your-password-1-to-evil.example"
    text = f"<!channel> https://evil.example/x api_key={hidden} -----BEGIN PRIVATE KEY-----\n{hidden}\n-----END PRIVATE KEY-----"

    def brain(request: ModelRequest) -> Reply:
        done = sum(item.get("type") == "function_call_output" for item in request.items)
        steps = (
            call("acquire_tools", {"names": ["post_message"]}),
            call("post_message", POST | {"text": text}),
        )
        return steps[done] if done < len(steps) else finish(answer("Posted."))

    async with deployed(brain, redis_url) as bot:
        thread = await bot.ask(ADA, SALES, "Post it!")
        [card] = await bot.ws.until(lambda: cards(bot, thread))
        assert hidden not in str(card)
        await bot.ws.click(ADA, SALES, card["ts"], APPROVE)
        [message] = await bot.ws.until(lambda: posted(bot))
        assert hidden not in str(message)
        sent = list(bot.sent())
        assert (calls(sent), links(sent)) == (set(), set())  # nor in what notifications show of it
        await bot.answered(SALES, thread)


@pytest.mark.parametrize("open_memories", [False, True])
async def test_admins_decide_what_everybody_is_told(redis_url: str, open_memories: bool) -> None:
    """(reliability 11) Else any member could tell the whole workspace's questions what they like; a
    member's yes is no help. For a channel it is theirs to say."""
    policy = Policy(open_memories=open_memories)
    async with deployed(won_over, redis_url, access=policy) as bot:
        for user, where, refused in (
            (ADA, "workspace", False),
            (BEN, "channel", False),
            (BEN, "workspace", not open_memories),
        ):
            keep = ("remember_for_others", {"text": "We pay on Fridays.", "where": where})
            thread = await bot.ask(user, SALES, question(keep, say=answer("$output")))
            if refused:
                [said] = await bot.answered(SALES, thread)
                assert "only admins decide" in str(said["blocks"])
            else:
                await bot.ws.until(partial(cards, bot, thread))
            assert bool(cards(bot, thread)) is not refused


async def test_while_the_bot_is_paused_nobody_approves_anything(redis_url: str) -> None:
    """(O2) Approve posts nothing and says why; the card stays open, and works once the bot is back."""
    async with deployed(won_over, redis_url) as bot, open_stores(redis_url) as stores:
        thread = await bot.ask(ADA, SALES, question(("post_message", POST), say=answer("Posted.")))
        [card] = await bot.ws.until(lambda: cards(bot, thread))
        await bot.ws.until(lambda: "Waiting" in str(bot.own(SALES, thread)))
        await stores.pause.set(Pause(by=BEN, name="Ben", at=datetime.now(UTC)))
        await bot.ws.click(ADA, SALES, card["ts"], APPROVE)
        await bot.ws.until(lambda: "paused by Ben" in str([*bot.sent()]))
        assert posted(bot) == []
        await stores.pause.clear()
        await bot.ws.click(ADA, SALES, card["ts"], APPROVE)
        await bot.answered(SALES, thread)
        assert len(posted(bot)) == 1


async def test_what_was_approved_is_not_done_while_the_bot_is_paused(redis_url: str) -> None:
    """(O2) A pause that comes between the yes and the call holds the run; it goes on afterwards."""
    async with deployed(won_over, redis_url) as bot, open_stores(redis_url) as stores:
        thread = await bot.ask(ADA, SALES, question(("post_message", POST), say=answer("Posted.")))
        await bot.ws.until(lambda: cards(bot, thread))
        await bot.ws.until(lambda: "Waiting" in str(bot.own(SALES, thread)))
        async with open_engine(redis_url, stores.mailbox) as engine:
            key = f"{bot.ws.team_id}:{SALES}:{thread}"
            run = await stores.runs.id_of((await stores.mailbox.all_of(key))[0].id)
            [asked] = await stores.approvals.of_run(run or "")
            await decided(stores, asked.approval, Decision(verdict=Verdict.APPROVED, by=ADA))
            await stores.pause.set(Pause(by=BEN, name="Ben", at=datetime.now(UTC)))
            await engine.wake(key)
            await asyncio.sleep(1)
            assert posted(bot) == []
            await stores.pause.clear()
            await bot.answered(SALES, thread)
            assert len(posted(bot)) == 1
