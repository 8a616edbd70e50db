"""Mentions of the bot in channels."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.intake.intake import Intake


def register(app: AsyncApp, intake: Intake) -> None:
    """Listen to mentions."""

    @app.event("app_mention")
    async def mentioned(event: dict[str, Any], body: dict[str, Any]) -> None:
        await intake.message(event, body["event_id"])
