"""Reactions: a cross stops a run."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.stopping import Stopping


def register(app: AsyncApp, stopping: Stopping) -> None:
    """Listen to reactions that are added."""

    @app.event("reaction_added")
    async def added(event: dict[str, Any]) -> None:
        await stopping.reacted(event)
