"""What asking back adds to a run: the tool waits for its asker, where there is one."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Approved, Hooks, Permission, Undecided
from bot.core.approvals import ApprovalRecord, Verdict
from bot.core.context import current_request
from bot.core.errors import CorruptValue
from bot.features.ask_person.question import QUESTION, PersonQuestion
from bot.features.ask_person.tools import ask_person
from bot.runs.policy.run_approvals import Waits
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.text.secret_names import secret_named_in
from bot.toolkit import Tool
from bot.toolkit.catalogue import Catalogue

INSTRUCTIONS = """\
Asking back
- Where a wrong guess would be dear, ask with `ask_person`, never in `summary` or `follow_ups`. What a
  tool can find, find; a matter of taste, decide, and say what you assumed.
"""

_MOST = 2  # questions of a run
_TOO_MANY = (
    "Not asked: two questions are the most. Assume what is likeliest, and say so in the result."
)
_NO_WORDS = "Not asked: the question has no words."
_NOT_IN_CHAT = (
    "Not asked: it names a secret ({name}), and nobody types one into a chat. Ask without that word "
    "if you want none; else go on without it, and say in the result where it is to be set."
)
_LOST = "Not asked: nobody knows any more what was answered. Assume what is likeliest, and say so."


class QuestionHook(Hooks):
    """The hook of one run by which its asker is asked before `ask_person` runs, one question at a
    time."""

    inherited = False

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._asking = asyncio.Lock()

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        if tool.name != ask_person.tool.name or self._waits.in_subagent:
            return None
        question = PersonQuestion.of(**dict(arguments))
        if not question.question:
            return _NO_WORDS
        texts = (question.question, *question.options)
        if name := next(filter(None, map(secret_named_in, texts)), ""):
            return _NOT_IN_CHAT.format(name=name)
        try:
            async with self._asking:
                return await self._answered(question)
        except CorruptValue:
            return _LOST

    async def _answered(self, question: PersonQuestion) -> Permission:
        """Return the decision about the call in progress, and ask unless that was done."""
        call = current_request().idempotency_key
        records = [await self._waits.settled(r) for r in await self._waits.records(QUESTION)]
        own = [record for record in records if record.approval.is_of_call(call)]
        if own:
            return Approved(answers=(own[0],)) if own[0].decision else Undecided()
        if sum(map(_was_put, records)) >= _MOST:
            return _TOO_MANY
        await self._waits.decision(question.ask)
        return Undecided()


class AskPersonPart(RunPart):
    """The part of one run. Without somebody to ask, the model is not told of the tool."""

    def __init__(self, run: Run) -> None:
        tools = Catalogue((ask_person.tool,)).only(run.channel.tools)
        request = run.request
        if run.deps.frontend.reaches_asker and request.is_attended and tools.tools:
            self.asking = QuestionHook(run.waits)
            self.instructions = INSTRUCTIONS
        else:
            self.withheld = (ask_person.tool.name,)


def _was_put(record: ApprovalRecord) -> bool:
    """Return whether the asker saw the question: not if they had written just before."""
    decision = record.decision
    return decision is None or bool(decision.by) or decision.verdict is Verdict.EXPIRED
