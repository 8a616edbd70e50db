"""Sub-questions that loops of their own look into (I1)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from bot.agent.builtin.subagents import Report, dispatch_subagent, with_subagents
from bot.agent.events import FromSubagent, RunEnded, RunStarted, SavePoint, ToolEnded, ToolStarted
from bot.agent.hooks.chain import Block, Hooks, Verdict
from bot.agent.state import LoopState
from bot.core.budgets import billed_tokens
from bot.core.chain import Item, Usage
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import ModelRequest, Reply, ScriptBook, call, calls, finish, refusal
from bot.dev.model.script import Respond
from tests.unit.agent.harness import ANSWER, MODELS, Bench, bench

QUESTION = "What is on all lists?"
ACQUIRE = call("acquire_tools", {"names": ["dispatch_subagent"]})
REPORT = {
    "summary": "It is long.",
    "findings": [{"statement": "It has 2 lines.", "source": "https://big.example/x"}],
    "gaps": [],
}


def helper(goal: str, *tools: str) -> tuple[str, dict[str, Any]]:
    """A call that dispatches one."""
    return ("dispatch_subagent", {"goal": goal, "tools": list(tools)})


def book(parent: Iterable[Reply | Respond], **children: Iterable[Reply | Respond]) -> ScriptBook:
    """What the parent says after it acquired the tool, and what each child says, by its goal."""
    return ScriptBook({QUESTION: [ACQUIRE, *parent], **children})


@asynccontextmanager
async def family(brain: Callable[..., Any], **settings: Any) -> AsyncGenerator[Bench]:
    """A bench whose runs may dispatch sub-agents."""
    async with bench(brain, **settings) as place:
        toolbox = place.parts.toolbox
        catalogue = toolbox.catalogue.with_own(dispatch_subagent.tool)
        parts = replace(place.parts, toolbox=replace(toolbox, catalogue=catalogue))
        place.parts = with_subagents(parts)
        yield place


def of_child(place: Bench, goal: str) -> list[dict[str, Any]]:
    """The requests of one sub-agent, by its goal."""
    bodies = [each.body for each in place.api.requests]
    return [body for body in bodies if goal in str(body["input"][0].get("content"))]


def billed(place: Bench) -> Usage:
    """What the service counted in all."""
    total = Usage()
    for each in place.api.responses.values():
        used = each.response["usage"]
        total += Usage(
            input_tokens=used["input_tokens"],
            cached_tokens=used["input_tokens_details"]["cached_tokens"],
            output_tokens=used["output_tokens"],
        )
    return total


async def test_it_works_on_a_chain_of_its_own_and_reports() -> None:
    """I1: nothing of the parent's conversation, the parent's tools as far as they only read, and a
    report whose links count as the parent's, marked as data: it rests on what others wrote."""
    children = {"list seven": [call("big", {"lines": 2}), finish(REPORT)]}
    brain = book([calls(helper("Read list seven", "extra")), finish(ANSWER)], **children)
    async with family(brain) as place:
        ended = await place.run(QUESTION)
    brain.assert_done()
    [first] = of_child(place, "list seven")
    tools = [each["name"] for each in first["tools"]]
    assert "previous_response_id" not in first
    assert QUESTION not in str(first["input"])
    assert {"big", "extra", "complete_task"} <= set(tools)
    assert not {"change", "launch", "dispatch_subagent"} & set(tools)
    [report] = place.outputs().values()
    counted, begins, given, ends = report.split("\n")
    assert counted == "Report: 1 findings, 0 gaps"
    assert re.fullmatch(r"\[data (\w{8})\]\[end of data \1\]", begins + ends)  # (LLM01)
    assert Report.model_validate_json(given) == Report.model_validate(REPORT)
    assert ended.state.links == ("https://big.example/x",)
    assert ended.status is RunStatus.SUCCESS


