"""Dispatch of the calls of one response: validated, bounded, in the right order.

Every call gets exactly one output, whatever happens to it, and each step that people saw begin also
ends.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from pydantic import ValidationError

from bot.agent.builtin import checkpoint
from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.builtin.complete_task import describe_errors
from bot.agent.builtin.shared_budget import SharedBudget
from bot.agent.calls.call import (
    OUTCOME_UNKNOWN,
    CallEvent,
    CallEvents,
    Calls,
    Intent,
    ended,
    refusal,
    shown_refusal,
)
from bot.agent.calls.outputs import ACCEPTED, CallOutput
from bot.agent.events import FromSubagent, Paused, Recorded, SavePoint, ToolEnded, ToolStarted, emit
from bot.agent.interrupt import Interrupted
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState, OpenResponse
from bot.core.chain import Item
from bot.core.context import RequestContext
from bot.core.failpoints import failpoint
from bot.toolkit.catalogue import ACQUIRE

_OUT_OF_TIME = "the time for this task is up."


class OngoingCalls:
    """Tracks started calls, including those of sub-agents, so that each step that people saw begin
    also ends. `begun` are the ids of mutating calls that were started."""

    def __init__(self, begun: Iterable[str]) -> None:
        self._begun = set(begun)
        self._steps: dict[tuple[str, str], tuple[ToolStarted, float]] = {}

    def note(self, event: object) -> None:
        """Record a start, an end, or the intent to change something."""
        agent = event.agent if isinstance(event, FromSubagent) else ""
        match event.event if isinstance(event, FromSubagent) else event:
            case Intent(call_id=call_id, is_made=True):
                self._begun.add(call_id)
            case Intent(call_id=call_id):
                self._begun.discard(call_id)
            case ToolStarted(call_id=call_id) as started:
                self._steps[agent, call_id] = (started, time.monotonic())
            case ToolEnded(call_id=call_id):
                self._steps.pop((agent, call_id), None)
            case _:
                pass

    def stopped(self, call: Item, *, by_person: bool) -> CallOutput:
        """Return the output of a call that a person or the deadline interrupted. A change that had
        begun may have been made."""
        call_id = call["call_id"]
        is_unknown = call_id in self._begun
        if is_unknown:
            how = "by the user while it ran." if by_person else f"while it ran: {_OUT_OF_TIME}"
            text = f"Stopped {how} {OUTCOME_UNKNOWN}"
        elif by_person:
            text = "Cancelled by the user before it finished."
        else:
            text = f"Stopped before it finished: {_OUT_OF_TIME}"
        started, _ = self._steps.get(("", call_id), (None, 0.0))
        return CallOutput(
            call_id,
            call["name"],
            text,
            ok=False,
            cancelled=by_person,
            title=started.title if started else "",
            unknown=is_unknown,
        )

    def ends(self, outputs: Mapping[str, CallOutput]) -> Iterator[CallEvent]:
        """Yield the end of each step that has started, those of sub-agents before their own;
        `outputs` by the ids of the calls."""
        now = time.monotonic()
        for (agent, call_id), (step, began) in sorted(
            self._steps.items(), key=lambda each: not each[0][0]
        ):
            output = outputs[agent or call_id]
            if agent:
                output = replace(output, call_id=call_id, tool=step.tool, title=step.title)
            end = ended(output, now - began, known=step.known)
            yield FromSubagent(agent, end) if agent else end


NOT_RUN = "Not run."
"""The output of most calls that a response makes beyond the limit: its tokens are those of two words,
however many there are."""

_CHECKPOINT_SHARE = 4  # a quarter of the window: the fresh conversation must have room to work in
_UNKNOWN = f"Unknown: the bot was interrupted while this ran. {OUTCOME_UNKNOWN}"


@dataclass
class Dispatch:
    """Runs the calls of the open response of `state`, which each save point replaces.

    `context` is bound for each call; `deadline` is that of the run, in seconds on the event loop's
    clock. `offered` are the names of the tools that the request carried. At most `most` calls are
    run, so that there is room for their outputs; in the last turn only `complete_task` is run.
    """

    deps: LoopDeps
    state: LoopState
    context: RequestContext
    deadline: float
    most: int
    offered: frozenset[str]

    def __post_init__(self) -> None:
        self._first = self.state
        self._open = self._opened(self.state)
        self._pool = SharedBudget(self.deps.limits, self.state)
        self._ongoing = OngoingCalls(self._open.begun)
        self._done = self._done_before()

    async def run(self) -> tuple[CallOutput, ...] | Paused:
        """Run the calls that have no output yet. Return the outputs in the order of the calls; Paused
        while calls wait for a decision of people.

        Read-only calls next to each other run side by side; one that mutates runs alone;
        `complete_task` comes last and counts only if all beside it went well; a checkpoint counts
        alone. An interrupt ends it early, with outputs for all. A call behind one that waits
        is not begun: it was asked for in the belief that this one would be made before.

        What was begun and changes something is never begun again: a save point says so before.
        """
        calls, done = self._open.response.calls, self._done
        to_run, left_out, finals = self._divided()
        deps = self.deps
        runner = Calls(
            toolbox=deps.toolbox,
            hooks=deps.hooks,
            context=self.context,
            pool=self._pool,
            offered=self.offered,
            noted=frozenset(name for name, digest in self.state.noted.items() if digest),
            asker=deps.asker,
        )
        try:
            await self._show_answered()
            if waiting := await self._run_batches(to_run, runner):
                return Paused(waiting)
        except (Interrupted, TimeoutError) as stop:
            by_person = isinstance(stop, Interrupted)
            stopped = [call for call in calls if call["call_id"] not in done]
            done |= {c["call_id"]: self._ongoing.stopped(c, by_person=by_person) for c in stopped}
            await _emit_all(self._ongoing.ends(done))
        else:
            await self._refuse(left_out, to_run)
            await self._finish(finals, runner, max(1, self.most - len(to_run)))
        spent = self._pool.with_children(self._first)
        if (spent.usage, spent.cost) != (self.state.usage, self.state.cost):
            await self._save()  # what was cancelled has cost something too
        return tuple(self._pool.with_steps(done[call["call_id"]]) for call in calls)

    @staticmethod
    def _opened(state: LoopState) -> OpenResponse:
        if state.open is None:
            raise ValueError("the run has no response to work on")
        return state.open

    @property
    def _is_last(self) -> bool:
        return self._first.closing is not None

    def _divided(self) -> tuple[list[Item], list[Item], list[Item]]:
        """Return the calls that are run, those that are not, and those that end the run or its
        conversation. Nothing is run behind a question to a person: it was called without the answer."""
        calls, last = self._open.response.calls, {COMPLETE, checkpoint.NAME} & self.offered
        finals = [call for call in calls if call["name"] in last]
        others = [call for call in calls if call["name"] not in last]
        most = self.most - 1 if finals else self.most
        count = 0 if self._is_last else max(1, most)
        asking = [place for place, call in enumerate(others, 1) if self._asks(call)]
        count = min(count, *asking[:1], len(others))
        return others[:count], others[count:], finals

    def _done_before(self) -> dict[str, CallOutput]:
        """Return the outputs that an interrupted run left, those of unknown changes included."""
        done = {output.call_id: output for output in self._open.outputs}
        for call in self._open.response.calls:
            if call["call_id"] in self._open.begun and call["call_id"] not in done:
                done[call["call_id"]] = CallOutput(
                    call["call_id"],
                    call["name"],
                    _UNKNOWN,
                    ok=False,
                    title=call["name"].replace("_", " "),
                    unknown=True,
                )
        return done

    async def _show_answered(self) -> None:
        """Emit the start and the end of calls whose outcome an interruption left unknown."""
        answered = {output.call_id for output in self._open.outputs}
        for output in list(self._done.values()):
            if output.call_id not in answered:
                await _emit_all(shown_refusal(output))

    async def _save(self) -> None:
        """Save how far the calls have come, with what sub-agents have spent."""
        self.state = self._pool.with_children(self._first.replace(open=self._open))
        await emit(SavePoint(self.state))

    async def _save_outputs(self) -> None:
        outputs = tuple(map(self._pool.with_steps, self._done.values()))
        self._open = self._open.model_copy(update={"outputs": outputs})
        await self._save()

    async def _run_batches(self, calls: Sequence[Item], runner: Calls) -> tuple[str, ...]:
        """Run those of `calls` that are not done, one batch after the other. Return the ids of calls
        that wait for people; those behind them are not begun."""
        to_do = [call for call in calls if call["call_id"] not in self._done]
        for number, batch in enumerate(self._batches(to_do)):
            if number:
                await self._save_outputs()
                failpoint("outputs-kept")
            await self._run_batch(batch, runner)
            if waiting := tuple(c["call_id"] for c in batch if c["call_id"] not in self._done):
                await self._save_outputs()
                return waiting
        return ()

    def _batches(self, calls: Sequence[Item]) -> list[list[Item]]:
        """Group read-only calls that are next to each other; a mutating call is alone."""
        batches: list[list[Item]] = []
        for mutates, group in groupby(calls, key=self._mutates):
            members = list(group)
            batches.extend([[call] for call in members] if mutates else [members])
        return batches

    def _mutates(self, call: Item) -> bool:
        return self.deps.toolbox.is_change(call["name"])

    def _asks(self, call: Item) -> bool:
        tool = self.deps.toolbox.catalogue.get(call["name"])
        return tool is not None and tool.asks

    async def _run_batch(self, batch: list[Item], runner: Calls) -> None:
        """Run a batch. Calls that wait for a decision get no output."""
        events: CallEvents = asyncio.Queue()
        places = asyncio.Semaphore(self.deps.limits.parallel_calls)

        async def one(call: Item) -> None:
            try:
                async with places:
                    if output := await runner.make(call, events):
                        self._done[call["call_id"]] = output
            finally:
                events.put_nowait(None)

        tasks = [asyncio.create_task(one(call)) for call in batch]
        try:
            running = len(tasks)
            while running:
                event = await self._next(events)
                if event is None:
                    running -= 1
                else:
                    await self._handle(event)
                events.task_done()
        except (Interrupted, TimeoutError):
            await _end(tasks)
            while not events.empty():
                event = events.get_nowait()
                # A change whose intent was not saved was not begun.
                if event is not None and not isinstance(event, Intent):
                    await self._handle(event)
            raise
        except BaseException:
            await _end(tasks)
            raise
        for task in tasks:
            task.result()  # raises what is a bug of ours

    async def _next(self, events: CallEvents) -> CallEvent | Intent | None:
        if not events.empty() and not self.deps.interrupt.requested:
            return events.get_nowait()
        with self.deps.interrupt.within(self.deadline):
            return await events.get()

    async def _handle(self, event: CallEvent | Intent) -> None:
        """Emit an event of a call, and save what it changes in the state of the run."""
        self._ongoing.note(event)
        if isinstance(event, Intent):
            begun = [call_id for call_id in self._open.begun if call_id != event.call_id]
            begun += [event.call_id] if event.is_made else []
            self._open = self._open.model_copy(update={"begun": tuple(begun)})
            await self._save()
            return
        await emit(event)
        if isinstance(event, FromSubagent) and isinstance(event.event, Recorded):
            await self._save()

    async def _refuse(self, left_out: Sequence[Item], run: Sequence[Item]) -> None:
        """Answer the calls that are not run. The first answer speaks for the calls behind it too."""
        why = f"Not run: at most {len(run)} calls are run at once now. Call it again, and those after it."
        if run and self._asks(run[-1]):
            why = (
                "Not run: you called it before you had the answer. If it still fits, call it again."
            )
        if self._is_last:
            why = "Not run: this was the last call."
        for call in left_out:
            if call["call_id"] not in self._done:
                self._done[call["call_id"]] = output = refusal(call, why)
                await _emit_all(shown_refusal(output, known=self._is_known(call)))
                why = NOT_RUN

    async def _finish(self, finals: Sequence[Item], runner: Calls, most: int) -> None:
        """Answer the calls that end the run or its conversation."""
        for call in finals[:most]:
            output = await self._final(call)
            self._done[call["call_id"]] = await runner.fitted(output)
        for call in finals[most:]:
            self._done[call["call_id"]] = CallOutput(call["call_id"], COMPLETE, NOT_RUN, ok=False)

    async def _final(self, call: Item) -> CallOutput:
        if call["name"] == checkpoint.NAME:
            is_alone = len(self._open.response.calls) == 1
            most = self.context.context_window // _CHECKPOINT_SHARE
            return checkpoint.answered(call, alone=is_alone, most_tokens=most)
        return await self._complete(call)

    async def _complete(self, call: Item) -> CallOutput:
        outputs = self._done.values()
        if any(output.result is not None for output in outputs):
            # Two results would be judged as one, and the second end a run whose first was sent back.
            text = "Not read: another result was given before it, at once. Give one."
            return CallOutput(call["call_id"], COMPLETE, text)
        if any(map(self._asks, self._open.response.calls)) and not self._is_last:
            text = "Not yet: you gave the result before you had the answer. Give one that fits it."
            return CallOutput(call["call_id"], COMPLETE, text, ok=False)
        failed = [output.tool for output in outputs if not output.ok]
        if failed and not self._is_last:
            text = (
                f"Not yet: {', '.join(failed)}, called in the same response, did not work. Look at "
                f"the outputs, and return a result that is true of them."
            )
            return CallOutput(call["call_id"], COMPLETE, text, ok=False)
        try:
            arguments, notes = self.deps.hooks.filled_json(call["arguments"])
            result = await self.deps.response_type.parse(arguments)
        except ValidationError as error:
            text = f"The result is not valid:\n{describe_errors(error)}\nCorrect it and call again."
            return CallOutput(call["call_id"], COMPLETE, text, ok=False)
        text = "\n".join((ACCEPTED, *notes))
        return CallOutput(call["call_id"], COMPLETE, text, result=result)

    def _is_known(self, call: Item) -> bool:
        """Return whether a tool of that name exists."""
        return call["name"] == ACQUIRE or self.deps.toolbox.catalogue.get(call["name"]) is not None


async def _emit_all(events: Iterable[CallEvent]) -> None:
    for event in events:
        await emit(event)


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Cancel the tasks that still run, and wait for their end."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
