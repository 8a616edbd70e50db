"""Questions that are asked later, as tools see them."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.core.schedule import Schedule


class Schedules(Protocol):
    """Those of the person who asks, in this workspace. Methods raise ToolError with a sentence the
    model can act on."""

    async def add(self, text: str, *, at: datetime | None, cron: str) -> Schedule:
        """Have `text` asked in this thread for the person: once at `at`, or whenever `cron` says in
        their time zone."""

    async def check(self, text: str, *, at: datetime | None, cron: str) -> None:
        """Whether `add` could be done now."""

    async def all(self) -> list[Schedule]:
        """All of them, the next first."""

    async def cancel(self, schedule_id: str) -> Schedule:
        """Never ask it again."""