async def test_it_calls_what_its_list_names_and_no_more() -> None:
    """I1 D1 K6: a listed tool runs for it, too; what it may not have is not there."""
    tried = calls(("extra", {"what": "x"}), ("change", {"name": "x"}))
    children = {"list seven": [tried, finish(REPORT)]}
    async with family(book([calls(helper("list seven")), finish(ANSWER)], **children)) as place:
        await place.run(QUESTION)
    _, last = [each.body for each in place.api.requests if "You are a helper of" in str(each.body)]
    outputs = [item["output"] for item in last["input"] if "output" in item]
    assert outputs[0].endswith("extra x")
    assert outputs[1].startswith("There is no tool change.")


async def test_what_it_takes_counts_as_its_parents() -> None:
    """I1 G6: tokens, money and calls, and they are kept while it works, not at its end."""
    children = {
        "list seven": [call("big", {"lines": 2}), call("big", {"lines": 3}), finish(REPORT)]
    }
    async with family(book([calls(helper("list seven")), finish(ANSWER)], **children)) as place:
        ended = await place.run(QUESTION)
        total = billed(place)
    took = ended.state.usage
    assert (took.input_tokens, took.cached_tokens) == (total.input_tokens, total.cached_tokens)
    assert took.output_tokens == total.output_tokens
    assert ended.state.cost == pytest.approx(total.input_tokens / 1_000_000)
    assert ended.state.tool_calls == 4
    kept = [billed_tokens(each.state.usage) for each in place.of(SavePoint)]
    assert len(kept) >= 3
    assert kept == sorted(kept)


async def test_several_work_side_by_side() -> None:
    """I1 D5: they only read. Each report answers its own call."""
    named = {f"list {n}": {**REPORT, "summary": f"Of {n}."} for n in "abc"}
    children = {
        goal: [call("wait", {"name": goal}), finish(report)] for goal, report in named.items()
    }
    brain = book([calls(*map(helper, named)), finish(ANSWER)], **children)
    async with family(brain) as place:
        running = asyncio.create_task(place.run(QUESTION))
        while place.gate.most < len(named):
            await place.gate.entered.wait()
            place.gate.entered.clear()
        place.gate.open.set()
        await running
    outputs = list(place.outputs().values())
    assert [f"Of {n}." in output for n, output in zip("abc", outputs, strict=True)] == [True] * 3


async def test_what_happens_in_it_is_stamped_with_its_call() -> None:
    """I1 I4: from its start to its end, between those of the call."""
    children = {"list seven": [call("big", {"lines": 2}), finish(REPORT)]}
    async with family(book([calls(helper("list seven")), finish(ANSWER)], **children)) as place:
        await place.run(QUESTION)
    [began] = [e for e in place.of(ToolStarted) if e.tool == "dispatch_subagent"]
    inner = [event.event for event in place.of(FromSubagent)]
    assert {event.agent for event in place.of(FromSubagent)} == {began.call_id}
    assert isinstance(inner[0], RunStarted)
    assert [each.title for each in inner if isinstance(each, ToolStarted)] == ["Big"]
    assert isinstance(inner[-1], RunEnded)
    order = [type(e) for e in place.events if isinstance(e, ToolStarted | FromSubagent | ToolEnded)]
    assert order[0] is ToolStarted
    assert order[-1] is ToolEnded
    assert began.title == "Look into: list seven"


@pytest.mark.parametrize(
    ("tool", "said"),
    [
        ("change", "change cannot be given to a helper"),
        ("launch", "launch cannot be given to a helper"),
        ("dispatch_subagent", "cannot be given"),
        ("exta", "There is no tool exta. Similar names: extra"),
    ],
)
async def test_what_changes_something_cannot_be_given(tool: str, said: str) -> None:
    """I1 D3: nor what would dispatch more of them; no request is made."""
    brain = book([calls(helper("list seven", tool)), finish(ANSWER)])
    async with family(brain) as place:
        await place.run(QUESTION)
    assert len(place.api.requests) == 3
    assert said in str(place.outputs())


async def test_a_change_that_it_makes_up_is_not_made() -> None:
    """I1: the tool does not exist for it, whatever it calls."""
    made_up = replace(call("change", {"name": "x"}), disobey=True)
    children = {"list seven": [made_up, finish(REPORT)]}
    async with family(book([calls(helper("list seven")), finish(ANSWER)], **children)) as place:
        await place.run(QUESTION)
    assert "change x" not in place.gate.log
    assert "There is no tool change" in str([r.body["input"] for r in place.api.requests])


