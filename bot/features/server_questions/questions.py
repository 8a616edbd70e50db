"""Questions that an MCP server asks during a call: checked, put to the asker, and answered.

Since 2026-07-28 a server ends the call with its questions and a state of its own, and wants the
call again with both the state and the answers. In between, the run waits without a worker.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mcp import MCPError, UrlElicitationRequiredError
from mcp.types import (
    URL_ELICITATION_REQUIRED,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
)
from mcp_types import InputRequest, InputResponses
from pydantic import TypeAdapter, ValidationError

from bot.core.approvals import ApprovalRecord, Ask, Decision, PersonNeeded, Verdict
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.features.server_questions.forms import Form, FormError, Question, page_address, words_of
from bot.features.server_questions.hook import INPUT
from bot.mcp.doors import SWITCH, Call, Inputs

_MAX_ROUNDS, _MAX_QUESTIONS = 5, 5
_MAX_STORED = 100_000  # characters of the questions and the state of one round
_PAGE = "page-"
_REQUESTS: TypeAdapter[dict[str, InputRequest]] = TypeAdapter(dict[str, InputRequest])


@dataclass(frozen=True, slots=True)
class _Round:
    """Questions that a server asked at once, by its keys, with its state. Rounds count from 1."""

    number: int
    requests: Mapping[str, Any]
    state: str | None

    def ask(self, server: str, key: str, question: Question) -> Ask:
        """Return what the asker is asked for one of the questions."""
        subject = f"{server} question {self.number}.{list(self.requests).index(key) + 1}"
        requests = dict(self.requests)
        return ask_for(
            question, subject, number=self.number, key=key, requests=requests, state=self.state
        )


def ask_for(
    question: Question,
    subject: str,
    *,
    number: int,
    key: str,
    requests: Mapping[str, Any] = MappingProxyType({}),
    state: str | None = None,
) -> Ask:
    """Return what the asker is asked: a question of a round, of which the rest is kept with it."""
    place = {"round": number, "key": key, "requests": dict(requests), "state": state}
    return Ask(
        kind=INPUT,
        by_details=True,
        subject=subject,
        title=f"A question of {question.server}",  # everybody in the thread reads it
        details={**question.model_dump(mode="json"), **place},
    )


async def call_with_answers(server: str, call: Call, *, may_ask: bool) -> CallToolResult:
    """Make a call with all that its asker has answered so far.

    Raises PersonNeeded for the next question, and ToolError for one that must not be asked.
    """
    answered = current_request().answers
    inputs, number = Inputs(), 0
    if answered:
        last = max(map(_round_of, answered), key=lambda each: each.number)
        inputs = Inputs(_answers(server, last, answered) or None, last.state)
        number = last.number
        _check_pages(server, inputs)
    result = await call(inputs)
    if isinstance(result, CallToolResult):
        return result
    if not may_ask:
        raise ToolError(
            f"The MCP server {server} wants to ask a person. Nothing was done: {SWITCH}."
        )
    if number == _MAX_ROUNDS:
        raise ToolError(
            f"The MCP server {server} asks one question after the other. Nothing was done."
        )
    asked = _asked(server, number + 1, result)
    _answers(server, asked, ())  # raises PersonNeeded
    raise ToolError(f"The MCP server {server} asks, and says not what. Nothing was done.")


def _asked(server: str, number: int, result: InputRequiredResult) -> _Round:
    """Return the questions of a result. Raises ToolError for those that must not be asked."""
    requests = result.input_requests or {}
    for each in requests.values():
        question_of(server, each)
    raw = _REQUESTS.dump_python(requests, mode="json", by_alias=True, exclude_none=True)
    size = len(json.dumps(raw)) + len(result.request_state or "")
    if len(requests) > _MAX_QUESTIONS or size > _MAX_STORED:
        raise ToolError(f"The MCP server {server} asks too much at once. Nothing was done.")
    return _Round(number, raw, result.request_state)


def _answers(server: str, asked: _Round, answered: Sequence[ApprovalRecord]) -> InputResponses:
    """Return the answers to all questions of a round. Raises PersonNeeded for the first without."""
    known = {
        each.approval.details["key"]: each
        for each in answered
        if each.approval.details["round"] == asked.number
    }
    answers: InputResponses = {}
    for key, request in _REQUESTS.validate_python(dict(asked.requests)).items():
        if key not in known:
            raise PersonNeeded(asked.ask(server, key, question_of(server, request)))
        answers[key] = answer_of(known[key].decision, question_of(server, request))
    return answers


def _round_of(record: ApprovalRecord) -> _Round:
    details = record.approval.details
    return _Round(details["round"], details["requests"], details["state"])


class NotAsked(ToolError):
    """The asker is not shown what a server asks; `why` is the reason, as a clause."""

    def __init__(self, server: str, why: str) -> None:
        super().__init__(
            f"The MCP server {server} asks the person for something that they are not shown: {why}. "
            "Nothing was done; go on without it and say so."
        )
        self.why = why


def question_of(server: str, request: InputRequest) -> Question:
    """Return what a server asks. Raises ToolError for anything that it must not ask, which for a
    question to people is NotAsked."""
    if not isinstance(request, ElicitRequest):
        raise ToolError(
            f"The MCP server {server} wants something that the bot does for no server "
            f"({request.method}). Nothing was done; go on without it and say so."
        )
    asked = request.params
    message = words_of(asked.message)
    try:
        match asked:
            case ElicitRequestFormParams():
                form = Form.of(asked.requested_schema)
                return Question(server=server, message=message, form=form)
            case ElicitRequestURLParams():
                return Question(server=server, message=message, url=page_address(asked.url))
    except (FormError, ValidationError) as error:
        why = str(error) if isinstance(error, FormError) else "the form is damaged"
        raise NotAsked(server, why) from None


def _check_pages(server: str, inputs: Inputs) -> None:
    """Raise ToolError when a page was not opened without which the server begins nothing."""
    unopened = (
        isinstance(each, ElicitResult) and each.action != "accept" and key.startswith(_PAGE)
        for key, each in (inputs.answers or {}).items()
    )
    if inputs.state is None and any(unopened):
        raise ToolError(f"Not done: the person did not open the page that {server} asks for first.")


def pages_to_open(error: MCPError) -> InputRequiredResult | None:
    """Return the question in an error: servers of 2025-11-25 want pages opened first."""
    if error.code != URL_ELICITATION_REQUIRED:
        return None
    try:
        pages = UrlElicitationRequiredError.from_error(error.error).elicitations
    except (ValidationError, TypeError, AttributeError):
        return None
    requests = {f"{_PAGE}{n}": ElicitRequest(params=each) for n, each in enumerate(pages, 1)}
    return InputRequiredResult(input_requests=requests) if requests else None


def answer_of(decision: Decision | None, question: Question) -> ElicitResult:
    """Return a person's decision as the server gets it: an answer, a refusal, or none of both."""
    if decision is None or not (decision.allows or decision.by):
        return ElicitResult(action="cancel")
    if decision.verdict is Verdict.DENIED:
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content=None if question.url else decision.answer or {})
