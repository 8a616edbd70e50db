"""Dispatch of the calls of one response: validated, bounded, in the right order.

Every call gets exactly one output, whatever happens to it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from itertools import groupby

from pydantic import ValidationError

from bot.agent.builtin import checkpoint
from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.builtin.complete_task import ResponseType, describe_errors
from bot.agent.builtin.shared_budget import SharedBudget
from bot.agent.calls.call import (
    OUTCOME_UNKNOWN,
    CallEvent,
    CallEvents,
    Calls,
    Intent,
    NotBegun,
    Toolbox,
    refusal,
    shown_refusal,
)
from bot.agent.calls.ongoing import OngoingCalls
from bot.agent.calls.outputs import ACCEPTED, CallOutput
from bot.agent.hooks.chain import HookChain
from bot.agent.interrupt import Interrupt, Interrupted
from bot.agent.limits import Limits
from bot.agent.state import OpenResponse
from bot.core.chain import Item
from bot.core.context import RequestContext
from bot.core.failpoints import failpoint
from bot.toolkit.catalogue import ACQUIRE

NOT_RUN = "Not run."
"""The output of most calls that a response makes beyond the limit: its tokens are those of two words,
however many there are."""

_CHECKPOINT_SHARE = 4  # a quarter of the window: the fresh conversation must have room to work in
_UNKNOWN = f"Unknown: the bot was interrupted while this ran. {OUTCOME_UNKNOWN}"


@dataclass(frozen=True, slots=True)
class OutputsReady:
    """Some calls have their outputs; others are still to run."""

    outputs: tuple[CallOutput, ...]


@dataclass(frozen=True, slots=True)
class AwaitingDecision:
    """These calls wait for a decision of people, and so do the calls behind them."""

    call_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The outputs of all calls, in the order of the calls."""

    outputs: tuple[CallOutput, ...]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Runs the calls of one response.

    `context` is bound for each call; `deadline` is that of the run, in seconds on the event loop's
    clock; `pool` is the budget that sub-agents share. At most `most` calls are run, so that there
    is room for their outputs; with `is_last`, only `complete_task` is run."""

    toolbox: Toolbox
    limits: Limits
    interrupt: Interrupt
    response_type: ResponseType
    hooks: HookChain
    context: RequestContext
    deadline: float
    pool: SharedBudget
    most: int
    is_last: bool

    async def run(
        self, open_response: OpenResponse, offered: frozenset[str]
    ) -> AsyncGenerator[
        CallEvent | Intent | NotBegun | OutputsReady | AwaitingDecision | Dispatched
    ]:
        """Run the calls of `open_response` that have no output yet.

        Yield what happens, and last the outputs in the order of the calls, or `AwaitingDecision`.
        `offered` are the names of the tools that the request carried.

        The consumer keeps `Intent`, `NotBegun` and `OutputsReady` before it goes on: what was begun
        and changes something is never begun again.

        Read-only calls next to each other run side by side; one that mutates runs alone;
        `complete_task` comes last and counts only if all beside it went well; a checkpoint counts
        alone. An interrupt ends it early, with outputs for all. A call behind one that waits
        is not begun: it was asked for in the belief that this one would be made before.
        """
        calls = open_response.response.calls
        last = {COMPLETE, checkpoint.NAME} & offered
        finals = [call for call in calls if call["name"] in last]
        others = [call for call in calls if call["name"] not in last]
        most = self.most - 1 if finals else self.most
        to_run = others[: 0 if self.is_last else max(1, most)]
        to_finish = finals[: max(1, self.most - len(to_run))]
        runner = Calls(self.toolbox, self.hooks, self.context, self.pool, offered)
        done, ongoing = self._done_before(open_response), OngoingCalls(open_response.begun)
        answered = {output.call_id for output in open_response.outputs}
        for output in [each for each in done.values() if each.call_id not in answered]:
            for shown in shown_refusal(output):
                yield shown
        try:
            async with aclosing(self._run_batches(to_run, runner, done)) as events:
                async for event in events:
                    ongoing.note(event)
                    yield event
                    if isinstance(event, AwaitingDecision):
                        return
        except (Interrupted, TimeoutError) as stop:
            by_person = isinstance(stop, Interrupted)
            stopped = [each for each in calls if each["call_id"] not in done]
            done |= {c["call_id"]: ongoing.stopped(c, by_person=by_person) for c in stopped}
            for ended in ongoing.ends(done):
                yield ended
        else:
            left_out = [call for call in others[len(to_run) :] if call["call_id"] not in done]
            for number, call in enumerate(left_out):
                why = NOT_RUN if number else self._why_not_run(len(to_run))
                done[call["call_id"]] = output = refusal(call, why)
                for shown in shown_refusal(output, known=self._is_known(call)):
                    yield shown
            for call in to_finish:
                output = await self._final(call, calls, done)
                done[call["call_id"]] = await runner.fitted(output)
            for call in finals[len(to_finish) :]:
                done[call["call_id"]] = CallOutput(call["call_id"], COMPLETE, NOT_RUN, ok=False)
        yield Dispatched(tuple(done[call["call_id"]] for call in calls))

    def _done_before(self, open_response: OpenResponse) -> dict[str, CallOutput]:
        """Return the outputs that an interrupted run left, those of unknown changes included."""
        done = {output.call_id: output for output in open_response.outputs}
        for call in open_response.response.calls:
            if call["call_id"] in open_response.begun and call["call_id"] not in done:
                done[call["call_id"]] = CallOutput(
                    call["call_id"],
                    call["name"],
                    _UNKNOWN,
                    ok=False,
                    title=call["name"].replace("_", " "),
                    unknown=True,
                )
        return done

    async def _run_batches(
        self, calls: Sequence[Item], runner: Calls, done: dict[str, CallOutput]
    ) -> AsyncGenerator[CallEvent | Intent | NotBegun | OutputsReady | AwaitingDecision]:
        """Run those of `calls` that are not `done`, one batch after the other."""
        left = [call for call in calls if call["call_id"] not in done]
        for number, batch in enumerate(self._batches(left)):
            if number:
                yield OutputsReady(tuple(done.values()))
                failpoint("outputs-kept")
            async with aclosing(self._run_batch(batch, runner, done)) as events:
                async for event in events:
                    yield event
            if waiting := tuple(c["call_id"] for c in batch if c["call_id"] not in done):
                yield OutputsReady(tuple(done.values()))
                yield AwaitingDecision(waiting)
                return

    def _batches(self, calls: Sequence[Item]) -> list[list[Item]]:
        """Group read-only calls that are next to each other; a mutating call is alone."""
        batches: list[list[Item]] = []
        for mutates, group in groupby(calls, key=self._mutates):
            members = list(group)
            batches.extend([[each] for each in members] if mutates else [members])
        return batches

    def _mutates(self, call: Item) -> bool:
        found = self.toolbox.catalogue.get(call["name"])
        return found is not None and found.mutates

    async def _run_batch(
        self, batch: list[Item], calls: Calls, done: dict[str, CallOutput]
    ) -> AsyncGenerator[CallEvent | Intent | NotBegun]:
        """Run a batch. Calls that wait for a decision get no output in `done`."""
        events: CallEvents = asyncio.Queue()
        places = asyncio.Semaphore(self.limits.parallel_calls)

        async def one(call: Item) -> None:
            try:
                async with places:
                    if output := await calls.make(call, events):
                        done[call["call_id"]] = output
            finally:
                events.put_nowait(None)

        tasks = [asyncio.create_task(one(call)) for call in batch]
        try:
            left = len(tasks)
            while left:
                async with self.interrupt.within(self.deadline):
                    event = await events.get()
                if event is None:
                    left -= 1
                else:
                    yield event
                events.task_done()
        except (Interrupted, TimeoutError):
            await _cancelled(tasks)
            for event in _left_in(events):
                yield event
            raise
        finally:
            results = await _cancelled(tasks)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _final(
        self, call: Item, calls: Sequence[Item], done: Mapping[str, CallOutput]
    ) -> CallOutput:
        if call["name"] == checkpoint.NAME:
            most = self.context.context_window // _CHECKPOINT_SHARE
            return checkpoint.answered(call, alone=len(calls) == 1, most_tokens=most)
        return await self._complete(call, done)

    async def _complete(self, call: Item, done: Mapping[str, CallOutput]) -> CallOutput:
        if any(output.result is not None for output in done.values()):
            # Two results would be judged as one, and the second end a run whose first was sent back.
            text = "Not read: another result was given before it, at once. Give one."
            return CallOutput(call["call_id"], COMPLETE, text)
        failed = [output.tool for output in done.values() if not output.ok]
        if failed and not self.is_last:
            text = (
                f"Not finished yet: {', '.join(failed)}, called beside it, failed. Look at the "
                f"outputs, then call {COMPLETE} again, alone."
            )
            return CallOutput(call["call_id"], COMPLETE, text, ok=False)
        try:
            arguments, notes = self.hooks.filled_json(call["arguments"])
            result = await self.response_type.parse(arguments)
        except ValidationError as error:
            text = f"The result is not valid:\n{describe_errors(error)}\nCorrect it and call again."
            return CallOutput(call["call_id"], COMPLETE, text, ok=False)
        text = "\n".join((ACCEPTED, *notes))
        return CallOutput(call["call_id"], COMPLETE, text, result=result)

    def _why_not_run(self, run: int) -> str:
        """Return the output of the first call that is left out after `run` others; it speaks for
        the calls behind it too."""
        if self.is_last:
            return "Not run: this was the last call."
        return (
            f"Not run: at most {run} calls are run at once now. Call it again, and those after it."
        )

    def _is_known(self, call: Item) -> bool:
        """Return whether a tool of that name exists."""
        return call["name"] == ACQUIRE or self.toolbox.catalogue.get(call["name"]) is not None


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> list[BaseException | None]:
    """Cancel the tasks that still run, and return the result of each."""
    for task in tasks:
        task.cancel()
    return await asyncio.gather(*tasks, return_exceptions=True)


def _left_in(events: CallEvents) -> Iterator[CallEvent]:
    """Yield the events left in the queue. A change whose intent was not saved was not begun."""
    while not events.empty():
        event = events.get_nowait()
        if event is not None and not isinstance(event, Intent | NotBegun):
            yield event
