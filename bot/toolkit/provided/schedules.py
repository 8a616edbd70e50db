"""The schedule service for tools: questions that the bot answers later or repeatedly."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from bot.core.schedule import Schedule


class Schedules(Protocol):
    """The asker's schedules in this workspace.

    Methods raise ToolError with a sentence that the model can act on.
    """

    async def add(self, text: str, *, at: datetime | None, cron: str) -> Schedule:
        """Schedule the question `text` in this thread for the asker: once at `at`, or by the cron
        expression `cron` in the asker's time zone. Return the new schedule."""

    async def check(self, text: str, *, at: datetime | None, cron: str) -> None:
        """Raise ToolError if `add` would fail now."""

    async def all(self) -> list[Schedule]:
        """Return the schedules, the next one first."""

    async def cancel(self, schedule_id: str) -> Schedule:
        """Cancel a schedule and return it."""
