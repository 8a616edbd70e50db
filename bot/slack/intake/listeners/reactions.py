"""Reactions that stop a run."""

from __future__ import annotations

from functools import partial
from typing import Any

from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp) -> None:
    """Listen to reactions that are added."""

    @app.bolt.event("reaction_added")
    async def added(event: dict[str, Any], body: dict[str, Any]) -> None:
        event_id = body["event_id"]
        await app.retries.run_in_order(event_id, partial(app.stop.reacted, event), line=event_id)
