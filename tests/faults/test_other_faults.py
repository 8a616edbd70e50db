"""Faults that are no crash at a failpoint: processes that stand still and wake up, a Redis that takes no
writes, a Slack that fails while workers die, deployments, and people who press, edit and delete meanwhile."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.dev.workspace import ADA, NotAnswered
from bot.slack.ui.buttons import STOP
from bot.store import open_stores
from tests.faults.fleet import COMMANDS, Fleet, fleet
from tests.faults.windows import (
    HANG,
    SALES,
    Asked,
    Brain,
    Case,
    Verdict,
    judge,
    settled,
    talk,
    until_answered,
)

WORKERS = [name for name, command in COMMANDS.items() if command == "worker"]
Fault = Callable[[Fleet, Asked], Awaitable[None]]


def _every(running: Fleet, what: signal.Signals) -> None:
    for name in WORKERS:
        running.signal(name, what)


async def all_stand_still(running: Fleet, _: Asked) -> None:
    """Every worker, for longer than its lease; then they wake up together."""
    _every(running, signal.SIGSTOP)
    await asyncio.sleep(HANG)
    _every(running, signal.SIGCONT)


async def one_stands_still(running: Fleet, _: Asked) -> None:
    """The other one takes its runs over, and is killed when the first wakes up."""
    running.signal("worker 1", signal.SIGSTOP)
    await asyncio.sleep(HANG)
    running.signal("worker 2", signal.SIGKILL)
    running.signal("worker 1", signal.SIGCONT)


async def redis_stops_for_20_seconds(running: Fleet, _: Asked) -> None:
    async with Redis.from_url(running.redis_url) as redis:
        await redis.client_pause(20_000)


async def redis_takes_no_writes_and_a_worker_dies(running: Fleet, _: Asked) -> None:
    async with Redis.from_url(running.redis_url) as redis:
        await redis.config_set("min-replicas-to-write", 1)
        await asyncio.sleep(1)
        running.signal("worker 1", signal.SIGKILL)
        await asyncio.sleep(4)
        await redis.config_set("min-replicas-to-write", 0)


async def slack_fails_and_workers_die(running: Fleet, _: Asked) -> None:
    for error, times in ((500, 3), (429, 3), (None, 2)):
        running.ws.faults.fail("*", error, times=times, retry_after=1 if error == 429 else None)
    running.ws.faults.fail("chat.postMessage", None, after_effect=True)
    running.ws.faults.fail("chat.update", None, after_effect=True)
    await asyncio.sleep(0.5)
    _every(running, signal.SIGKILL)


async def the_model_goes_away_and_a_worker_dies(running: Fleet, _: Asked) -> None:
    running.model.refusing = True
    await running.model.cut()
    await asyncio.sleep(1)
    running.signal("worker 2", signal.SIGKILL)
    await asyncio.sleep(1)
    running.model.forgive()


async def a_rolling_restart(running: Fleet, _: Asked) -> None:
    """One after the other is asked to stop, and killed after a short grace."""
    for name in ("worker 1", "web", "worker 2"):
        running.signal(name, signal.SIGTERM)
        await asyncio.sleep(1.5)
        running.signal(name, signal.SIGKILL)


async def the_web_process_dies(running: Fleet, _: Asked) -> None:
    for _number in range(3):
        running.signal("web", signal.SIGKILL)
        await asyncio.sleep(1.5)


async def a_stop_and_a_worker_dies(running: Fleet, asked: Asked) -> None:
    channel, root, _ = asked.messages[f"{asked.tag}-1"]
    shown = [m for m in running.bot.own(channel, root) if STOP in str(m.get("blocks"))]
    if shown:
        with suppress(NotAnswered):
            await running.ws.click(ADA, channel, str(shown[0]["ts"]), STOP)
    _every(running, signal.SIGKILL)


FAULTS: tuple[tuple[Fault, int], ...] = (
    (all_stand_still, 3),
    (one_stands_still, 2),
    (redis_stops_for_20_seconds, 3),
    (redis_takes_no_writes_and_a_worker_dies, 3),
    (slack_fails_and_workers_die, 3),
    (the_model_goes_away_and_a_worker_dies, 2),
    (a_rolling_restart, 3),
    (the_web_process_dies, 2),
    (a_stop_and_a_worker_dies, 3),
)
"""Each with the call to the model at which it happens."""


@pytest.mark.heavy
@pytest.mark.timeout(600)
async def test_every_question_has_one_end(tmp_path: Path) -> None:
    """(R1, R7, R10, reliability, promise) One final message for each question, in order, nothing shared
    twice, and nothing left: no message that works still, no status, no request in a mailbox."""
    brain, done = Brain(), list[tuple[Verdict, Asked]]()
    async with fleet(brain, tmp_path) as running:
        for fault, turn in FAULTS:
            await running.ws.until(lambda: running.up, 90 * running.pace)
            verdict, asked = await _hit_by(running, brain, fault, turn)
            done.append((verdict, asked))
        await settled(running)
        for verdict, asked in done:
            await judge(running, verdict, asked)
        left = await _left(running, done)
    assert [verdict for verdict, _ in done if not verdict.clean] == []
    assert left == []


async def _hit_by(running: Fleet, brain: Brain, fault: Fault, turn: int) -> tuple[Verdict, Asked]:
    asked = Asked(f"c{secrets.token_hex(3)}")
    verdict = Verdict(Case(0, fault.__name__, "", turn))
    tasks: list[asyncio.Task[None]] = []

    def strike() -> None:
        verdict.reached = True
        tasks.append(asyncio.create_task(fault(running, asked)))  # type: ignore[arg-type]

    brain.armed[f"{asked.tag}-1", turn] = strike
    await talk(running, brain, asked, refuse=False)
    async with open_stores(running.redis_url) as stores:
        await until_answered(running, stores, asked)
    await asyncio.gather(*tasks)
    running.ws.faults.clear()
    return verdict, asked


async def _left(running: Fleet, done: list[tuple[Verdict, Asked]]) -> list[str]:
    """What should not be there any more."""
    found = []
    for _, asked in done:
        for channel, thread in asked.threads:
            stops = [m for m in running.bot.own(channel, thread) if STOP in str(m.get("blocks"))]
            found += [f"{asked.tag}: {m['text']}" for m in stops]
            status = running.ws.status(channel, thread)
            if channel == SALES and status is not None and status.session != "active":
                found.append(f"{asked.tag}: {status}")
    async with open_stores(running.redis_url) as stores:
        waiting = await stores.mailbox.waiting_anywhere()
    return found + [f"{waiting} requests wait"] * bool(waiting)
