"""Workflow Builder steps."""

from __future__ import annotations

from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.runs.watching import Submit
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients, Identity
from bot.slack.edge.event_retries import EventRetries
from bot.slack.intake.workflow_step import ANSWER_QUESTION, WrongInput, fail, step_request


def register(
    app: AsyncApp,
    identity: Identity,
    clients: Clients,
    submit: Submit,
    retries: EventRetries,
    background: Background,
) -> None:
    """Listen to the step, which is acknowledged when its request is stored."""

    @app.function(ANSWER_QUESTION, auto_acknowledge=False, ack_timeout=3)
    async def executed(event: dict[str, Any], body: dict[str, Any], ack: AsyncAck) -> None:
        execution = event["function_execution_id"]
        try:
            inputs = event.get("inputs") or {}
            request = await step_request(execution, inputs, team=identity.team)
        except WrongInput as wrong:
            background.start(fail(clients, execution, str(wrong)), "refusing a step")
        else:
            work = partial(submit, request, body["event_id"])
            await retries.run_in_order(body["event_id"], work, line=execution)
        await ack()
