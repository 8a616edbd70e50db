"""Reactions that stop a run."""

from __future__ import annotations

from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.edge.event_retries import EventRetries
from bot.slack.intake.stop import StopAction


def register(app: AsyncApp, stop_action: StopAction, retries: EventRetries) -> None:
    """Listen to reactions that are added."""

    @app.event("reaction_added")
    async def added(event: dict[str, Any], body: dict[str, Any]) -> None:
        event_id = body["event_id"]
        await retries.run_in_order(event_id, partial(stop_action.reacted, event), line=event_id)
