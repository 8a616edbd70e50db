"""Other programs end with whoever runs them."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from bot.library.isolated.process_group import process_group


async def test_one_that_is_stopped_as_it_begins_has_ended(tmp_path: Path) -> None:
    """H1: Stop comes while it is being started, and is answered at once."""

    async def works() -> None:
        asleep = (sys.executable, "-c", "import time; time.sleep(600)")
        async with process_group(asleep, cwd=tmp_path, env={}, stdout=asyncio.subprocess.PIPE):
            await asyncio.Event().wait()

    working = asyncio.create_task(works())
    await asyncio.sleep(0)  # it has come to the first await
    working.cancel()
    await asyncio.wait({working}, timeout=20)
    assert working.cancelled()
