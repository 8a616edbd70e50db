"""Runs the calls of one response: validated, bounded, in the right order (D3–D5, D7).

Every call gets exactly one output, whatever happens to it (B2).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import groupby

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from bot.agent import checkpoint
from bot.agent.acquire import acquired
from bot.agent.complete import NAME as COMPLETE
from bot.agent.complete import ResponseType, describe_errors
from bot.agent.events import ToolEnded, ToolsAcquired, ToolStarted
from bot.agent.hooks import HookChain
from bot.agent.interrupt import Interrupt, Interrupted
from bot.agent.limits import Limits
from bot.agent.outputs import CallOutput
from bot.agent.state import OpenResponse
from bot.core.chain import Item
from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.failpoints import failpoint
from bot.toolkit.artifacts import Artifacts
from bot.toolkit.catalogue import ACQUIRE, Catalogue
from bot.toolkit.schema import without_nulls
from bot.toolkit.size import limited
from bot.toolkit.tool import Services, Tool, ToolResult

Happening = ToolStarted | ToolEnded | ToolsAcquired

log = logging.getLogger(__name__)

_CANCELLED = "Cancelled by the user before it finished."
_MAYBE = "It may have happened or not. Look before you do it again, and say so in the result."
_UNKNOWN = f"Unknown: the bot was interrupted while this ran. {_MAYBE}"
_OUT_OF_TIME = "Stopped before it finished: the time for this task is up."


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The catalogue and what its tools need to run."""

    catalogue: Catalogue
    services: Services
    artifacts: Artifacts


@dataclass(frozen=True, slots=True)
class Intent:
    """A call that changes something is about to run; to be kept before it does."""

    call_id: str


@dataclass(frozen=True, slots=True)
class Answered:
    """Some calls have their outputs; others are still to run."""

    outputs: tuple[CallOutput, ...]


class _Refused(Exception):
    """The model's mistake, told to the model."""