async def test_a_report_that_is_not_whole_says_so_first() -> None:
    """C7: it ran out of turns; the parent reads that before anything else."""
    children = {"list seven": [call("big", {"lines": 2}), finish(REPORT)]}
    brain = book([calls(helper("list seven")), finish(ANSWER)], **children)
    async with family(brain, subagent_turns=2) as place:
        await place.run(QUESTION)
    [report] = place.outputs().values()
    assert report.startswith("PARTIAL: the helper was cut short (max_turns).")
    assert "It has 2 lines." in report


async def test_one_that_fails_is_no_end_of_its_parent() -> None:
    """I1 C7: the others go on, and what it had done is said."""
    children = {
        "list a": [call("big", {"lines": 2}), refusal("I can't.")],
        "list b": [finish(REPORT)],
    }
    brain = book([calls(helper("list a"), helper("list b")), finish(ANSWER)], **children)
    async with family(brain) as place:
        ended = await place.run(QUESTION)
    failed, report = place.outputs().values()
    assert "The helper ended without a report (refused). It had done: Big." in failed
    assert report.startswith("Report")
    assert ended.status is RunStatus.SUCCESS


async def test_their_steps_are_named_when_the_run_gets_no_answer() -> None:
    """C6: whatever ends it, as where it was given up: what its helpers had done is not lost."""
    children = {"list a": [call("big", {"lines": 2}), refusal("I can't.")]}
    brain = book([calls(helper("list a")), refusal("Nor can I.")], **children)
    async with family(brain) as place:
        ended = await place.run(QUESTION)
    assert ended.stop_reason is StopReason.REFUSED
    assert "Big" in str(ended.done)


def endless(request: ModelRequest) -> Reply:
    """A parent that dispatches four; children that never stop by themselves."""
    if QUESTION in request.text:
        if request.forced or "PARTIAL" in request.text or "Not begun" in request.text:
            return finish(ANSWER)
        offers = "dispatch_subagent" in [each["name"] for each in request.tools]
        return calls(*map(helper, ("a", "b", "c", "d"))) if offers else ACQUIRE
    return finish(REPORT) if request.forced else call("big", {"lines": 100})


@pytest.mark.parametrize("limit", [{"tokens": 40_000}, {"cost": 0.09}])
async def test_together_they_spend_no_more_than_is_left(limit: dict[str, float]) -> None:
    """I1 G6: four of them side by side; the parent still has enough for its answer. What the next
    call takes can only be guessed, so the budget is kept to within a small call."""
    async with family(endless, **limit, turns=40) as place:
        ended = await place.run(QUESTION)
        total = billed(place)
    spent = {"tokens": billed_tokens(total), "cost": total.input_tokens / 1_000_000}
    [(name, most)] = limit.items()
    assert most / 2 < spent[name] <= most * 1.1
    assert ended.result is not None  # of its own accord, or of the closing call
    reason = "token_budget" if name == "tokens" else "cost_budget"
    assert [
        output.startswith(f"PARTIAL: the helper was cut short ({reason})")
        for output in place.outputs().values()
    ] == [True] * 4


async def test_with_too_little_left_none_is_begun() -> None:
    """I1 G6: it is said, and the parent goes on by itself."""
    async with family(endless, tokens=6_000) as place:
        ended = await place.run(QUESTION)
    assert len(place.api.requests) == 3
    said = "Not begun: too little is left of the budget. Go on without it."
    assert [said in each for each in place.outputs().values()] == [True] * 4
    assert ended.status is RunStatus.SUCCESS


async def test_it_ends_before_its_parents_time_does() -> None:
    """I1 G1: so that what it has found gets there."""
    children = {
        "list seven": [call("wait", {"name": "x"}), finish(REPORT)],
    }
    brain = book([calls(helper("list seven")), finish(ANSWER)], **children)
    async with family(brain, run_seconds=3) as place:
        ended = await place.run(QUESTION)
    [report] = place.outputs().values()
    assert report.startswith("PARTIAL: the helper was cut short (run_timeout).")
    assert ended.status is RunStatus.SUCCESS


