"""Proof that isolated processes are closed here: one tries everything."""

from __future__ import annotations

from bot.library.isolated.pool import isolated
from bot.library.isolated.scratch import foreign_scratch_folder


async def open_ways() -> list[str]:
    """Return what an isolated process can do here although it must not, in words that follow "it can";
    an empty list where the kernel refuses everything. Raises what `isolated` raises, and ProcessLost."""
    async with foreign_scratch_folder("proof-") as folder:
        outside = folder / "outside"
        outside.touch(mode=0o600)
        async with isolated("bot.library.isolated.attempts", once=True) as process:
            worked: list[str] = await process.call("possible", outside=str(outside))
            return worked