@dataclass(frozen=True, slots=True)
class Dispatch:
    """Runs the calls of one response. `context` is bound for each call; `deadline` is that of
    the run, on the event loop's clock in seconds."""

    toolbox: Toolbox
    limits: Limits
    interrupt: Interrupt
    response_type: ResponseType
    hooks: HookChain
    context: RequestContext
    deadline: float

    async def run(
        self, open_response: OpenResponse, offered: frozenset[str]
    ) -> AsyncGenerator[Happening | Intent | Answered | list[CallOutput]]:
        """Run the calls of `open_response` that have no output yet, yielding what happens, and last the
        outputs in the order of the calls. `offered` are the names of the tools that the request
        carried.

        The consumer keeps `Intent` and `Answered` before it goes on: what was begun and changes
        something is never begun again (reliability 3).

        Read-only calls next to each other run side by side; one that mutates runs alone;
        `complete_task` comes last and counts only if all beside it went well; a checkpoint counts
        alone. An interrupt ends it early, with outputs for all.
        """
        calls, done = open_response.response.calls, self._done_before(open_response)
        last = {COMPLETE, checkpoint.NAME} & offered
        finals = [call for call in calls if call["name"] in last]
        others = [call for call in calls if call["name"] not in last]
        left = [c for c in others[: self.limits.calls_per_turn] if c["call_id"] not in done]
        try:
            for number, batch in enumerate(self._batches(left)):
                if number:
                    yield Answered(tuple(done.values()))
                    failpoint("outputs-kept")
                if self._mutates(batch[0]):
                    yield Intent(batch[0]["call_id"])
                    failpoint("change-intended")
                async with aclosing(self._run_batch(batch, offered, done)) as events:
                    async for event in events:
                        yield event
        except (Interrupted, TimeoutError) as stop:
            cancelled = isinstance(stop, Interrupted)
            yield [done.get(call["call_id"]) or _unfinished(call, cancelled) for call in calls]
            return
        for call in others[self.limits.calls_per_turn :]:
            done[call["call_id"]] = self._too_many(call)
        for call in finals:
            if call["name"] == checkpoint.NAME:
                done[call["call_id"]] = checkpoint.answered(call, alone=len(calls) == 1)
            else:
                done[call["call_id"]] = self._complete(call, done)
        yield [done[call["call_id"]] for call in calls]

    def _done_before(self, open_response: OpenResponse) -> dict[str, CallOutput]:
        """What an interrupted run left: outputs, and calls whose outcome nobody knows."""
        done = {output.call_id: output for output in open_response.outputs}
        for call in open_response.response.calls:
            if call["call_id"] in open_response.begun and call["call_id"] not in done:
                done[call["call_id"]] = CallOutput(
                    call["call_id"], call["name"], _UNKNOWN, ok=False
                )
        return done

    def _batches(self, calls: Sequence[Item]) -> list[list[Item]]:
        """Runs of read-only calls together, each mutating call by itself."""
        batches: list[list[Item]] = []
        for mutates, group in groupby(calls, key=self._mutates):
            members = list(group)
            batches.extend([[each] for each in members] if mutates else [members])
        return batches

    def _mutates(self, call: Item) -> bool:
        found = self.toolbox.catalogue.get(call["name"])
        return found is not None and found.mutates

    async def _run_batch(
        self, batch: list[Item], offered: frozenset[str], done: dict[str, CallOutput]
    ) -> AsyncGenerator[Happening]:
        events: asyncio.Queue[Happening | None] = asyncio.Queue()
        places = asyncio.Semaphore(self.limits.parallel_calls)

        async def one(call: Item) -> None:
            try:
                async with places:
                    done[call["call_id"]] = await self._run_call(call, offered, events)
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
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def _run_call(
        self,
        call: Item,
        offered: frozenset[str],
        events: asyncio.Queue[Happening | None],
    ) -> CallOutput:
        """One call, from its arguments to its output."""
        if call["name"] == ACQUIRE:
            output = await acquired(
                call, self.toolbox.catalogue, self.toolbox.services, self.context
            )
            if output.acquired:
                events.put_nowait(ToolsAcquired(output.acquired))
            return output
        try:
            tool, arguments = self._checked(call, offered)
        except _Refused as refused:
            return CallOutput(call["call_id"], call["name"], str(refused), ok=False)
        title = tool.title(arguments)
        events.put_nowait(ToolStarted(call["call_id"], tool.name, title))
        began = time.monotonic()
        key = f"{self.context.idempotency_key}:{call['call_id']}"
        with bound_request(replace(self.context, idempotency_key=key)):
            output = await self._run_tool(call, tool, arguments)
        seconds = time.monotonic() - began
        detail = output.text.split("\n", 1)[0][:200]
        events.put_nowait(ToolEnded(call["call_id"], tool.name, output.ok, detail, seconds, title))
        return output

    async def _run_tool(self, call: Item, tool: Tool, arguments: BaseModel) -> CallOutput:
        try:
            result = await self._attempted(tool, arguments)
        except ToolError as error:
            return CallOutput(call["call_id"], tool.name, str(error), ok=False)
        except TimeoutError:
            advice = _MAYBE if tool.mutates else "Ask it for less, or go on without."
            text = f"{tool.name} was stopped after {tool.timeout:g} s. {advice}"
            return CallOutput(call["call_id"], tool.name, text, ok=False)
        except Exception as error:
            # Ours to mend, so it is logged with its trace; the model only learns that it failed.
            log.exception("tool failed", extra={"tool": tool.name, "call_id": call["call_id"]})
            text = f"{tool.name} failed ({type(error).__name__}). Trying again may not help."
            return CallOutput(call["call_id"], tool.name, text, ok=False)
        links = tuple(source.url for source in result.sources if source.url)
        return CallOutput(call["call_id"], tool.name, result.content, links=links)

    async def _attempted(self, tool: Tool, arguments: BaseModel) -> ToolResult:
        """Run the tool, if it may run. Raises ToolError, TimeoutError, and what the tool raises."""
        if tool.mutates and self.context.dry_run:
            return ToolResult(f"Dry run: not done. It would have been: {tool.title(arguments)}")
        if tool.sensitive:
            raise ToolError(
                f"Not done: {tool.name} needs a person's approval, which cannot be given here."
            )
        if veto := await self.hooks.before_tool(tool, arguments):
            raise ToolError(veto)
        failpoint("tool-running")
        result = await tool.run(arguments, self.toolbox.services)
        failpoint("tool-ran")
        result = await self.hooks.after_tool(tool, arguments, result)
        return await limited(result, tool, self.context.max_response_size, self.toolbox.artifacts)

    def _checked(self, call: Item, offered: frozenset[str]) -> tuple[Tool, BaseModel]:
        name = call["name"]
        tool = self.toolbox.catalogue.get(name)
        if tool is None:
            near = ", ".join(self.toolbox.catalogue.near(name)) or "none is similar"
            raise _Refused(f"There is no tool {name}. Similar names: {near}.")
        if name not in offered:
            raise _Refused(f"{name} was not acquired. Call {ACQUIRE} with its name first.")
        try:
            given = tool.arguments.model_validate(_arguments(call, tool.arguments))
        except ValidationError as error:
            raise _Refused(
                f"The arguments of {name} are not valid:\n{describe_errors(error)}\n"
                "Correct them and call it again."
            ) from None
        return tool, given

    def _complete(self, call: Item, done: Mapping[str, CallOutput]) -> CallOutput:
        failed = [output.tool for output in done.values() if not output.ok]
        if failed:
            text = (
                f"Not finished yet: {', '.join(failed)}, called beside it, failed. Look at the "
                f"outputs, then call {COMPLETE} again, alone."
            )
            return CallOutput(call["call_id"], COMPLETE, text, ok=False)
        try:
            result = self.response_type.parse(call["arguments"])
        except ValidationError as error:
            text = f"The result is not valid:\n{describe_errors(error)}\nCorrect it and call again."
            return CallOutput(call["call_id"], COMPLETE, text, ok=False)
        return CallOutput(call["call_id"], COMPLETE, "Accepted.", result=result)

    def _too_many(self, call: Item) -> CallOutput:
        text = (
            f"Not run: at most {self.limits.calls_per_turn} calls are run at once. Call it again."
        )
        return CallOutput(call["call_id"], call["name"], text, ok=False)


def _unfinished(call: Item, cancelled: bool) -> CallOutput:
    why = _CANCELLED if cancelled else _OUT_OF_TIME
    return CallOutput(call["call_id"], call["name"], why, ok=False, cancelled=cancelled)


def _arguments(call: Item, model: type[BaseModel]) -> object:
    try:
        return without_nulls(model, from_json(call["arguments"]))
    except ValueError:
        raise _Refused(
            f"The arguments of {call['name']} are not JSON. "
            "Send one JSON object that fits its schema."
        ) from None
