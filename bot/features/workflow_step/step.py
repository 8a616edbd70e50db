"""Workflow Builder's step "Answer a question", which turns its inputs into a run and outputs.

No person asks a step: its inputs were set by the author of the workflow, so they give nobody's
rights. The asker of its request is `WORKFLOW`, which is in no channel.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from slack_bolt.context.ack.async_ack import AsyncAck
from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.agent.events import Event
from bot.core.answers import GIVEN, Answer, stored_name
from bot.core.approvals import Approval, ApprovalRecord
from bot.core.errors import BotError, ToolDefinitionError
from bot.core.failpoints import failpoint
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import WORKFLOW, Entry, Request
from bot.features.workflow_step import words
from bot.runs.surface import OpenSurface, PostedMessages
from bot.services.given_schema import given_model
from bot.slack.edge.client import Clients, error_code
from bot.slack.edge.text import cap, clean
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.message.approval_cards import Cards
from bot.slack.ui import words as ui_words
from bot.slack.ui.approval_kinds import WaitKinds
from bot.slack.ui.blocks import shortened
from bot.slack.ui.links import LinkGate
from bot.slack.ui.outcome import render
from bot.slack.ui.parts import unmarked

log = logging.getLogger(__name__)

ANSWER_QUESTION = "answer_question"
"""The function's callback id in the manifest."""

_MOST = 3_000  # characters of one output, which later steps put into messages
_SCHEMA_SECONDS = 2.0  # Slack waits three for the acknowledgement
_OVER = frozenset({"function_execution_not_found", "execution_not_in_running_state"})
"""Error codes for a step that is already completed, or whose workflow has ended."""


class WrongInput(BotError):
    """The step's inputs are invalid; the message is for the author of the workflow."""


async def step_request(execution: str, inputs: Mapping[str, Any], *, team: str) -> Request:
    """Return the request of one execution of the step. Raises WrongInput."""
    question = cap(clean(str(inputs.get("question") or "")))
    if not question:
        raise WrongInput(ui_words.EMPTY_QUESTION())
    schema = await _schema(str(inputs.get("schema") or ""))
    return Request(
        entry=Entry.WORKFLOW_STEP,
        team=team,
        channel=WORKFLOW,
        thread=execution,
        ts=execution,
        user=WORKFLOW,
        author="A workflow",
        place="a workflow step",
        text=question,
        response_type=GIVEN if schema else stored_name(Answer),
        response_schema=schema,
    )


async def _schema(text: str) -> dict[str, Any] | None:
    if not text.strip():
        return None
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        raise WrongInput(words.NO_JSON()) from None
    try:
        async with asyncio.timeout(_SCHEMA_SECONDS):
            await given_model(schema, owner="The input “JSON schema”")
    except ToolDefinitionError as error:
        raise WrongInput(str(error)) from None
    except TimeoutError:
        raise WrongInput(words.COSTLY_SCHEMA()) from None
    return dict(schema)


def step_surface(slack: Slack, waits: WaitKinds) -> OpenSurface:
    """Return a function that opens the surface of a workflow step."""

    @asynccontextmanager
    async def opened(request: Request, post: PostedMessages) -> AsyncGenerator[StepSurface]:
        cards = Cards(
            request,
            post,
            clients=slack.clients,
            identity=slack.identity,
            people=slack.people,
            waits=waits,
        )
        yield StepSurface(request, post, slack.clients, cards)

    return opened


class StepSurface:
    """The surface of a workflow step, which shows nothing while it runs; implements `Surface`."""

    def __init__(
        self, request: Request, post: PostedMessages, clients: Clients, cards: Cards
    ) -> None:
        self._cards = cards
        self._request = request
        self._post = post
        self._clients = clients

    async def show(self, event: Event) -> None:
        """Show nothing."""

    async def ask(
        self,
        approvals: Sequence[Approval],
        *,
        meanwhile: bool = False,  # noqa: ARG002 - the protocol's
    ) -> tuple[()]:
        """Post the cards in the approvers' direct messages, because a step has no thread."""
        await self._cards.post(approvals)
        return ()

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        """Show on each card the decision and its author."""
        await self._cards.settle(asked)

    async def finish(self, outcome: Outcome) -> None:
        """Return the outputs to Slack, or an error sentence. Slack accepts that only once."""
        await self._post.may_write()
        try:
            if outcome.result is None:
                await fail(self._clients, self._request.thread, outcome.note)
            else:
                await self._succeed(outcome)
        except SlackApiError as error:
            if error_code(error) not in _OVER:
                raise
            log.info("Step %s had already ended: %s", self._request.thread, error_code(error))

    async def _succeed(self, outcome: Outcome) -> None:
        outputs = _outputs(outcome, self._request)
        failpoint("step-returning")
        await self._clients.updates.functions_completeSuccess(
            function_execution_id=self._request.thread, outputs=outputs
        )
        failpoint("step-returned")


async def fail(clients: Clients, execution: str, sentence: str) -> None:
    """End the execution with an error that Slack shows to people."""
    failpoint("step-returning")
    await clients.updates.functions_completeError(
        function_execution_id=execution, error=sentence or ui_words.FAILED()
    )
    failpoint("step-returned")


def _outputs(outcome: Outcome, request: Request) -> dict[str, str]:
    """Return the outputs that the manifest declares: text for messages, and JSON for data."""
    result, gate = outcome.result or {}, LinkGate(outcome.links)
    # The totals count the whole run, also what workers did that died.
    worked = bool(outcome.totals.tools) or not outcome.totals.tool_calls
    data = json.dumps(_with_safe_links(result, gate), ensure_ascii=False)
    answer = unmarked(clean(str(result.get("summary") or json.dumps(result, ensure_ascii=False))))
    return {
        "answer": shortened(gate.mrkdwn(answer), _MOST),
        "details": render(outcome, request).parts[0].text,
        "data": data,
        "complete": "yes" if outcome.status is RunStatus.SUCCESS and worked else "no",
    }


def _with_safe_links(value: Any, gate: LinkGate) -> Any:
    """Return JSON `value` without unsafe addresses, as Slack links and unfurls them when posted."""
    match value:
        case str():
            return gate.plain(value)
        case list():
            return [_with_safe_links(each, gate) for each in value]
        case dict():
            return {gate.plain(key): _with_safe_links(each, gate) for key, each in value.items()}
        case _:
            return value


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
