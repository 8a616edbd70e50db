"""The promise under kill -9: a real process, its own Redis, killed at one moment after another.

`test_windows.py` dies at failpoints; nothing in the process helps to die here.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.workspace import ADA, Workspace
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment
from tests.support.runs import answer

SALES = "C0SALES001"


def two_turns(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
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


@pytest.mark.timeout(120)
async def test_one_answer_for_each_question_whenever_the_process_is_killed(tmp_path):
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
                asked[name] = await bot.ask(ADA, SALES, name)
                await ws.until(lambda: moment(bot, before), 10)  # noqa: B023 - awaited at once
                process.kill()
        async with started("serve", settings, log):
            for ts in asked.values():
                await bot.answered(SALES, ts, seconds=60)
        assert {name: len(bot.own(SALES, ts)) for name, ts in asked.items()} == dict.fromkeys(
            asked, 1
        )
