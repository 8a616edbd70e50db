"""The demo as a brain: replays a plan over the calls of the conversation, and makes the next one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..model.filling import fill
from ..model.replies import Reply, call, finish, text
from ..model.request import ModelRequest
from .plans import Answer, Call, Plan, plan_for
from .question import read_question

REAL_MODEL = (
    "This is a demo that follows fixed plans. For a language model set OPENAI_API_KEY, or "
    "OPENAI_BASE_URL for your own server, and start `bot dev` again."
)
_ACQUIRE, _COMPLETE = "acquire_tools", "complete_task"
_TEXT_FIELDS = ("summary", "about", "draft")


def demo(request: ModelRequest) -> Reply:
    """Return the next tool call of the plan that fits the question, or its answer.

    Nothing is kept between requests: the plan starts again each time and gets the outputs of the
    calls that it made before.
    """
    tools = {tool["name"]: tool.get("parameters") or {} for tool in request.tools if "name" in tool}
    form = tools.get(_COMPLETE)
    kind = next((name for name in _TEXT_FIELDS if form and name in form["properties"]), "")
    question = read_question(request, kind)
    step = _next_step(plan_for(question), question.outputs)
    if isinstance(step, Call) and not request.forced:
        if step.tool in tools:
            return call(step.tool, fill(tools[step.tool], step.arguments))
        if _ACQUIRE in tools and step.tool not in question.acquired:
            return call(_ACQUIRE, fill(tools[_ACQUIRE], {"names": [step.tool]}))
    if isinstance(step, Call):
        step = Answer(_why_unfinished(step, forced=request.forced is not None))
    return _reply(step, form, kind)


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


def _why_unfinished(step: Call, *, forced: bool) -> str:
    if forced:
        return "I had to stop before I was done."
    return f"The tool {step.tool} is not available here. Admins choose the tools of a channel."


def _reply(answer: Answer, form: dict[str, Any] | None, kind: str) -> Reply:
    """Return the answer in the response type of the request.

    A response type with fields of its own gets plain words: the demo has no values for them.
    """
    words = f"Demo: {answer.text}"
    gaps = answer.fields.get("gaps", [REAL_MODEL])
    if form is None or not kind:
        return text("\n\n".join([words, *gaps]), disobey=True)
    known = {**answer.fields, "gaps": gaps, kind: words}
    return finish(fill(form, known))
