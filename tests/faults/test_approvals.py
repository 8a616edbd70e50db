"""A question to people, killed -9 at every step: one card, one decision, one change, one answer."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, call, finish
from bot.dev.workspace import ADA, NotAnswered, Workspace
from bot.slack.ui.buttons import APPROVE, DENY
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"
STEPS = ("card-posted", "run-parked", "approval-decided", "message-left", "tool-ran")
LONG_AGO = 900.0  # seconds


def posts(request: ModelRequest) -> Reply:
    done = [item for item in request.input if item.get("type") == "function_call_output"]
    if not any(tool.get("name") == "post_message" for tool in request.tools) and not done:
        return call("acquire_tools", {"names": ["post_message"]})
    if not done or "acquire" in str(done[-1].get("output", "")) or "post_message" in str(done[-1]):
        return call("post_message", {"channel": "general", "text": "Hello", "thread": None})
    return finish(answer("Posted."))


def cards(bot: Deployment, thread: str) -> list[dict[str, object]]:
    own = bot.own(SALES, thread)
    return [m for m in own if "card" in ((m.get("metadata") or {}).get("event_payload") or {})]


def posted(bot: Deployment) -> int:
    return len([m for m in bot.ws.messages(GENERAL) if m["user"] == bot.ws.bot_user_id])


@pytest.mark.timeout(180)
async def test_killed_at_every_step_of_a_question_to_people(tmp_path: Path) -> None:
    """(reliability 3, 10, window 13) The wait outlives the process; what was approved is done once, and
    when nobody knows whether it was done, it is not done again. Decided after a quarter of an hour,
    the one answer stands below the card, as a message that people are notified of."""
    orders, log = tmp_path / "orders", tmp_path / "log"
    orders.mkdir()
    async with Workspace.open() as ws, ResponsesServer.open(brain=posts) as api:
        bot = Deployment(ws, api)
        settings = environment(ws, api, tmp_path, bot_failpoints=str(orders))
        thread = ""
        ws.clock.advance(-LONG_AGO)
        for place in STEPS:
            (orders / place).write_text("kill")
            async with started("serve", settings, log) as process:
                thread = thread or await bot.ask(ADA, SALES, "Post it!")
                if place == "approval-decided":
                    ws.clock.advance(LONG_AGO)
                    with suppress(NotAnswered):
                        await ws.click(ADA, SALES, str(cards(bot, thread)[0]["ts"]), APPROVE)
                await process.wait()
        assert posted(bot) == 1
        async with started("serve", settings, log):
            await bot.answered(SALES, thread, seconds=30)
            [card] = cards(bot, thread)
            assert f"Approved by <@{ADA}>" in str(card["blocks"])
            assert DENY not in str(card["blocks"])
            [terminal] = bot.terminals(SALES, thread)
            assert float(terminal["ts"]) > float(str(card["ts"])) + LONG_AGO
            assert posted(bot) == 1


async def test_a_revised_answer_is_killed_on_its_way_below_the_card(tmp_path: Path) -> None:
    """Between the answer that it revises, which is taken away, and its own message."""
    orders, log = tmp_path / "orders", tmp_path / "log"
    orders.mkdir()
    wanted = {"channel": "general", "text": "Hello", "thread": None}
    brain = Script(
        [
            finish(answer("Nothing.")),
            call("acquire_tools", {"names": ["post_message"]}),
            call("post_message", wanted),
            finish(answer("Posted.")),
        ]
    )
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        bot = Deployment(ws, api)
        settings = environment(ws, api, tmp_path, bot_failpoints=str(orders))
        async with started("serve", settings, log) as process:
            thread = await bot.ask(ADA, SALES, "What do you post?")
            await bot.answered(SALES, thread)
            (orders / "message-left").write_text("kill")
            await ws.edit(ADA, SALES, thread, f"<@{ws.bot_user_id}> Post it!")
            [card] = await ws.until(lambda: cards(bot, thread))
            with suppress(NotAnswered):
                await ws.click(ADA, SALES, str(card["ts"]), APPROVE)
            await process.wait()
        assert bot.terminals(SALES, thread) == []
        async with started("serve", settings, log):
            [terminal] = await bot.answered(SALES, thread, seconds=30)
            assert float(terminal["ts"]) > float(str(card["ts"]))


async def test_a_card_of_a_dead_worker_loses_its_buttons_when_the_run_is_stopped(
    tmp_path: Path, redis_url: str
) -> None:
    """C6 (reliability 3): nobody pressed the card, and nobody wrote down where it is."""
    orders, log = tmp_path / "orders", tmp_path / "log"
    orders.mkdir()
    async with Workspace.open() as ws, ResponsesServer.open(brain=posts) as api:
        bot = Deployment(ws, api)
        settings = environment(ws, api, tmp_path, bot_failpoints=str(orders), redis_url=redis_url)
        (orders / "card-posted").write_text("kill")
        async with started("serve", settings, log) as process:
            thread = await bot.ask(ADA, SALES, "Post it!")
            await process.wait()
        [card] = cards(bot, thread)
        assert APPROVE in str(card["blocks"])
        async with started("web", settings, log):
            [answer_message] = [m for m in bot.own(SALES, thread) if m["ts"] != card["ts"]]
            await ws.click(ADA, SALES, str(answer_message["ts"]), "stop_run")
        async with started("serve", settings, log):
            await bot.answered(SALES, thread, seconds=30)
            await ws.until(lambda: APPROVE not in str(cards(bot, thread)[0]["blocks"]))
