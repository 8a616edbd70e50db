"""Repetition of recorded calls with the rights and channel policy of the person who asks now."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from bot.agent.builtin.shared_budget import SharedBudget
from bot.agent.calls.call import CallEvents, Calls
from bot.agent.calls.outputs import CallOutput
from bot.agent.events import Event
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.state import LoopState
from bot.core.context import bound_request
from bot.core.request import Request
from bot.evidence.arguments import value_of
from bot.evidence.indexing import IndexedOutput
from bot.runs.policy.channels import ChannelSettings
from bot.runs.queue.steering import Steering
from bot.runs.refresh.compare import Repeated
from bot.runs.refresh.locate import Missing, locate_value
from bot.runs.refresh.plan import (
    Plan,
    RecordedCall,
    Skipped,
    may_repeat,
    operands,
    with_handles,
    with_numbers,
)
from bot.runs.run_deps import RunDeps
from bot.services.processes.isolation import warm_processes

_SECONDS = 240.0
_MAX_OUTPUT = 60_000  # characters: more than the model read, so that each line of it is there


@dataclass(slots=True)
class Repetition:
    """One repetition of the calls of a plan, in order.

    `handles` maps the handles of the recorded calls to those of the new ones.
    """

    plan: Plan
    recorded: dict[str, RecordedCall]
    calls: Calls
    handles: dict[str, str]
    outputs: dict[str, IndexedOutput]
    skipped: dict[str, Skipped]

    @classmethod
    async def prepared(
        cls,
        deps: RunDeps,
        request: Request,
        channel: ChannelSettings,
        plan: Plan,
        recorded: dict[str, RecordedCall],
    ) -> Repetition:
        """Return a repetition by the person of `request`, which tools see as the current one.

        The hooks of a run decide about each call: the pause, the operator's commands, approvals.
        """
        run_id, interrupt = request.id, Interrupt()
        models = deps.models.models("")
        steering = Steering(
            request,
            [],
            deps.stores.mailbox,
            interrupt,
            is_short=False,
            steers=False,
            images=False,
        )
        loop_deps = await deps.loop_deps(
            deps.context(request, run_id, models),
            interrupt,
            channel,
            deps.spending(request, run_id, channel, interrupt, _ignore),
            steering,
            deps.evidence(request, channel),
            models,
        )
        context = replace(loop_deps.context, max_response_size=_MAX_OUTPUT)
        calls = Calls(
            loop_deps.toolbox,
            loop_deps.hooks,
            context,
            SharedBudget(Limits(), LoopState()),
            frozenset(each.tool for each in plan.calls.values()),
        )
        return cls(plan, recorded, calls, {}, {}, dict(plan.skipped))

    async def run(self) -> Repeated:
        """Make the calls again. A call that fails leaves the others as they are."""
        try:
            with bound_request(self.calls.context):
                async with asyncio.timeout(_SECONDS), warm_processes():
                    for call in self.plan.calls.values():
                        await self._repeat(call)
        except TimeoutError:
            for call_id in self.plan.calls.keys() - self.outputs.keys():
                self.skipped.setdefault(call_id, Skipped.TOO_MANY)
        return Repeated(self.recorded, self.outputs, self.skipped)

    async def _repeat(self, call: RecordedCall) -> None:
        tool = self.calls.toolbox.catalogue.get(call.tool)
        if tool is None:
            self.skipped[call.call_id] = Skipped.NOT_ALLOWED
            return
        if any(each not in self.handles for each in call.record.used):
            self.skipped[call.call_id] = Skipped.BUILDS_ON  # the stored copy is that of the answer
            return
        arguments = with_handles(call.arguments, self.handles)
        if not may_repeat(tool):  # arithmetic: its numbers are those of other calls
            replaced = await asyncio.to_thread(self._new_operands, call)
            if isinstance(replaced, Skipped):
                self.skipped[call.call_id] = replaced
                return
            arguments = with_numbers(arguments, replaced)
        output = await self._made(call, arguments)
        if why := self._why_not(call, output, tool.group):
            self.skipped[call.call_id] = why
            return
        assert output is not None  # noqa: S101 - `_why_not` says so
        self.outputs[call.call_id] = await asyncio.to_thread(call.index, output.text)
        self.handles |= dict(
            zip(call.saved, (each.handle for each in output.kept.saved), strict=False)
        )

    async def _made(self, call: RecordedCall, arguments: str) -> CallOutput | None:
        """Return the output of a call; None while it would wait for a person."""
        events: CallEvents = asyncio.Queue()
        item = {"type": "function_call", "name": call.tool, "call_id": call.call_id}
        return await self.calls.make({**item, "arguments": arguments}, events)

    def _why_not(self, call: RecordedCall, output: CallOutput | None, group: str) -> Skipped | None:
        """Return why an output does not count. A replaced file is not the file of the answer."""
        if output is None or not output.ok:
            return Skipped.FILE_GONE if group == "files" else Skipped.FAILED
        before = {each.raw_sha256 for each in call.record.saved} - {""}
        now = {each.raw_sha256 for each in output.kept.saved} - {""}
        if group == "files" and before != now:
            return Skipped.FILE_REPLACED
        return None

    def _new_operands(self, call: RecordedCall) -> dict[str, float] | Skipped:
        """Return the numbers of a calculation as they are now, by how they were written."""
        order = [*self.recorded]
        before = [self.recorded[each] for each in order[: order.index(call.call_id)]]
        found: dict[str, float] = {}
        for number, source in operands(call, before):
            if source is None:
                return Skipped.OPERAND
            now = self.outputs.get(source.call_id)
            if now is None:
                return Skipped.BUILDS_ON
            located = locate_value(value_of(number), source.indexed, now)
            if isinstance(located, Missing):
                return Skipped.BUILDS_ON
            found[number] = located.now if located.before >= 0 else -located.now
        return found


async def _ignore(_event: Event) -> None:
    """Show nothing: nobody watches the steps of a refresh."""