async def test_stop_reaches_it() -> None:
    """H1 I1: no call is made after it, the chain stays valid, and what was spent is counted."""
    children = {"list seven": [call("wait", {"name": "x"})]}
    async with family(book([calls(helper("list seven"))], **children)) as place:
        running = asyncio.create_task(place.run(QUESTION))
        await place.gate.entered.wait()
        place.parts.interrupt.request()
        ended = await running
        total = billed(place)
    assert ended.stop_reason is StopReason.CANCELLED_TOOLS
    assert place.gate.log == ["begin x", "end x"]
    assert ended.state.usage.input_tokens == total.input_tokens
    [output] = ended.state.pending
    assert output["output"] == "Cancelled by the user before it finished."


async def test_after_a_crash_it_is_done_again() -> None:
    """I3 I1: it only reads; what the first one took stays counted."""
    children = {"list seven": [call("wait", {"name": "x"}), finish(REPORT), finish(REPORT)]}
    async with family(book([calls(helper("list seven")), finish(ANSWER)], **children)) as place:
        async with aclosing(place.stream(QUESTION)) as events:
            async for event in events:
                if isinstance(event, SavePoint):
                    break
        ended = await place.resume()
        total = billed(place)
    assert len(of_child(place, "list seven")) == 2
    assert ended.status is RunStatus.SUCCESS
    assert ended.state.usage.input_tokens == total.input_tokens


class Judge(Hooks):
    """Wants the result of the run otherwise, and stops everything at a certain point."""

    def __init__(self) -> None:
        self.judged: list[str] = []
        self.turns = 0

    async def on_stop(self, state: LoopState, result: Any) -> Verdict:
        self.judged.append(type(result).__name__)
        return Block("Again.") if len(self.judged) == 1 else await super().on_stop(state, result)

    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        self.turns += 1
        return ()


async def test_hooks_of_the_run_bound_it_but_do_not_judge_it() -> None:
    """§8 I1: a pause of the bot and budgets of people count for it; its report is no result."""
    children = {"list seven": [finish(REPORT)]}
    brain = book([calls(helper("list seven")), finish(ANSWER), finish(ANSWER)], **children)
    judge = Judge()
    async with family(brain, hooks=(judge,)) as place:
        await place.run(QUESTION)
    assert judge.judged == ["Answer", "Answer"]
    assert judge.turns == 5


async def test_it_goes_on_with_the_model_that_its_parent_fell_back_to() -> None:
    """H3 I1: an overloaded one is not tried again by each of them."""
    children = {"list seven": [finish(REPORT)]}
    async with family(book([calls(helper("list seven")), finish(ANSWER)], **children)) as place:
        place.api.faults.fail(503)
        await place.run(QUESTION)
    assert [body["model"] for body in of_child(place, "list seven")] == [MODELS[1]]


async def test_where_nothing_is_kept_it_works_too() -> None:
    """B1 I1: its conversation goes whole, and never its parent's."""
    children = {"list seven": [call("big", {"lines": 2}), finish(REPORT)]}
    brain = book([calls(helper("list seven")), finish(ANSWER)], **children)
    async with family(brain, stateless=True) as place:
        ended = await place.run(QUESTION)
    assert [len(body["input"]) for body in of_child(place, "list seven")] == [1, 3]
    assert ended.status is RunStatus.SUCCESS


async def test_it_knows_of_the_tools_that_it_begins_with() -> None:
    """I1 D2: what there is to know of a tool comes with it, as it does when a tool is acquired; and
    a name that is given twice is one tool, as services refuse two of one name."""
    brain = book(
        [calls(helper("Read list seven", "extra", "extra")), finish(ANSWER)],
        **{"list seven": [finish(REPORT)]},
    )
    async with family(brain) as place:
        ended = await place.run(QUESTION)
    [first] = of_child(place, "list seven")
    assert [each["name"] for each in first["tools"]].count("extra") == 1
    assert str(first["input"]).count("use it for extras") == 1
    assert ended.status is RunStatus.SUCCESS
