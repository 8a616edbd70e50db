"""`dispatch_subagent`: a sub-agent works on a sub-question.

A sub-agent is the same loop on a new chain. It only reads: it has no mutating or sensitive tools
and cannot dispatch sub-agents, so the depth is one. Its conversation is not stored: after a crash
it starts over. Its usage counts as its parent's after each call; Stop, the deadline and a pause of
the bot reach it as they reach its parent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override

from bot.agent import prompts
from bot.agent.builtin.acquire_tools import with_their_tools
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.builtin.shared_budget import ParentRun, SharedBudget
from bot.agent.events import (
    FromSubagent,
    ReasoningDelta,
    Recorded,
    ResultDelta,
    RunEnded,
    SavePoint,
    SkillAcquired,
    TextDelta,
)
from bot.agent.hooks.chain import Addition, Asker, HookChain, Hooks, Permission, Undecided
from bot.agent.loop import run
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState
from bot.core.answers import Result, Source
from bot.core.approvals import Ask, Decision, Verdict
from bot.core.chain import Item, LedgerEntry, ReportCheck
from bot.core.context import RequestContext, bound_request, current_request
from bot.core.errors import ToolError
from bot.core.outcome import RunStatus, StopReason
from bot.model.types import ModelRequest
from bot.toolkit import Provided, Reads, Tool, ToolResult, tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.offering import inputs_of

NAME = "dispatch_subagent"

_SHARE_OF_TIME = 0.75
"""Of what its parent has left: a result that comes later than that helps nobody."""
_LEAST_SECONDS = 2.0
_DAY = 86_400.0
_MOST_UNTRACED = 8  # claims that the note on a report names
_UNASKED = "Not done: a person would have to approve it, and helpers cannot ask anybody."


class Finding(BaseModel):
    """Something a sub-agent found out."""

    model_config = ConfigDict(frozen=True)

    statement: str = Field(description="What it is, in one sentence, with the numbers.")
    source: str = Field(description="Where it stands: URL, handle or name, as a tool gave it.")


class Report(Result):
    """What a sub-agent returns."""

    text_field = "summary"

    summary: str = Field(description="What came out, in one to five sentences.")
    findings: list[Finding] = Field(description="All that the goal asks for; may be [].")
    gaps: list[str] = Field(description="What could not be found or was left out, and why.")


_REPORT = ResponseType(Report, Report.text_field)


@dataclass(frozen=True, slots=True)
class Subagents:
    """Starts sub-agents of the run with these `deps`."""

    deps: LoopDeps

    async def work(self, goal: str, tools: Sequence[str], parent: ParentRun) -> ToolResult:
        """Return the report on `goal`, marked if it is incomplete. Raises ToolError when there is
        none: the goal cannot be worked on, or nothing was found."""
        catalogue = _reading(self.deps.toolbox.catalogue)
        _check(tools, self.deps.toolbox.catalogue, catalogue)
        context = current_request()
        seconds = (context.deadline - asyncio.get_running_loop().time()) * _SHARE_OF_TIME
        pool = parent.pool
        pool.begin(parent.call_id)
        try:
            if seconds < _LEAST_SECONDS or pool.used_up():
                raise ToolError("Not begun: too little is left of the budget. Go on without it.")
            named = tuple(dict.fromkeys(tools))  # services refuse two tools of one name
            ended, conversation = await self._run(goal, named, parent, context, catalogue, seconds)
        finally:
            pool.end(parent.call_id)
        check = None
        if ended.result is not None and self.deps.trace_report:
            report, check = self.deps.trace_report(ended.result, conversation)
            ended = replace(ended, result=report)
        return _reported(ended, check)

    async def _run(
        self,
        goal: str,
        tools: tuple[str, ...],
        parent: ParentRun,
        context: RequestContext,
        catalogue: Catalogue,
        seconds: float,
    ) -> tuple[RunEnded, Sequence[LedgerEntry]]:
        """Run the loop. Return its last event, and its conversation after the goal."""
        context = replace(context, run_id=context.idempotency_key)
        asked = prompts.subtask(context.request, goal)
        entries = [LedgerEntry(run_id=context.run_id, items=(asked,))]
        named = with_their_tools(tools, catalogue)
        for skill in filter(None, map(catalogue.skill, named)):
            parent.tell(FromSubagent(parent.call_id, SkillAcquired.of(skill)))
        offered = dict.fromkeys((*named, *catalogue.offers(goal, inputs_of(goal))))
        state = LoopState(task=asked, pending=(asked,), acquired=tuple(offered))
        deps = self._child_deps(parent.pool, entries, context, catalogue, seconds)
        with bound_request(context):
            async with aclosing(run(state, deps)) as events:
                async for event in events:
                    if isinstance(event, Recorded):
                        entries.append(event.entry)
                    if isinstance(event, Recorded | SavePoint | RunEnded):
                        parent.pool.note(parent.call_id, event.state)
                    if not isinstance(event, TextDelta | ReasoningDelta | ResultDelta):
                        parent.tell(FromSubagent(parent.call_id, event))
                    if isinstance(event, RunEnded):
                        return event, entries[1:]
        raise RuntimeError("the loop ended without RunEnded")

    def _child_deps(
        self,
        pool: SharedBudget,
        entries: list[LedgerEntry],
        context: RequestContext,
        catalogue: Catalogue,
        seconds: float,
    ) -> LoopDeps:
        deps = self.deps

        async def history() -> list[LedgerEntry]:
            return entries

        inherited = (_Inherited(hook) for hook in deps.hooks.hooks if hook.inherited)

        return replace(
            deps,
            models=deps.models[pool.fallback :] or deps.models[-1:],
            toolbox=replace(deps.toolbox, catalogue=catalogue),
            response_type=_REPORT,
            limits=pool.limits(seconds),
            context=context,
            history=history,
            instructions=prompts.subagent_instructions(deps.instructions),
            hooks=HookChain((_Shared(pool), *inherited)),
            asker=_NoAsker(),
        )


@tool(
    group="agent",
    summary="Has a sub-question looked into by a helper; several at once, side by side",
    safety=Reads(foreign=True, evidence=False),  # its own words, which rest on what it read
    timeout=_DAY,  # its parent's deadline comes first
    title="Look into: {goal}",
)
async def dispatch_subagent(
    goal: Annotated[
        str,
        Field(
            min_length=1,
            description="What is to be found out, with all that must be known for it: the helper "
            "sees nothing of this conversation but handles of saved outputs that you name here.",
        ),
    ],
    tools: Annotated[
        list[str],
        Field(description="Names of tools that it begins with; may be [], it can get others."),
    ],
    subagents: Provided[Subagents],
    parent: Provided[ParentRun],
) -> ToolResult:
    """Hand a sub-question to a helper that works on it by itself and returns a short report with
    sources. Use it for parts of a task that do not depend on each other and need many steps or much
    reading: call it once for each in the same response, and they work side by side. Helpers only
    read, and share your budget."""
    return await subagents.work(goal, tools, parent)


def with_subagents(deps: LoopDeps) -> LoopDeps:
    """Return `deps` of a run that may dispatch sub-agents, if its catalogue has the tool."""
    services = {**deps.toolbox.services, Subagents: Subagents(deps)}
    return replace(deps, toolbox=replace(deps.toolbox, services=services))


class _Shared(Hooks):
    """A hook that stops a sub-agent when the shared budget is nearly used up, so that the parent
    run can still make its last call."""

    def __init__(self, pool: SharedBudget) -> None:
        self._pool = pool

    @override
    async def transform_context(self, request: ModelRequest) -> ModelRequest:
        return replace(request, is_last=False)  # its run has calls to make after it

    @override
    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        return self._pool.used_up()


class _Inherited(Hooks):
    """A parent's hook as a sub-agent gets it: only the methods about calls and requests, not those
    about results and the end of the run."""

    def __init__(self, hook: Hooks) -> None:
        self._hook = hook
        self.binds = hook.binds

    @override
    async def transform_context(self, request: ModelRequest) -> ModelRequest:
        return await self._hook.transform_context(request)

    @override
    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        return await self._hook.on_turn_start(state)

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        permission = await self._hook.before_tool(tool, arguments)
        return _UNASKED if isinstance(permission, Undecided) else permission

    @override
    async def after_tool(
        self, tool: Tool, arguments: BaseModel, result: ToolResult
    ) -> str | Addition:
        return await self._hook.after_tool(tool, arguments, result)

    @override
    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        return await self._hook.should_stop_after_turn(state)


class _NoAsker(Asker):
    """Sub-agents ask nobody."""

    @override
    async def wait_for(self, tool: Tool, ask: Ask) -> str:
        return _UNASKED

    @override
    async def ask(self, tool: Tool, ask: Ask, tell: Callable[[bool], None]) -> Decision:
        return Decision(verdict=Verdict.DENIED, comment=_UNASKED)


def _reading(catalogue: Catalogue) -> Catalogue:
    """Return the tools that a sub-agent may have."""
    return replace(catalogue, tools=tuple(filter(_may_be_given, catalogue.tools)))


def _may_be_given(tool: Tool) -> bool:
    return not (tool.mutates or tool.sensitive or tool.asks or tool.name == NAME)


def _check(names: Sequence[str], all_tools: Catalogue, given: Catalogue) -> None:
    """Check that a sub-agent may have the tools `names`. Raises ToolError."""
    for name in names:
        if given.get(name) or given.skill(name):
            continue
        if all_tools.get(name):
            raise ToolError(
                f"{name} cannot be given to a helper: helpers only read. Use it yourself."
            )
        raise ToolError(given.missing(name) or f"There is no tool {name}, and none is similar.")


def _reported(ended: RunEnded, check: ReportCheck | None) -> ToolResult:
    """Return the report as the parent reads it; an incomplete one says so first."""
    if ended.result is None:
        done = f" It had done: {'; '.join(dict.fromkeys(ended.done))}." if ended.done else ""
        raise ToolError(f"The helper ended without a report ({ended.stop_reason}).{done}")
    note = ""
    if ended.status is not RunStatus.SUCCESS:
        note = (
            f"PARTIAL: the helper was cut short ({ended.stop_reason}). What follows is what it had "
            "by then; do not take it for everything, and say so in your result."
        )
    elif isinstance(ended.result, Report):
        note = f"Report: {len(ended.result.findings)} findings, {len(ended.result.gaps)} gaps"
    if check and check.untraced:
        untraced = "; ".join(check.untraced[:_MOST_UNTRACED])
        note += f" · it does not say where these come from, so look them up yourself: {untraced}"
    links = tuple(Source(title=url, url=url, supports="") for url in ended.state.links)
    return ToolResult(ended.result.model_dump_json(), sources=links, note=note, report=check)
