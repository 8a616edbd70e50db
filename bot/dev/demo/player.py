"""The demo as a brain: replays a plan over the calls of the conversation, and makes the next one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model.filling import fill
from ..model.replies import Reply, call, finish, text
from ..model.request import ModelRequest
from .plans import Answer, Call, Plan, plan_for
from .question import Question, read_question
from .words import say

_ACQUIRE, _COMPLETE = "acquire_tools", "complete_task"
_TEXT_FIELDS = ("summary", "about", "draft")
_TASKS = "items"  # a field of action items alone


def demo(request: ModelRequest) -> Reply:
    """Return the next tool call of the plan that fits the question, or its answer.

    Nothing is kept between requests: the plan starts again each time and gets the outputs of the
    calls that it made before.
    """
    tools = {tool["name"]: tool.get("parameters") or {} for tool in request.tools if "name" in tool}
    form = tools.get(_COMPLETE)
    fields = form["properties"] if form else {}
    text_field = next((name for name in _TEXT_FIELDS if name in fields), "")
    question = read_question(request, _TASKS if _TASKS in fields else text_field)
    step = _next_step(plan_for(question), question.outputs)
    if isinstance(step, Call) and not request.forced:
        if step.tool in tools:
            return call(step.tool, fill(tools[step.tool], step.arguments))
        if _ACQUIRE in tools and step.tool not in question.acquired:
            return call(_ACQUIRE, fill(tools[_ACQUIRE], {"names": [step.tool]}))
    if isinstance(step, Call):
        name = "stopped" if request.forced else "no_tool"
        step = Answer(say(question.language, name, tool=step.tool))
    return _reply(step, form, text_field, question)


def _next_step(plan: Plan, outputs: Iterable[str]) -> Call | Answer:
    """Run the plan over `outputs`; return the call that has none yet, or the answer."""
    try:
        step = next(plan)
        for output in outputs:
            step = plan.send(output)
    except StopIteration as done:
        answer: Answer = done.value
        return answer
    return step


def _reply(
    answer: Answer, form: dict[str, Any] | None, text_field: str, question: Question
) -> Reply:
    """Return the answer in the response type of the request. The first one of a conversation says that
    this is a demo.

    A response type with fields of its own gets plain words: the demo has no values for them.
    """
    gaps = [say(question.language, "about_demo")] if question.is_first else []
    gaps = answer.fields.get("gaps", gaps)
    if form is None or not text_field:
        return text("\n\n".join([answer.text, *gaps]), disobey=True)
    return finish(fill(form, {**answer.fields, "gaps": gaps, text_field: answer.text}))
