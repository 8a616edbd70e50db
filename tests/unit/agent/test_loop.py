"""The loop from a question to its one end. Each test names the requirement it holds up."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from bot.agent.events import (
    Recorded,
    ResultDelta,
    RunEnded,
    TextDelta,
    ToolEnded,
    ToolStarted,
    TurnStarted,
)
from bot.agent.state import LoopState
from bot.core.outcome import Rehearsal, RunStatus, StopReason
from bot.dev.model import Script, call, calls, finish, text
from tests.unit.agent.harness import ANSWER, bench


@pytest.mark.parametrize("stream", [True, False])
async def test_a_question_is_worked_on_and_answered(stream: bool) -> None:
    """A2 A3 A5 C1: a tool runs, its output goes back on the chain, the answer is a model."""
    script = Script([call("add", {"a": 1, "b": None}), finish(ANSWER)])
    async with bench(script, stream=stream) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert ended.stop_reason is StopReason.COMPLETED
    assert ended.result is not None
    assert ended.result.model_dump() == ANSWER
    first, second = place.api.requests
    assert "previous_response_id" not in first.body
    assert second.body["previous_response_id"] == first.response_id
    assert list(place.outputs().values()) == ["2"]
    assert isinstance(place.events[-1], RunEnded)
    script.assert_done()


async def test_each_request_carries_instructions_tools_and_only_what_is_new() -> None:
    """B1: chained, so the question is sent once; instructions and tools every time."""
    async with bench(Script([call("add", {"a": 1, "b": 2}), finish(ANSWER)])) as place:
        await place.run("How much?")
    first, second = (each.body for each in place.api.requests)
    assert first["instructions"] == second["instructions"]
    assert first["tools"] == second["tools"]
    assert [item.get("content") for item in first["input"]] == ["How much?"]
    assert [item["type"] for item in second["input"]] == ["function_call_output"]


async def test_a_follow_up_goes_on_with_the_chain() -> None:
    """B2 B7: complete_task itself is answered in the next request, which the API demands."""
    script = Script([finish(ANSWER), finish(ANSWER)])
    async with bench(script) as place:
        ended = await place.run()
        again = await place.run(
            "And now?", LoopState(parent=ended.state.parent, pending=ended.state.pending)
        )
    assert again.status is RunStatus.SUCCESS
    assert place.api.requests[1].body["previous_response_id"] == place.api.requests[0].response_id
    assert list(place.outputs().values()) == ["Accepted."]


async def test_a_response_is_recorded_before_its_tools_run() -> None:
    """B3 B4: the consumer sees the response first, then tools, then their outputs."""
    async with bench(Script([call("add", {"a": 1, "b": 2}), finish(ANSWER)])) as place:
        ended = await place.run()
    kinds = [type(event) for event in place.events]
    assert kinds.index(Recorded) < kinds.index(ToolStarted) < kinds.index(ToolEnded)
    recorded = [item for event in place.of(Recorded) for item in event.entry.items]
    assert list(ended.new_items) == recorded
    assert place.of(Recorded)[0].entry.usage.input_tokens > 0


async def test_an_invalid_result_is_sent_back() -> None:
    """C2: the errors are the output; the corrected call ends the run."""
    script = Script([finish(ANSWER | {"confidence": "total"}), finish(ANSWER)])
    async with bench(script) as place:
        ended = await place.run()
    assert "confidence: Input should be 'high', 'medium' or 'low'" in next(
        iter(place.outputs().values())
    )
    assert ended.status is RunStatus.SUCCESS


async def test_a_result_never_valid_ends_with_what_there_is() -> None:
    """G3: three in a row are enough; one last call is made, and the run says why it stopped."""
    bad = [finish(ANSWER | {"confidence": "total"}) for _ in range(4)]
    async with bench(Script(bad)) as place:
        ended = await place.run()
    assert ended.stop_reason is StopReason.MALFORMED_OUTPUT
    assert ended.status is RunStatus.FAILED
    assert len(place.api.requests) == 4


async def test_a_result_beside_other_calls_counts_after_them() -> None:
    """C1: the others run first, and the result stands."""
    reply = calls(("complete_task", ANSWER), ("change", {"name": "x"}))
    async with bench(Script([reply])) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert place.gate.log == ["change x"]
    assert [item["output"] for item in ended.state.pending] == ["Accepted.", "changed x"]


async def test_a_result_beside_a_failed_call_is_asked_for_again() -> None:
    """C7: nothing is passed off as done that was not."""
    reply = calls(("fail", {"how": "tool"}), ("complete_task", ANSWER))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        ended = await place.run()
    assert list(place.outputs().values())[1].startswith("Not yet: fail,")
    assert ended.status is RunStatus.SUCCESS


async def test_text_is_nudged_then_forced_then_kept() -> None:
    """C4: the first text is kept, not the reaction to a nudge, and it is marked partial."""
    added = call("add", {"a": 1, "b": 1})
    disobedient = text("Two!", disobey=True)
    script = Script([added, text("Let me see."), text("Still 2."), disobedient, disobedient])
    async with bench(script) as place:
        ended = await place.run()
    forced = [each.body.get("tool_choice") for each in place.api.requests[1:]]
    named = {"type": "function", "name": "complete_task"}
    assert forced == [None, None, named, "required"]
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "Let me see."
    assert ended.result.model_dump()["confidence"] == "low"


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("before", [(), ("add",), ("fail",)], ids=str)
@pytest.mark.parametrize("words", ["It is 2.", "<think>1 + 1…</think>It is 2."])
async def test_words_that_end_a_turn_are_the_answer(
    before: tuple[str, ...], words: str, stateless: bool
) -> None:
    """C4 K2: one call less; without sources, and not with high confidence; a thought is no word of
    it."""
    arguments: dict[str, dict[str, Any]] = {"add": {"a": 1, "b": 1}, "fail": {"how": "tool"}}
    made = [call(name, arguments[name]) for name in before]
    async with bench(Script([*made, text(words)]), stateless=stateless) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.SUCCESS, StopReason.COMPLETED)
    assert ended.result is not None
    assert ended.result.model_dump() == ANSWER | {"summary": "It is 2.", "confidence": "medium"}
    assert len(place.api.requests) == len(before) + 1


@pytest.mark.parametrize(
    "words", ["Now let me add them.", "There are two. I'll add them now.", "<tool_call>{add}"]
)
async def test_words_that_end_no_turn_are_answered_with_how_it_ends(words: str) -> None:
    """C4 K2: a call and an announcement are no answer, and what the model is told is true: people may
    have watched its text arrive."""
    added = call("add", {"a": 1, "b": 1})
    async with bench(Script([added, text(words), finish(ANSWER)])) as place:
        ended = await place.run()
    assert ended.result is not None
    assert ended.result.model_dump() == ANSWER
    told = place.api.requests[2].body["input"][-1]["content"]
    assert "complete_task" in told
    assert "delivered" not in told


@pytest.mark.parametrize("fence", ["{}", "```json\n{}\n```", "Here it is:\n{}"])
async def test_a_result_that_comes_as_text_is_the_result(fence: str) -> None:
    """C4: fenced or not, also after tools."""
    written = text(fence.replace("{}", json.dumps(ANSWER)))
    async with bench(Script([call("add", {"a": 1, "b": 1}), written])) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.SUCCESS, StopReason.COMPLETED)
    assert ended.result is not None
    assert ended.result.model_dump() == ANSWER


async def test_calls_that_are_refused_are_seen_like_any_other() -> None:
    """D3: an event of their start and their end; a name unlike all others is told the offered ones."""
    made = calls(("add", {"a": 1, "b": -1}), ("qqqqqq", {}))
    async with bench(Script([replace(made, disobey=True), finish(ANSWER)])) as place:
        await place.run()
    started = [event.tool for event in place.of(ToolStarted)]
    ended = [(event.tool, event.ok) for event in place.of(ToolEnded)]
    assert started == ["add", "qqqqqq"]
    assert ended == [("add", False), ("qqqqqq", False)]
    assert "You can call:" in list(place.outputs().values())[1]


async def test_calls_over_the_limit_are_seen_as_refused() -> None:
    """D3: neither run nor silent."""
    made = calls(*(("add", {"a": 1, "b": n}) for n in range(3)))
    async with bench(Script([made, finish(ANSWER)]), calls_per_turn=2) as place:
        await place.run()
    assert [(each.ok, each.refused) for each in place.of(ToolEnded)] == [
        *((True, False), (True, False), (False, True))
    ]


async def test_calls_beside_the_last_result_are_seen_as_refused() -> None:
    """D3 C6: what the closing call asks for besides is not run, and is seen."""
    last = calls(("add", {"a": 1, "b": 2}), ("complete_task", ANSWER))
    script = Script([call("add", {"a": 1, "b": 1}), replace(last, disobey=True)])
    async with bench(script, tokens=1) as place:
        await place.run()
    assert [(each.ok, each.refused) for each in place.of(ToolEnded)] == [
        *((True, False), (False, True))
    ]


async def test_the_result_streams_while_the_model_writes_it() -> None:
    """I4: its text, and nothing of its other fields; one that was not taken is begun anew."""
    wrong = dict(ANSWER, summary="No.", confidence="certain")
    right = dict(ANSWER, summary='It is "two", \N{GRINNING FACE}:\n1 + 1.')
    async with bench(Script([finish(wrong), finish(right)])) as place:
        await place.run()
    texts = [""]
    for event in place.events:
        if isinstance(event, TurnStarted):
            texts.append("")
        elif isinstance(event, ResultDelta):
            texts[-1] += event.text
    assert texts[1:] == ["No.", right["summary"]]
    assert len(place.of(ResultDelta)) > 2


async def test_text_streams_while_it_comes() -> None:
    """I4: what the model says is seen at once, in parts."""
    async with bench(Script([text("It is two."), finish(ANSWER)])) as place:
        await place.run()
    assert "".join(event.text for event in place.of(TextDelta)) == "It is two."


async def test_dry_run_changes_nothing() -> None:
    """D6: what a mutating tool would have done is said instead, and listed with its arguments; it is
    nothing that was done."""
    async with bench(
        Script([call("change", {"name": "x"}), finish(ANSWER)]), dry_run=True
    ) as place:
        ended = await place.run()
    assert place.gate.log == []
    assert next(iter(place.outputs().values())) == "Dry run: not done. It would have been: Change x"
    left_out = Rehearsal(tool="change", title="Change x", arguments={"name": "x"})
    assert ended.state.rehearsed == (left_out,)
    assert ended.done == ()
