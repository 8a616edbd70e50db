"""A process whose event loop is held says so (reliability 6)."""

from __future__ import annotations

import asyncio
import logging
import time

import pytest

from bot.core.background import alongside
from bot.telemetry.event_loop import EventLoopWatchdog


async def test_a_loop_that_was_held_is_logged_measured_and_not_ready(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Until it keeps up again."""
    looks: asyncio.Queue[float] = asyncio.Queue()
    watch = EventLoopWatchdog(looks.put_nowait, every=0.05, late=0.3)
    with caplog.at_level(logging.WARNING):
        async with asyncio.timeout(20), alongside(watch.run(), name="watch"):
            await looks.get()
            time.sleep(0.5)  # noqa: ASYNC251 - the fault
            while (lag := await looks.get()) < 0.3:
                pass
            assert not await watch.keeps_up()
            while await looks.get() > 0.1:
                pass
            assert await watch.keeps_up()
    assert f"held for {lag:.1f} s" in caplog.text
