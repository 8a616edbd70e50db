"""Messages in channels the bot is in and in direct messages; their edits and deletions."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.edits import Edits
from bot.slack.intake import Intake


def register(app: AsyncApp, intake: Intake, edits: Edits) -> None:
    """Listen to messages. The first listener that matches wins: edits and deletions come first."""

    @app.event({"type": "message", "subtype": "message_changed"})
    async def changed(event: dict[str, Any], body: dict[str, Any]) -> None:
        await edits.changed(event, body["event_id"])

    @app.event({"type": "message", "subtype": "message_deleted"})
    async def deleted(event: dict[str, Any]) -> None:
        await edits.deleted(event)

    @app.event("message")
    async def posted(event: dict[str, Any], body: dict[str, Any]) -> None:
        await intake.message(event, body["event_id"])
