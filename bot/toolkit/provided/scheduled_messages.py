"""The service for messages that Slack posts later, for tools."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class WaitingMessage:
    """A scheduled message. `place` is the name of its channel, `at` the time of posting."""

    id: str
    place: str
    at: datetime
    text: str


class ScheduledMessages(Protocol):
    """The scheduled messages of the asker in this workspace. Every method raises ToolError with a
    sentence that the model can act on."""

    async def add(self, text: str, *, channel: str, at: datetime, thread: str | None = None) -> str:
        """Schedule Markdown for a channel (name or id), or for a thread of it.

        `at` has a time zone. Return Slack's id of the scheduled message.
        """

    async def all(self) -> tuple[list[WaitingMessage], int]:
        """Return the messages that may be shown here, the next first, and the number of others."""

    async def check_waits(self, message_id: str, *, text: str) -> None:
        """Raise ToolError unless the message is still scheduled and begins with `text`."""

    async def cancel(self, message_id: str, *, text: str) -> None:
        """Cancel the message if it begins with `text`."""
