"""Executions of the step, which Slack sends as events."""

from __future__ import annotations

from functools import partial
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from typing_extensions import override

from bot.features.workflow_step.step import ANSWER_QUESTION, WrongInput, fail, step_request
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart


class StepPart(SlackPart):
    """The step in one workspace."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app

    @override
    def register(self, app: SlackApp) -> None:
        app.bolt.function(ANSWER_QUESTION, auto_acknowledge=False, ack_timeout=3)(self._executed)

    async def _executed(self, event: dict[str, Any], body: dict[str, Any], ack: AsyncAck) -> None:
        """Take in an execution. It is acknowledged when its request is stored."""
        app, execution = self._app, event["function_execution_id"]
        try:
            request = await step_request(execution, event.get("inputs") or {}, team=app.team)
        except WrongInput as wrong:
            app.background.start(fail(app.clients, execution, str(wrong)), "refusing a step")
        else:
            work = partial(app.submit, request, body["event_id"])
            await app.retries.run_in_order(body["event_id"], work, line=execution)
        await ack()
