"""Self-evaluation: another model call judges a result before the run accepts it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from typing_extensions import override

from bot.agent import prompts
from bot.agent.builtin.complete_task import json_in
from bot.agent.hooks.chain import Block, Go, Hooks, Prevent, Verdict
from bot.agent.state import LoopState
from bot.core.chain import NO_USAGE, Usage
from bot.core.errors import ModelError
from bot.model.types import Model, ModelRequest, whole_response
from bot.toolkit.schema import strict_schema

log = logging.getLogger(__name__)

_SECONDS = 60.0
_NAME = "judge"
_GRADES = {"high": 2, "medium": 1, "low": 0}


class Judgement(BaseModel):
    """The judge's verdict about a result."""

    model_config = ConfigDict(frozen=True)

    completed: bool = Field(description="Whether the result does all that the request asks for.")
    confidence: Literal["high", "medium", "low"] = Field(description="How sure you are of that.")
    issues: list[str] = Field(
        description="What is wrong or missing, each in a sentence; may be []."
    )
    suggestion: str = Field(description="What to do about it, in one sentence; may be empty.")

    @property
    def grade(self) -> int:
        return 3 * self.completed + _GRADES[self.confidence]


class Evaluation(Hooks):
    """A hook that judges the results of one run; `asked` returns what people have asked so far.

    With `tries` 0 it marks an incomplete result as partial (basic). Otherwise it sends the issues back
    up to `tries` times and keeps the best result (full). When judging fails, the result is accepted.
    """

    name = "evaluation"

    def __init__(
        self, asked: Callable[[], str], model: Model, name: str, *, tries: int = 0
    ) -> None:
        self._asked = asked
        self._model = model
        self._name = name
        self._tries = tries

    @override
    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        if state.closing:  # a result cannot be sent back now, and there may be no budget left
            return Go()
        judgement, usage = await self._judge(result)
        if judgement is None or judgement.completed:
            return Go(usage=usage)
        before = state.hooks.get(self.name, {"sent_back": 0, "grade": -1, "best": ""})
        best, grade = before["best"], before["grade"]
        if judgement.grade >= grade:
            best, grade = result.model_dump_json(), judgement.grade
        kept = type(result).model_validate_json(best)
        if before["sent_back"] < self._tries:
            memory = {"sent_back": before["sent_back"] + 1, "grade": grade, "best": best}
            return Block(_objection(judgement), usage, memory, kept)
        return Prevent(instead=kept, usage=usage)

    async def _judge(self, result: BaseModel) -> tuple[Judgement | None, Usage]:
        request = ModelRequest(
            model=self._name,
            instructions=prompts.JUDGE,
            input=(prompts.to_judge(self._asked(), result.model_dump_json()),),
            tools=(_TOOL,),
            forced_tool=_NAME,
            store=False,  # an erasure would not find a stored response outside the thread's chain
        )
        try:
            async with asyncio.timeout(_SECONDS):
                response = await whole_response(self._model, request)
        except (ModelError, TimeoutError) as error:
            log.warning("a result was not judged: %s", error)
            return None, NO_USAGE
        try:
            given = response.calls[0]["arguments"] if response.calls else json_in(response.text)
            return Judgement.model_validate_json(given), response.billed
        except ValidationError:
            log.warning("a result was not judged: the judge's reply is malformed")
            return None, response.billed


def _objection(judgement: Judgement) -> str:
    issues = "\n".join(f"- {issue}" for issue in judgement.issues) or "- It is not complete."
    return (
        f"Not accepted yet. A check found:\n{issues}\n{judgement.suggestion}\n"
        "Fix that with tools, then call complete_task again."
    )


_TOOL = {
    "type": "function",
    "name": _NAME,
    "description": "Return your judgement.",
    "parameters": strict_schema(Judgement, owner="the judge"),
    "strict": True,
}
