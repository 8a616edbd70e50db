"""Somebody opened the bot: its Home tab, or a direct message with it."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.background import Background
from bot.slack.client import Clients, Identity
from bot.slack.home import home_view, suggested_prompts


def register(app: AsyncApp, identity: Identity, clients: Clients, background: Background) -> None:
    """Listen to the opening of either."""

    @app.event("app_home_opened")
    async def opened(event: dict[str, Any]) -> None:
        if event.get("tab") == "home":
            view = home_view(identity.name)
            background.start(
                clients.writes.views_publish(user_id=event["user"], view=view), "Home tab"
            )
        elif event.get("channel"):
            prompts = clients.writes.assistant_threads_setSuggestedPrompts(
                channel_id=event["channel"], prompts=suggested_prompts()
            )
            background.start(prompts, "suggested prompts")
