"""Slack's own Stop button, which belongs to the agent session of a thread."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.runs.surface import CancelRun
from bot.slack.background import Background
from bot.slack.intake import Intake
from bot.slack.status import ThreadStatus


def register(
    app: AsyncApp,
    intake: Intake,
    cancel: CancelRun,
    status: ThreadStatus,
    background: Background,
) -> None:
    """Listen to it. Slack stops nothing but its own streams: the run is ours to cancel."""

    @app.event("agent_session_stopped")
    async def stopped(event: dict[str, Any]) -> None:
        channel, thread = event["channel"], event.get("thread_ts")
        if not thread:
            return
        await cancel(intake.thread_key(channel, thread), event["user"])
        background.start(status.end(channel, thread), "status of a stopped session")
