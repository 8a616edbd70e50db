"""Slack's own Stop button, which apps that were made from an older manifest still have."""

from __future__ import annotations

from functools import partial
from typing import Any

from bot.core.errors import NotPermitted
from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp) -> None:
    """Listen to the Stop button: Slack stops only its own stream, and the bot cancels the run."""

    @app.bolt.event("agent_session_stopped")
    async def stopped(event: dict[str, Any], body: dict[str, Any]) -> None:
        channel, thread = event["channel"], event.get("thread_ts")
        if not (thread or channel.startswith("D")):  # would stop the runs of the whole channel
            return
        try:
            stop = partial(app.stop.stop, channel, thread, event["user"])
            await app.retries.run_in_order(body["event_id"], stop, line=body["event_id"])
        except NotPermitted as refusal:  # then only Slack's own stream has stopped
            notice = app.tell(channel, thread, event["user"], str(refusal))
            app.background.start(notice, "ephemeral reply")
        if thread:
            app.background.start(app.status.end(channel, thread), "status of a stopped session")
