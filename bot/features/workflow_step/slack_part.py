"""Workflow Builder steps."""

from __future__ import annotations

from functools import partial
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck

from bot.features.workflow_step.step import ANSWER_QUESTION, WrongInput, fail, step_request
from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp) -> None:
    """Listen to the step, which is acknowledged when its request is stored."""

    @app.bolt.function(ANSWER_QUESTION, auto_acknowledge=False, ack_timeout=3)
    async def executed(event: dict[str, Any], body: dict[str, Any], ack: AsyncAck) -> None:
        execution = event["function_execution_id"]
        try:
            inputs = event.get("inputs") or {}
            request = await step_request(execution, inputs, team=app.team)
        except WrongInput as wrong:
            app.background.start(fail(app.clients, execution, str(wrong)), "refusing a step")
        else:
            work = partial(app.submit, request, body["event_id"])
            await app.retries.run_in_order(body["event_id"], work, line=execution)
        await ack()
