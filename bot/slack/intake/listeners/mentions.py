"""Mentions of the bot in channels."""

from __future__ import annotations

from typing import Any

from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp) -> None:
    """Listen to mentions."""

    @app.bolt.event("app_mention")
    async def mentioned(event: dict[str, Any], body: dict[str, Any]) -> None:
        await app.intake.message(event, body["event_id"])
