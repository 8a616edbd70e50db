"""Questions that a server before 2026-07-28 asks while a call runs, and waits for the answer.

The SDK hands such a question over in a task of the connection, which knows neither the call nor its
asker, so it is answered in the task of the call. The call keeps its worker meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcp.types import CallToolResult, ElicitRequest, ElicitRequestParams, ElicitResult, TextContent

from bot.core.background import alongside
from bot.features.server_questions.questions import NotAsked, answer_of, ask_for, question_of
from bot.toolkit.asking import current_asking
from bot.toolkit.progress import progress

log = logging.getLogger(__name__)

_MAX_QUESTIONS = 10  # in one call
_WAITING = "waiting for your answer"


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
                if number <= _MAX_QUESTIONS:
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
