"""What becomes of a run when things go wrong: `python -m tests.behaviour` prints the table.

Each row is a run of the real loop, with the SDK's own retries, against the strict stand-in.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from bot.agent.events import Event, RunEnded, ToolStarted, TurnStarted
from bot.agent.hooks.chain import Hooks, Prevent, Verdict
from bot.agent.state import LoopState
from bot.core.chain import Item, Usage
from bot.core.outcome import StopReason
from bot.dev.model import Reply, Script, call, calls, empty, finish, incomplete, refusal, text
from bot.features.effort.feature import Effort
from bot.model.client import ResponsesModel, sdk_client
from bot.runs.outcomes import explain
from tests.unit.agent.harness import ANSWER, MODELS, Bench, bench

_BAD_FINAL = finish(ANSWER | {"confidence": "total"})
_ADD = call("add", {"a": 1, "b": 1})


_FULL = LoopState(compacted=True, last_usage=Usage(input_tokens=272_000))


class _Ending(Hooks):
    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        return Prevent()


class _Broken(Hooks):
    async def on_turn_start(self, state: LoopState) -> tuple[Item, ...]:
        raise RuntimeError("a bug")


@dataclass(frozen=True, slots=True)
class Case:
    """What goes wrong: the model's replies, faults of its service (kind and times, after `skip`
    requests that went well), bounds, the models that may be asked in turn, hooks, and the first
    event at which somebody stops the run, with the reason if that is no person."""

    name: str
    replies: tuple[Reply, ...]
    fault: tuple[str | int, int] | None = None
    skip: int = 0
    limits: dict[str, Any] = field(default_factory=dict)
    models: int = 1
    begin: LoopState = field(default_factory=LoopState)
    hooks: tuple[Hooks, ...] = ()
    stop: tuple[type[Event], StopReason | None] | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """What came out: how the run ended, what it took, and what the person reads."""

    name: str
    status: str
    reason: str
    requests: int
    told: str


CASES = (
    Case("malformed arguments", (call("add", "{not json", disobey=True), finish(ANSWER))),
    Case("unknown tool", (call("ad", {}, disobey=True), finish(ANSWER))),
    Case("a tool that breaks", (call("fail", {"how": "bug"}), finish(ANSWER))),
    Case("a tool that hangs", (call("slow", {}), finish(ANSWER))),
    Case("an output that is too large", (call("big", {"lines": 9_000}), finish(ANSWER))),
    Case(
        "300 calls at once",
        (calls(*(("add", {"a": 1, "b": n}) for n in range(300))), finish(ANSWER)),
    ),
    Case("every call fails", (*(call("fail", {"how": "tool"}),) * 4, finish(ANSWER))),
    Case("bad final once", (_BAD_FINAL, finish(ANSWER))),
    Case("bad final three times", (*(_BAD_FINAL,) * 3, finish(ANSWER))),
    Case("bad final four times", (_BAD_FINAL,) * 4),
    Case("nothing at all, once", (empty(), finish(ANSWER))),
    Case("nothing at all, always", (empty(),) * 4),
    Case("text after a call", (_ADD, text("Two."))),
    Case("an announcement, once", (_ADD, text("Let me see."), finish(ANSWER))),
    Case(
        "an announcement, always",
        (_ADD, *(text("Let me see."),) * 2, text("Let me see.", disobey=True)),
    ),
    Case("final beside a call", (calls(("complete_task", ANSWER), ("add", {"a": 1, "b": 1})),)),
    Case(
        "final beside a call that fails",
        (calls(("complete_task", ANSWER), ("fail", {"how": "tool"})), finish(ANSWER)),
    ),
    Case("cut off once", (incomplete("max_output_tokens", "Tw"), finish(ANSWER))),
    Case("cut off always", (incomplete("max_output_tokens", "Tw"),) * 4),
    Case("500 once", (finish(ANSWER),), (500, 1)),
    Case("500 always", (), (500, 9)),
    Case("429 once", (finish(ANSWER),), (429, 1)),
    Case("429 always", (), (429, 9)),
    Case("quota used up", (), ("quota", 9)),
    Case("request larger than the rate", (), ("request_too_large", 9)),
    Case("connection dropped once", (finish(ANSWER),), ("cut", 1)),
    Case("connection dropped always", (), ("cut", 9)),
    Case("stream truncated once", (finish(ANSWER),), ("clean_eof", 1)),
    Case("stream truncated always", (), ("clean_eof", 9)),
    Case("broken events once", (finish(ANSWER),), ("bad_json", 1)),
    Case("broken events always", (), ("bad_json", 9)),
    Case(
        "context overflow once",
        (_ADD, text("They added."), finish(ANSWER)),
        ("context_length", 1),
        skip=1,
    ),
    Case("context overflow at once", (), ("context_length", 1)),
    Case("never finishes", (*(_ADD,) * 3, replace(_ADD, disobey=True)), limits={"turns": 4}),
    Case("repeats itself", (*(_ADD,) * 5, finish(ANSWER)), limits={"turns": 6}),
    Case("over budget", (_ADD, finish(ANSWER)), limits={"tokens": 100}),
    Case("over budget, and the last call fails", (_ADD,), ("cut", 9), 1, {"tokens": 100}),
    Case("finishes on the last turn", (*(_ADD,) * 3, finish(ANSWER)), limits={"turns": 4}),
    Case("slow trickle", (finish(ANSWER),), ("trickle", 1), limits={"turn_seconds": 4}),
    Case("model hangs", (), ("hang", 9), limits={"turn_seconds": 4}),
    Case("refusal", (refusal("I can't."),)),
    Case("content filter", (), ("content_filter", 1)),
    Case("content filter in mid-answer", (incomplete("content_filter", "Tw"),)),
    Case("prompt refused", (), ("invalid_prompt", 1)),
    Case("missing parent", (finish(ANSWER),), begin=LoopState(parent="resp_gone")),
    Case(
        "missing parent, found a moment later",
        (_ADD, finish(ANSWER)),
        ("missing_parent_once", 1),
    ),
    Case("overloaded, with a fallback", (finish(ANSWER),), (503, 3), models=2),
    Case("model not there", (), ("model_not_found", 9)),
    Case("model not there, with a fallback", (finish(ANSWER),), ("model_not_found", 1), models=2),
    Case("over the money", (_ADD, finish(ANSWER)), limits={"cost": 1e-9}),
    Case("out of time", (finish(ANSWER),), ("hang", 1), limits={"run_seconds": 3}),
    Case("thread full after it was shortened", (finish(ANSWER),), begin=_FULL),
    Case("digs deeper until nothing new comes", (finish(ANSWER),) * 5, hooks=(Effort(10**6),)),
    Case("a check ends the run", (finish(ANSWER),), hooks=(_Ending(),)),
    Case("stopped while the model writes", (_ADD,), stop=(TurnStarted, None)),
    Case("stopped while tools run", (_ADD,), stop=(ToolStarted, None)),
    Case("paused by an admin", (_ADD,), stop=(ToolStarted, StopReason.PAUSED)),
    Case("a bug of ours", (), hooks=(_Broken(),)),
)


async def outcome(case: Case) -> Row:
    """Run one case."""
    async with bench(Script(case.replies), hooks=case.hooks, **case.limits) as place:
        async with sdk_client(place.api.api_key, place.api.url) as client:
            model = ResponsesModel(client)
            place.parts = replace(place.parts, model=model, models=MODELS[: case.models])
            if case.fault:
                place.api.faults.fail(*case.fault, skip=case.skip)
            try:
                ended = await _ended(place, case)
            except RuntimeError:  # the runner ends such a run, with these words
                told = explain(StopReason.INTERNAL_ERROR, None, (), result=False)
                return Row(case.name, "failed", StopReason.INTERNAL_ERROR.value, 0, told)
        return _row(case, ended, len(place.api.requests))


async def _ended(place: Bench, case: Case) -> RunEnded:
    async for event in place.stream("1+1?", case.begin):
        if case.stop and isinstance(event, case.stop[0]):
            place.parts.interrupt.request(case.stop[1])
    last = place.events[-1]
    assert isinstance(last, RunEnded)
    return last


async def outcomes() -> list[Row]:
    """Run all cases, side by side: the SDK waits between its retries."""
    return await asyncio.gather(*map(outcome, CASES))


def _row(case: Case, ended: RunEnded, requests: int) -> Row:
    told = explain(ended.stop_reason, ended.error, ended.done, result=ended.result is not None)
    return Row(case.name, ended.status.value, ended.stop_reason.value, requests, told)


def table(rows: Iterable[Row]) -> str:
    """The rows as a Markdown table."""
    head = "| what happens | status | stop reason | requests | what the person reads |"
    lines = [
        f"| {row.name} | {row.status} | {row.reason} | {row.requests} | {row.told or 'the answer'} |"
        for row in rows
    ]
    return "\n".join([head, "|---|---|---|---:|---|", *lines])


async def main() -> None:
    """Print the table."""
    sys.stdout.write(table(await outcomes()) + "\n")


if __name__ == "__main__":
    asyncio.run(main())
