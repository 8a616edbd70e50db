"""Messages that are posted later, as tools see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """One that waits to be posted; `place` is what its channel is called."""

    id: str
    place: str
    at: datetime
    text: str


class ScheduledMessages(Protocol):
    """Those of the person who asks, in this workspace. Every method raises ToolError with a sentence
    the model can act on."""

    async def add(self, text: str, *, channel: str, at: datetime, thread: str | None = None) -> str:
        """Have Markdown posted in a channel (name or id), or in a thread there, at `at`, which has a
        time zone; returns Slack's id of it."""

    async def all(self) -> tuple[list[WaitingMessage], int]:
        """Those that still wait and may be told of here, the next first, and how many others wait."""

    async def check_waits(self, message_id: str, *, text: str) -> None:
        """Whether it still waits, and begins with `text`."""

    async def cancel(self, message_id: str, *, text: str) -> None:
        """Never post it, if it begins with `text`."""
