"""Questions of servers to the asker: a call waits for the answer, and is then made again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Approved, Asker, Hooks, Permission, Undecided
from bot.core.approvals import ApprovalRecord, Ask, Decision, Verdict
from bot.core.context import current_request
from bot.core.errors import CorruptValue
from bot.runs.policy.run_approvals import Waits
from bot.toolkit import Tool

INPUT = "input"
"""The kind of a wait for the asker to answer a question of a server."""

_ANSWER_SECONDS = 600.0  # for an answer during a call, which keeps a worker
_PAUSE = 0.5  # seconds between two looks for an answer
_LOST = "Not done: nobody knows any more what was answered. Call it again."
_APPROVED = (
    "Not done: somebody else approved this call, and what the asker fills in would change it. Put "
    "everything into the arguments; if that is not possible, say so."
)
_ASKED_BEFORE = "Not done: the server asks again for what was answered. Go on without it; say so."


class InputHook(Hooks, Asker):
    """A hook of one run, and the asker of its calls: it asks what a server wants to know during a call.

    The call is then made again. It finds all that it asked so far, with the decisions, in
    `RequestContext.answers`; the server is told of a refusal as of an answer.
    """

    def __init__(self, waits: Waits) -> None:
        self._waits = waits
        self._asked: list[ApprovalRecord] | None = None

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        if not tool.is_of_server or self._waits.in_subagent:
            return None
        try:
            answers = await self._answers(current_request().idempotency_key)
        except CorruptValue:
            return _LOST
        if any(answer.decision is None for answer in answers):
            return Undecided()
        return Approved(answers=answers) if answers else None

    @override
    async def wait_for(self, tool: Tool, ask: Ask) -> str | Undecided:
        if ask.kind != INPUT:
            return await super().wait_for(tool, ask)
        if self._is_approved_by_another(tool):
            return _APPROVED
        if any(answer.approval.tool == ask.subject for answer in current_request().answers):
            return _ASKED_BEFORE
        self._asked = None
        try:
            await self._waits.decision(ask)
        except CorruptValue:
            return _LOST
        return Undecided()

    @override
    async def ask(self, tool: Tool, ask: Ask, tell: Callable[[bool], None]) -> Decision:
        if ask.kind != INPUT:
            return await super().ask(tool, ask, tell)
        if self._is_approved_by_another(tool):
            return Decision(verdict=Verdict.DENIED, comment=_APPROVED)
        is_shown = False
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                while (
                    decision := await self._waits.decision(ask, seconds=_ANSWER_SECONDS)
                ) is None:
                    if not is_shown:
                        tell(False)
                        is_shown = True
                    await asyncio.sleep(_PAUSE)
        except TimeoutError:
            decision = Decision(verdict=Verdict.EXPIRED)
            await self._waits.decide(ask, decision)
        except CorruptValue:
            return Decision(verdict=Verdict.DENIED, comment=_LOST)
        if is_shown:
            tell(True)
        return decision

    def _is_approved_by_another(self, tool: Tool) -> bool:
        """Return whether the call makes a change that only others than the asker may approve."""
        by = current_request().approved_by
        return tool.mutates and by not in ("", self._waits.request.user)

    async def _answers(self, call_key: str) -> tuple[ApprovalRecord, ...]:
        """Return what the call asked, the oldest first, with the decisions made by now."""
        if self._asked is None:
            asked = await self._waits.records(INPUT)
            self._asked = sorted(asked, key=lambda each: each.approval.asked_at)
        own = (record for record in self._asked if record.approval.is_of_call(call_key))
        return tuple([await self._waits.settled(record) for record in own])
