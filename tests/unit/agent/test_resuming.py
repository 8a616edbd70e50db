"""A run that goes on from any of its save points is the same run (A4, B4, R1)."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from bot.agent.events import RunEnded
from bot.agent.state import LoopState
from bot.core.chain import Item
from bot.dev.model import Reply, call, finish, text
from tests.unit.agent.harness import ANSWER
from tests.unit.agent.thread import Snapshot, Thread
from tests.unit.agent.turns import UNTROUBLED_PLANS, Fault, Plan, Policy, help_with

LATE = "And something else?"
ADD, CHANGE = call("add", {"a": 1, "b": 2}), call("change", {"name": "x"})
LAUNCH, TEXT = call("launch", {}), text("It is three.", disobey=True)
FAIL, CHANGED = *call("fail", {"how": "bug"}).items, *CHANGE.items


def plan(
    *replies: Reply,
    faults: tuple[Fault, ...] = (),
    limits: dict[str, Any] | None = None,
    **policy: Any,
) -> Plan:
    return Plan(replies, faults, None, limits or {}, Policy(**policy))


def helpers(*goals: str) -> Reply:
    return Reply(tuple(map(help_with, goals)), disobey=True)


@example(plan=plan(ADD, CHANGE, finish(ANSWER)), stateless=False)
@example(plan=plan(ADD, finish(ANSWER), tries=2), stateless=True)
@example(plan=plan(ADD, *[finish(ANSWER)] * 5, effort=1_000_000), stateless=False)
@example(plan=plan(TEXT, TEXT, TEXT), stateless=True)
@example(plan=plan(TEXT, ADD, finish(ANSWER), joins=(0, 1)), stateless=False)
@example(plan=plan(call("launch", {}), asks=frozenset({"launch"})), stateless=False)
@example(plan=plan(helpers("Look.", "Stumble.", "Break off."), finish(ANSWER)), stateless=False)
@example(
    plan=plan(
        *(ADD, helpers("Fall back.", "Overflow.", "Talk."), CHANGE, finish(ANSWER)),
        faults=(Fault("overloaded", 1, skip=1), Fault("cut", 1)),
        blocks=1,
        tries=1,
    ),
    stateless=False,
)
@example(
    plan=plan(
        *(helpers("Be refused.", "Look."), Reply((FAIL, CHANGED), disobey=True), TEXT, TEXT, TEXT),
        faults=(Fault("missing_parent_once", 2), Fault("context_length", 1, skip=2)),
        asks=frozenset({"change"}),
        joins=(1,),
    ),
    stateless=False,
)
@example(
    plan=plan(
        *(helpers("Stumble.", "Fall back.", "Be refused."), LAUNCH, finish(ANSWER)),
        faults=(Fault("server_error", 2, "mid_stream", 1),),
        asks=frozenset({"launch"}),
    ),
    stateless=True,
)
@example(plan=plan(*[ADD] * 5, limits={"compact_at": 0.001}), stateless=False)
@example(plan=plan(ADD, ADD, limits={"turns": 3}), stateless=False)
@given(plan=UNTROUBLED_PLANS, stateless=st.booleans())
@settings(
    max_examples=3 if settings.get_current_profile_name() != "heavy" else 500,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
def test_a_run_is_the_same_from_all_its_save_points(plan: Plan, stateless: bool) -> None:
    """A4 B4 R1 I1: the same status, reason, words, result, items and memory of hooks; as many calls to
    the model as the run makes after that point when nothing interrupts it; no message twice, and
    none lost. Also with sub-agents, whatever they and the run meet."""
    if any("dispatch_subagent" in str(each.items) for each in plan.replies):
        # What helpers had spent is spent, and they do it again: a budget may end sooner.
        # And nothing tells the calls that shorten their conversations from those of the run.
        limits = {k: v for k, v in plan.limits.items() if k not in ("tokens", "compact_at")}
        plan = replace(plan, limits=limits, policy=replace(plan.policy, effort=None))
    asyncio.run(check(plan, stateless=stateless))


async def check(plan: Plan, *, stateless: bool) -> None:
    async with Thread.open(stateless=stateless, stream=False, window=272_000) as thread:
        thread.begin(plan)
        ended = await to_its_end(thread)
        whole, left = len(thread.own_requests()), dict(thread.mailbox.waiting)
        for snapshot in list(thread.snapshots):
            if in_the_midst_of_a_change(snapshot):
                continue  # nobody knows how it went, and the model is told so: another run
            thread.go_back(snapshot)
            if LoopState.model_validate_json(snapshot.saved).ending:
                thread.mailbox.waiting[LATE] = 0
            made = len(thread.own_requests())
            again = await to_its_end(thread)
            assert told(again) == told(ended)
            assert len(thread.own_requests()) - made == whole - snapshot.requests
            assert thread.mailbox.waiting.keys() - {LATE} == left.keys()
            assert LATE not in str(thread.ledger)
            for words in (f"And no. {n}?" for n in range(len(plan.policy.joins))):
                assert added(thread, words) == (words not in left)


async def to_its_end(thread: Thread) -> RunEnded:
    """One worker after the other, each beginning when a person has decided."""
    for _ in range(30):
        if ended := (await thread.work()).ended:
            return ended
    raise AssertionError("the run goes on for ever")


def in_the_midst_of_a_change(snapshot: Snapshot) -> bool:
    open_response = LoopState.model_validate_json(snapshot.saved).open
    if open_response is None:
        return False
    return bool({*open_response.begun} - {each.call_id for each in open_response.outputs})


def added(thread: Thread, words: str) -> int:
    entries = [each for each in thread.ledger if not each.checkpoint]
    return sum(item.get("content") == words for entry in entries for item in entry.items)


def told(ended: RunEnded) -> tuple[Any, ...]:
    """All that is told of a run, without the names that the service and we make up each time."""
    names: dict[str, str] = {}
    items = [normal(item, names) for item in ended.new_items]
    done = [step.model_dump(exclude={"agent"}) for step in ended.state.done]
    result = ended.result.model_dump() if ended.result else None
    failure = ended.error.kind if ended.error else None
    state = ended.state
    kept = (state.hooks, state.acquired, state.links, state.turn, state.sent_back)
    unknown = [step.model_dump(exclude={"agent"}) for step in state.unknown]
    return (
        *(ended.status, ended.stop_reason, result, failure, done, unknown, ended.done, items),
        kept,
    )


def normal(item: Item, names: dict[str, str]) -> Item:
    kept = {k: v for k, v in item.items() if k not in ("id", "encrypted_content")}
    if call_id := kept.get("call_id"):
        kept["call_id"] = names.setdefault(call_id, f"call {len(names)}")
    if "output" in kept:
        kept["output"] = re.sub(r"data [0-9a-f]{8}]|(?<=art_)\w+", "…", str(kept["output"]))
    return kept
