"""Slack's own Stop button, which apps that were made from an older manifest still have."""

from __future__ import annotations

from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.core.errors import NotPermitted
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients
from bot.slack.edge.event_retries import EventRetries
from bot.slack.edge.status import ThreadStatus
from bot.slack.intake.stop import StopAction


def register(
    app: AsyncApp,
    clients: Clients,
    stop_action: StopAction,
    status: ThreadStatus,
    retries: EventRetries,
    background: Background,
) -> None:
    """Listen to the Stop button: Slack stops only its own stream, and the bot cancels the run."""

    @app.event("agent_session_stopped")
    async def stopped(event: dict[str, Any], body: dict[str, Any]) -> None:
        channel, thread = event["channel"], event.get("thread_ts")
        if not (thread or channel.startswith("D")):  # would stop the runs of the whole channel
            return
        try:
            stop = partial(stop_action.stop, channel, thread, event["user"])
            await retries.run_in_order(body["event_id"], stop, line=body["event_id"])
        except NotPermitted as refusal:  # then only Slack's own stream has stopped
            notice = clients.writes.chat_postEphemeral(
                channel=channel, user=event["user"], thread_ts=thread, text=str(refusal)
            )
            background.start(notice, "ephemeral reply")
        if thread:
            background.start(status.end(channel, thread), "status of a stopped session")
