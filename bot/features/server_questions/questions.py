"""Questions that an MCP server asks during a call: checked, put to the asker, and answered.

Since 2026-07-28 a server ends the call with its questions and a state of its own, and wants the
call again with both the state and the answers. In between, the run waits without a worker.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mcp import MCPError, UrlElicitationRequiredError
from mcp.types import (
    URL_ELICITATION_REQUIRED,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestParams,
    ElicitRequestURLParams,
    ElicitResult,
    InputRequiredResult,
    TextContent,
)
from mcp_types import InputRequest, InputResponses
from pydantic import TypeAdapter, ValidationError

from bot.core.approvals import ApprovalRecord, Ask, Decision, PersonNeeded, Verdict
from bot.core.background import alongside
from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.features.server_questions.forms import Form, FormError, Question, page_address, words_of
from bot.features.server_questions.hook import INPUT
from bot.mcp.doors import SWITCH, Call, Inputs
from bot.toolkit.asking import current_asking
from bot.toolkit.progress import progress

_MAX_ROUNDS, _MAX_QUESTIONS = 5, 5
_MAX_STORED = 100_000  # characters of the questions and the state of one round
_PAGE = "page-"
log = logging.getLogger(__name__)

_MAX_LIVE_QUESTIONS = 10  # in one call
_WAITING = "waiting for your answer"
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
    for request in requests.values():
        question_of(server, request)
    raw = _REQUESTS.dump_python(requests, mode="json", by_alias=True, exclude_none=True)
    size = len(json.dumps(raw)) + len(result.request_state or "")
    if len(requests) > _MAX_QUESTIONS or size > _MAX_STORED:
        raise ToolError(f"The MCP server {server} asks too much at once. Nothing was done.")
    return _Round(number, raw, result.request_state)


def _answers(server: str, asked: _Round, answered: Sequence[ApprovalRecord]) -> InputResponses:
    """Return the answers to all questions of a round. Raises PersonNeeded for the first without."""
    known = {
        record.approval.details["key"]: record
        for record in answered
        if record.approval.details["round"] == asked.number
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
        isinstance(answer, ElicitResult) and answer.action != "accept" and key.startswith(_PAGE)
        for key, answer in (inputs.answers or {}).items()
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
    requests = {f"{_PAGE}{n}": ElicitRequest(params=page) for n, page in enumerate(pages, 1)}
    return InputRequiredResult(input_requests=requests) if requests else None


def answer_of(decision: Decision | None, question: Question) -> ElicitResult:
    """Return a person's decision as the server gets it: an answer, a refusal, or none of both."""
    if decision is None or not (decision.allows or decision.by):
        return ElicitResult(action="cancel")
    if decision.verdict is Verdict.DENIED:
        return ElicitResult(action="decline")
    return ElicitResult(action="accept", content=None if question.url else decision.answer or {})


class LiveQuestions:
    """The questions of one call of `server`.

    The call has `seconds`, not counting those in which its asker thinks.
    """

    def __init__(self, server: str, seconds: float) -> None:
        self._server = server
        self._seconds = seconds
        self._asked = asyncio.Queue[tuple[ElicitRequestParams, asyncio.Future[ElicitResult]]]()
        self._is_over = False
        self._not_asked: list[str] = []

    async def put(self, params: ElicitRequestParams) -> ElicitResult:
        """Return the answer to a question. May be called in any task, also after the call."""
        answer: asyncio.Future[ElicitResult] = asyncio.get_running_loop().create_future()
        self._asked.put_nowait((params, answer))
        if self._is_over:
            self._cancel_rest()
        return await answer

    @asynccontextmanager
    async def answered(self) -> AsyncGenerator[None]:
        """Answer the questions during the body. Raises TimeoutError when the time is up."""
        try:
            async with (
                asyncio.timeout(self._seconds) as clock,
                alongside(self._answer(clock), name=f"questions of MCP server {self._server}"),
            ):
                yield
        finally:
            self._is_over = True
            self._cancel_rest()

    async def _answer(self, clock: asyncio.Timeout) -> None:
        loop = asyncio.get_running_loop()
        number = 0
        while True:
            params, answer = await self._asked.get()
            number += 1
            clock.reschedule(None)
            result = ElicitResult(action="cancel")
            try:
                if number <= _MAX_LIVE_QUESTIONS:
                    result = await self._ask(number, params)
            finally:
                answer.set_result(result)
            clock.reschedule(loop.time() + self._seconds)

    async def _ask(self, number: int, params: ElicitRequestParams) -> ElicitResult:
        try:
            question = question_of(self._server, ElicitRequest(params=params))
        except NotAsked as error:
            log.info("%s", error)
            self._not_asked.append(error.why)
            return ElicitResult(action="decline")
        await progress(_WAITING)
        ask = ask_for(question, f"{self._server} question live {number}", number=0, key=str(number))
        return answer_of(await current_asking()(ask), question)

    def noted(self, result: CallToolResult) -> CallToolResult:
        """Return the result of the call, which says what was asked and not shown.

        The server, which was told "declined", blames the asker.
        """
        notes = [
            TextContent(
                type="text",
                text=f"[The person was not asked what {self._server} wanted to know: {why}. Say so.]",
            )
            for why in self._not_asked
        ]
        return result.model_copy(update={"content": [*result.content, *notes]})

    def _cancel_rest(self) -> None:
        while not self._asked.empty():
            _, answer = self._asked.get_nowait()
            answer.set_result(ElicitResult(action="cancel"))
