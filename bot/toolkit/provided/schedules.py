"""The schedule service for tools: questions and reminders that come later or repeatedly."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Protocol

from bot.core.schedule import Schedule

SchedulePlace = Literal["thread", "channel", "direct"]
"""Where it comes: in the thread, as a new message in the channel, or in the asker's direct messages."""


class Schedules(Protocol):
    """The asker's schedules in this workspace.

    Methods raise ToolError with a sentence that the model can act on.
    """

    async def add(
        self,
        text: str,
        *,
        at: datetime | None,
        cron: str,
        remind: bool = False,
        where: SchedulePlace = "thread",
    ) -> Schedule:
        """Schedule the question `text` for the asker, or with `remind` a reminder: once at `at`, or by
        the cron expression `cron` in the asker's time zone. Return the new schedule."""

    async def check(
        self,
        text: str,
        *,
        at: datetime | None,
        cron: str,
        remind: bool = False,
        where: SchedulePlace = "thread",
    ) -> None:
        """Raise ToolError if `add` would fail now."""

    async def is_crowded(self, *, at: datetime | None, cron: str) -> bool:
        """Return whether a question at `at`, or by `cron`, may come within a day of another one whose
        text nobody approved. Two that repeat always may."""

    async def all(self) -> list[Schedule]:
        """Return the schedules, the next one first; where others read the answer, only those that come
        in this channel."""

    async def cancel(self, schedule_id: str) -> Schedule:
        """Cancel a schedule and return it."""
