"""The promise under kill -9: a real process, its own Redis, killed at one moment after another.

`test_windows.py` dies at failpoints; nothing in the process helps to die here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.workspace import ADA, Workspace
from bot.slack.message.message_metadata import answered_by, is_under_way
from tests.faults.processes import environment, started
from tests.support.deployment import A_MOMENT, Deployment, is_terminal
from tests.support.runs import answer

SALES, DIRECT = "C0SALES001", "D0ADA00001"


async def two_turns(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        await asyncio.sleep(A_MOMENT)
        return finish(answer("Two."))
    return call("calculate", {"expression": "1+1"})


def after(methods: str, count: int, **containing: str) -> Callable[[Deployment, int], bool]:
    """True once `count` more calls of such methods were carried out than there were effects before."""

    def holds(bot: Deployment, before: int) -> bool:
        done = [e for e in bot.ws.effects[before:] if e.method in methods.split()]
        return len([e for e in done if all(v in str(e.args) for v in containing.values())]) >= count

    return holds


MOMENTS: dict[str, Callable[[Deployment, int], bool]] = {
    "taken in": after("users.info", 1),
    "message posted": after("chat.postMessage chat.startStream", 1),
    "model asked": lambda bot, before: bool(bot.api.requests),
    "answer posted": after("chat.update", 1, text="Two."),
}


def ends(bot: Deployment, channel: str) -> list[str]:
    """The question of each end that the bot has standing in the channel and its threads."""
    roots = bot.ws.messages(channel)
    every = {m["ts"]: m for root in roots for m in bot.ws.messages(channel, root["ts"])}
    return [ts for m in every.values() if is_terminal(m) for ts in answered_by(m)]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("channel", [SALES, DIRECT])
async def test_one_answer_for_each_question_whenever_the_process_is_killed(
    tmp_path: Path, channel: str
) -> None:
    """K8: in a direct message, where answers stand beside one another, as in threads."""
    async with Workspace.open() as ws, ResponsesServer.open(brain=two_turns) as api:
        bot = Deployment(ws, api)
        settings, log = environment(ws, api, tmp_path), tmp_path / "log"
        ws.delivery.ack_timeout = 1.0
        # The last attempt comes when the last process is there to stay, however slowly they start.
        ws.delivery.retry_delays = (1.0, 4.0, 20.0)
        asked: dict[str, str] = {}
        for name, moment in MOMENTS.items():
            async with started("serve", settings, log) as process:
                del api.requests[:]
                before = len(ws.effects)
                asked[name] = await bot.ask(ADA, channel, name)
                await ws.until(lambda: moment(bot, before), 10)  # noqa: B023 - awaited at once
                process.kill()
        async with started("serve", settings, log):
            await ws.until(lambda: {*asked.values()} <= {*ends(bot, channel)}, 60)
        assert sorted(ends(bot, channel)) == sorted(asked.values())
        shown = [m for ts in asked.values() for m in bot.ws.messages(channel, ts)]
        assert not any(map(is_under_way, [*shown, *bot.ws.messages(channel)]))


@pytest.mark.timeout(120)
async def test_a_quick_answer_is_posted_once_wherever_the_process_is_killed(tmp_path: Path) -> None:
    """The answer is the only message of its run (reliability, promise)."""

    def brain(_: ModelRequest) -> Reply:
        return finish(answer("Two."))

    orders = tmp_path / "orders"
    orders.mkdir()
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        bot, log = Deployment(ws, api), tmp_path / "log"
        settings = environment(ws, api, tmp_path, bot_failpoints=str(orders))
        asked: dict[str, str] = {}
        for place in ("message-posting", "message-posted", "part-saved"):
            (orders / place).write_text("kill")
            async with started("serve", settings, log) as process:
                asked[place] = await bot.ask(ADA, SALES, place)
                await process.wait()
        async with started("serve", settings, log):
            await ws.until(lambda: {*asked.values()} <= {*ends(bot, SALES)}, 60)
        assert [len(bot.own(SALES, ts)) for ts in asked.values()] == [1, 1, 1]


@pytest.mark.timeout(120)
async def test_a_corrected_answer_is_marked_once_wherever_the_process_is_killed(
    tmp_path: Path,
) -> None:
    """K12: between the new answer and the mark, and between the mark and the end of the run."""

    def brain(request: ModelRequest) -> Reply:
        if "Corrected" not in request.last_words:
            return finish(answer(f"Done: {request.last_words}"))
        (orders / place).write_text("kill")  # now that the run before has ended
        return finish(answer("Corrected.", corrects=1))

    orders = tmp_path / "orders"
    orders.mkdir()
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        bot, log = Deployment(ws, api), tmp_path / "log"
        settings = environment(ws, api, tmp_path, bot_failpoints=str(orders))
        for place, is_marked in (("part-saved", False), ("run-delivered", True)):  # noqa: B007 - brain reads it
            async with started("serve", settings, log) as process:
                root = await bot.ask(ADA, SALES, "First")
                await bot.answered(SALES, root)
                await bot.ask(ADA, SALES, "Corrected", root)
                await process.wait()
            assert ("Corrected below" in str(bot.own(SALES, root))) is is_marked
            before = len(ws.effects)
            async with started("serve", settings, log):
                await bot.ask(ADA, SALES, "Last", root)
                old, *others = await bot.answered(SALES, root, 3, 60)
            assert str(old["blocks"]).count("Corrected below") == 1
            assert "corrected_by" not in str(others)
            written = [e for e in ws.effects[before:] if "corrected_by" in str(e.args)]
            assert len(written) == (not is_marked)
