"""The loop from a question to its one end. Each test names the requirement it holds up."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from bot.agent import prompts
from bot.agent.events import (
    Recorded,
    ResultDelta,
    RunEnded,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolsAcquired,
    ToolStarted,
    TurnStarted,
)
from bot.agent.state import LoopState
from bot.core.outcome import RunStatus, StopReason
from bot.local.model import (
    Reply,
    Script,
    call,
    calls,
    empty,
    finish,
    incomplete,
    raw,
    refusal,
    text,
)
from tests.unit.agent.harness import ANSWER, Bench, Cheap, bench, with_interrupt


class Small(Cheap):
    """A model with a small window."""

    def window(self, model: str) -> int:
        return 9_000


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


async def test_several_calls_are_answered_in_their_order() -> None:
    """D5: read-only tools run side by side; outputs keep the order of the calls."""
    reply = calls(("wait", {"name": "a"}), ("wait", {"name": "b"}), ("add", {"a": 1, "b": 1}))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        async for event in place.stream():
            if isinstance(event, ToolEnded) and event.tool == "add":
                place.gate.open.set()
    assert place.gate.most == 2
    assert list(place.outputs().values()) == ["a", "b", "2"]


async def test_a_mutating_call_runs_alone_and_in_order() -> None:
    """D5: nothing else is under way while a change is made."""
    reply = calls(("add", {"a": 1, "b": 1}), ("change", {"name": "x"}), ("add", {"a": 2, "b": 2}))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        await place.run()
    assert place.gate.log == ["add 1 1", "change x", "add 2 2"]


async def test_no_more_run_at_once_than_allowed() -> None:
    """D5: four at once by default, here two."""
    reply = calls(*(("wait", {"name": str(n)}) for n in range(5)))
    async with bench(Script([reply, finish(ANSWER)]), parallel_calls=2) as place:
        async for event in place.stream():
            if isinstance(event, ToolStarted) and len(place.of(ToolStarted)) == 2:
                while place.gate.running < 2:
                    place.gate.entered.clear()
                    await place.gate.entered.wait()
                place.gate.open.set()
    assert place.gate.most == 2


async def test_tools_are_acquired_and_stay() -> None:
    """D1 D2: the catalogue's line, then the tool with its context; kept for the thread."""
    script = Script(
        [
            call("acquire_tools", {"names": ["extra", "exta"]}),
            call("extra", {"what": "y"}),
            finish(ANSWER),
        ]
    )
    async with bench(script) as place:
        ended = await place.run()
    before, after = (each.body["tools"] for each in place.api.requests[:2])
    listed = next(each for each in before if each["name"] == "acquire_tools")
    assert "- extra: Something extra" in listed["description"]
    assert [each["name"] for each in after] == [*(each["name"] for each in before), "extra"]
    assert "use it for extras" in next(iter(place.outputs(1).values()))
    assert "exta: there is no such tool. Similar: extra" in next(iter(place.outputs(1).values()))
    assert place.of(ToolsAcquired) == [ToolsAcquired(("extra",))]
    assert ended.state.acquired == ("extra",)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("add", "{not json", "not JSON"),
        ("add", {"a": "one", "b": 1}, "a: Input should be a valid integer"),
        ("add", {"a": 1, "b": -1}, "b: Input should be greater than or equal to 0"),
        ("ad", {"a": 1}, "Similar names: add"),
        ("extra", {"what": "x"}, "Call acquire_tools with its name first"),
        ("fail", {"how": "tool"}, "Use another column: price."),
        ("slow", {}, "stopped after 0.05 s"),
    ],
)
async def test_a_bad_call_is_answered_with_what_to_do(name: str, arguments: Any, told: str) -> None:
    """D3 D4: the model's mistakes are its call's output, and the run goes on."""
    async with bench(Script([call(name, arguments, disobey=True), finish(ANSWER)])) as place:
        ended = await place.run()
    assert told in next(iter(place.outputs().values()))
    assert ended.status is RunStatus.SUCCESS


async def test_a_bug_in_a_tool_is_logged_and_its_words_stay_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """D3 D4: operators get the trace, the model a short line without internals."""
    async with bench(Script([call("fail", {"how": "bug"}), finish(ANSWER)])) as place:
        await place.run()
    output = next(iter(place.outputs().values()))
    assert "RuntimeError" in output
    assert "secret" not in output
    assert "secret internals" in caplog.text


async def test_a_call_id_given_twice_is_run_once() -> None:
    """B2: one output per id is all that the API takes."""
    twin = {
        "type": "function_call",
        "name": "add",
        "call_id": "call_same",
        "arguments": '{"a":1,"b":1}',
        "status": "completed",
    }
    items = [twin | {"id": "fc_1"}, twin | {"id": "fc_2"}]
    async with bench(Script([raw(items), finish(ANSWER)])) as place:
        ended = await place.run()
    assert len(place.gate.log) == 1
    assert ended.status is RunStatus.SUCCESS


async def test_call_ids_may_come_again_in_another_response() -> None:
    """B2 D9: some services count the calls of each response anew; both changes are made, each with
    a key of its own."""
    again = {
        "type": "function_call",
        "name": "context_of",
        "call_id": "call_0",
        "arguments": "{}",
        "status": "completed",
    }
    replies = [raw([again | {"id": f"fc_{n}"}]) for n in range(2)]
    async with bench(Script([*replies, finish(ANSWER)])) as place:
        ended = await place.run()
    keys = [next(iter(place.outputs(n).values())).split()[-1] for n in (1, 2)]
    assert ended.status is RunStatus.SUCCESS
    assert len(set(keys)) == 2
    assert all(key.startswith("run_1:resp_") and key.endswith(":call_0") for key in keys)


async def test_tools_see_the_request_even_in_threads() -> None:
    """D9: who asked, how many turns are left, the call's key."""
    async with bench(Script([call("context_of", {}), finish(ANSWER)])) as place:
        await place.run()
    assert next(iter(place.outputs().values())).startswith("U1 19 run_1:resp_")


async def test_a_large_output_becomes_a_preview_and_a_handle() -> None:
    """D7 D8: its size, the first and last lines, how to ask for less, where the whole is."""
    async with bench(Script([call("big", {"lines": 20_000}), finish(ANSWER)])) as place:
        ended = await place.run()
    output = next(iter(place.outputs().values()))
    [(artifact, data)] = place.artifacts.kept.values()
    assert artifact.handle in output
    assert "line 0\n" in output
    assert "line 19999" in output
    assert "Ask for less with lines." in output
    assert len(output) < 0.1 * len(data)
    assert data.decode().count("\n") == 19_999
    assert ended.state.links == ("https://big.example/x",)


async def test_asking_for_less_gets_through() -> None:
    """D7: the model reads which arguments make the output smaller, and uses one."""
    script = Script([call("big", {"lines": 9_000}), call("big", {"lines": 3}), finish(ANSWER)])
    async with bench(script) as place:
        await place.run()
    assert "Ask for less with lines." in next(iter(place.outputs(1).values()))
    assert list(place.outputs(2).values()) == ["line 0\nline 1\nline 2"]


async def test_outputs_have_less_room_as_the_context_fills() -> None:
    """D7 D9: a quarter of what is left, and tools can see how much that is."""
    script = Script([call("big", {"lines": 1_500}), call("room", {}), finish(ANSWER)])
    async with bench(script) as place:
        place.parts = replace(place.parts, prices=Small())
        await place.run()
    allowed = int(next(iter(place.outputs(2).values())))
    assert 500 < allowed < 20_000
    [large] = place.outputs(1).values()
    assert large.startswith("The output is too large: 13,")


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
    assert "called beside it, failed" in list(place.outputs().values())[1]
    assert ended.status is RunStatus.SUCCESS


async def test_text_is_nudged_then_forced_then_kept() -> None:
    """C4: nothing that the model said is lost, and it is marked partial."""
    script = Script([text("It is 2."), text("Still 2."), text("Two!", disobey=True)])
    async with bench(script) as place:
        ended = await place.run()
    forced = [each.body.get("tool_choice") for each in place.api.requests]
    assert forced == [None, None, {"type": "function", "name": "complete_task"}]
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "Two!"
    assert ended.result.model_dump()["confidence"] == "low"


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


async def test_the_last_turn_forces_the_result() -> None:
    """C5: told before, forced at the end, and marked partial because it did not end by itself."""
    script = Script([*(call("add", {"a": n, "b": 1}) for n in range(3)), finish(ANSWER)])
    async with bench(script, turns=4) as place:
        ended = await place.run()
    assert ended.stop_reason is StopReason.MAX_TURNS
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    last = place.api.requests[-1].body
    assert last["tool_choice"] == {"type": "function", "name": "complete_task"}
    assert "last turn" in str(last["input"])
    assert len(place.api.requests) == 4


async def test_the_model_is_told_once_when_a_limit_comes_near() -> None:
    """C5: as help for planning, not as a reprimand, and not every turn."""
    script = Script([*(call("add", {"a": n, "b": 1}) for n in range(6)), finish(ANSWER)])
    async with bench(script, turns=8) as place:
        await place.run()
    told = [
        n
        for n, each in enumerate(place.api.requests)
        if "% of the turns" in str(each.body["input"])
    ]
    assert told == [6]


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"tokens": 100}, StopReason.TOKEN_BUDGET),
        ({"cost": 0.0001}, StopReason.COST_BUDGET),
        ({"context_ratio": 0.0001}, StopReason.CONTEXT_FULL),
    ],
)
async def test_a_budget_ends_the_run_with_one_last_call(
    limits: dict[str, Any], reason: StopReason
) -> None:
    """G1 C6 E1: what was found is asked for once; never more than one call beyond the budget."""
    async with bench(Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)]), **limits) as place:
        ended = await place.run()
    assert ended.stop_reason is reason
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    assert len(place.api.requests) == 2


async def test_a_last_call_that_fails_leaves_what_was_done() -> None:
    """C6 C7: partial, with the titles of what went well, in the place of a result."""
    async with bench(Script([call("add", {"a": 1, "b": 1})]), tokens=100) as place:
        place.api.faults.fail("clean_eof", times=3, skip=1)
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.TOKEN_BUDGET)
    assert ended.error is not None
    assert ended.result is None
    assert ended.done == ("1 + 1",)


async def test_the_time_of_a_run_ends_its_tools_too() -> None:
    """G2 B2 C6: a tool in mid-run is stopped, its call answered, and the result asked for once."""
    script = Script([calls(("add", {"a": 1, "b": 1}), ("wait", {"name": "w"})), finish(ANSWER)])
    async with bench(script, run_seconds=0.5) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.RUN_TIMEOUT)
    told = "Stopped before it finished: the time for this task is up."
    assert list(place.outputs().values()) == ["2", told]
    assert place.gate.log[-1] == "end w"


_ALL: dict[str, Any] = {
    "turns": 1,
    "tokens": 1,
    "cost": 1e-9,
    "context_ratio": 1e-9,
    "failed_turns": 1,
}


@pytest.mark.parametrize(
    ("passed", "reason"),
    [
        ((), StopReason.MAX_TURNS),
        (("turns",), StopReason.TOKEN_BUDGET),
        (("turns", "tokens"), StopReason.COST_BUDGET),
        (("turns", "tokens", "cost"), StopReason.CONTEXT_FULL),
        (("turns", "tokens", "cost", "context_ratio"), StopReason.TOOL_ERRORS),
    ],
)
async def test_guards_are_asked_in_their_order(passed: tuple[str, ...], reason: StopReason) -> None:
    """G1 G3: where several have tripped, the run ends for the first: turns, tokens, money, context."""
    limits = {name: limit for name, limit in _ALL.items() if name not in passed}
    if "turns" in limits:
        limits["turns"] = 2
    script = Script([call("fail", {"how": "tool"}), finish(ANSWER)])
    async with bench(script, **limits) as place:
        ended = await place.run()
    assert ended.stop_reason is reason
    assert len(place.api.requests) == 2


async def test_a_model_that_hangs_is_given_up() -> None:
    """G2: a deadline for each call, the last one too."""
    async with bench(Script([]), turn_seconds=0.1) as place:
        place.api.faults.fail("hang", times=2)
        ended = await place.run()
    assert ended.stop_reason is StopReason.TURN_TIMEOUT
    assert ended.status is RunStatus.FAILED


async def test_a_slow_trickle_is_given_up() -> None:
    """G2: bytes that keep coming do not extend the deadline."""
    async with bench(Script([finish(ANSWER)]), turn_seconds=0.3) as place:
        place.api.faults.fail("trickle", times=1)
        ended = await place.run()
    assert ended.stop_reason is StopReason.TURN_TIMEOUT
    assert ended.status is RunStatus.PARTIAL


CUT = incomplete("max_output_tokens", then=call("change", {"name": "half"}))


@pytest.mark.parametrize("trouble", [empty(), CUT])
async def test_responses_of_no_use_are_bounded(trouble: Reply) -> None:
    """G3 G4 A6: no text, no calls, or cut off; whatever the status says: no endless loop."""
    async with bench(Script([trouble] * 4)) as place:
        ended = await place.run()
    assert ended.stop_reason is StopReason.MALFORMED_OUTPUT
    assert ended.status is RunStatus.FAILED
    assert len(place.api.requests) == 4


@pytest.mark.parametrize("trouble", [empty(), CUT])
async def test_one_good_turn_resets_the_count_of_trouble(trouble: Reply) -> None:
    """G3 G4: trouble must be consecutive to end a run."""
    twice = [trouble] * 2
    script = Script([*twice, call("add", {"a": 1, "b": 1}), *twice, finish(ANSWER)])
    async with bench(script) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS


async def test_a_response_that_was_cut_off_is_done_again_from_its_parent() -> None:
    """A6 B2 G4: half a call is never run, nor chained to; the model is asked for it again, shorter."""
    async with bench(Script([CUT, finish(ANSWER)])) as place:
        ended = await place.run()
    assert place.gate.log == []
    again = place.api.requests[1].body
    assert "previous_response_id" not in again
    assert prompts.CUT_OFF in str(again["input"])
    assert place.of(Recorded)[0].entry.abandoned
    assert ended.status is RunStatus.SUCCESS


async def test_a_refusal_is_said_and_not_tried_again() -> None:
    """C8: refused."""
    async with bench(Script([refusal("I can't help with that.")])) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, StopReason.REFUSED)


async def test_a_content_filter_is_said_and_not_tried_again() -> None:
    """C8: content_filter."""
    async with bench(Script([incomplete("content_filter")])) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, StopReason.CONTENT_FILTER)


@pytest.mark.parametrize(
    "kind",
    [
        "cut",
        "clean_eof",
        "half_event",
        "bad_json",
        "no_terminal",
        "response_failed",
        "in_stream_error_flat",
        "in_stream_error_nested",
    ],
)
async def test_a_stream_that_breaks_is_done_again(kind: str) -> None:
    """H2: what was shown is withdrawn, and the turn is made again."""
    async with bench(Script([text("So"), finish(ANSWER)])) as place:
        place.api.faults.fail(kind, times=1)
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert len(place.of(TextWithdrawn)) == 1


async def test_a_service_that_stays_broken_ends_the_run() -> None:
    """H2: at most twice again."""
    async with bench(Script([])) as place:
        place.api.faults.fail("clean_eof", times=3)
        ended = await place.run()
    assert ended.stop_reason is StopReason.MODEL_ERROR
    assert ended.error is not None
    assert len(place.api.requests) == 3


@pytest.mark.parametrize("kind", ["quota", "invalid_prompt"])
async def test_quota_and_policy_end_the_run_at_once(kind: str) -> None:
    """H2: neither is tried again, nor with another model."""
    async with bench(Script([])) as place:
        place.api.faults.fail(kind, times=1)
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.FAILED, StopReason.MODEL_ERROR)
    assert len(place.api.requests) == 1


async def test_an_overloaded_model_is_left_for_the_next() -> None:
    """H3: the run goes on with the next model of the list; what the first said half is kept for
    the record and never sent."""
    async with bench(Script([finish(ANSWER)])) as place:
        place.api.faults.fail("server_error", times=1)
        ended = await place.run()
    assert [each.body["model"] for each in place.api.requests] == ["gpt-5.4-mini", "gpt-5.4"]
    assert any(each.entry.abandoned for each in place.of(Recorded))
    assert ended.status is RunStatus.SUCCESS


async def test_when_every_model_is_overloaded_the_run_ends() -> None:
    """H3: the list is gone through once."""
    async with bench(Script([])) as place:
        place.api.faults.fail("server_error", times=5)
        ended = await place.run()
    assert ended.stop_reason is StopReason.MODEL_ERROR
    assert len(place.api.requests) == 2


async def test_too_long_a_prompt_is_said() -> None:
    """C8: prompt_too_long."""
    async with bench(Script([])) as place:
        place.api.faults.fail("context_length", times=1)
        ended = await place.run()
    assert ended.stop_reason is StopReason.PROMPT_TOO_LONG


async def test_stop_while_the_model_streams() -> None:
    """H1a: the stream is dropped, the chain stays at its parent, the next message works."""
    script = Script([finish(ANSWER)])
    async with bench(script) as place:
        place.api.faults.fail("hang", times=1)
        async for event in place.stream("First"):
            if isinstance(event, TurnStarted):
                await stop_soon(place)
        ended = place.events[-1]
        assert isinstance(ended, RunEnded)
        assert (ended.status, ended.stop_reason) == (
            RunStatus.CANCELLED,
            StopReason.CANCELLED_STREAMING,
        )
        with_interrupt(place)
        again = await place.run("Second", ended.state)
    assert again.status is RunStatus.SUCCESS
    assert [item["content"] for item in place.api.requests[-1].body["input"]] == ["First", "Second"]


async def test_stop_before_any_tool_ran() -> None:
    """H1b: nothing is begun any more, not even a change; the chain stays at its parent, and the next
    message works. The record says what became of the calls (B4)."""
    script = Script([calls(("add", {"a": 1, "b": 1}), ("change", {"name": "x"})), finish(ANSWER)])
    async with bench(script) as place:
        async for event in place.stream("First"):
            if isinstance(event, Recorded) and event.entry.response_id:
                place.parts.interrupt.request()
        ended = place.events[-1]
        assert isinstance(ended, RunEnded)
        assert ended.status is RunStatus.CANCELLED
        assert ended.stop_reason is StopReason.CANCELLED_TOOLS
        assert place.gate.log == []
        assert len(place.api.requests) == 1
        assert len([i for i in ended.new_items if i.get("type") == "function_call_output"]) == 2
        with_interrupt(place)
        again = await place.run("Second", ended.state)
    assert again.status is RunStatus.SUCCESS
    body = place.api.requests[-1].body
    assert "previous_response_id" not in body
    assert [item["content"] for item in body["input"]] == ["First", "Second"]


async def test_stop_while_tools_run() -> None:
    """H1c: answered at once; what was done keeps its result, the rest is marked; then on."""
    script = Script([calls(("add", {"a": 1, "b": 1}), ("wait", {"name": "w"})), finish(ANSWER)])
    async with bench(script) as place:
        async for event in place.stream("First"):
            if isinstance(event, ToolEnded):
                await place.gate.entered.wait()
                place.parts.interrupt.request()
        ended = place.events[-1]
        assert isinstance(ended, RunEnded)
        assert (ended.status, ended.stop_reason) == (
            RunStatus.CANCELLED,
            StopReason.CANCELLED_TOOLS,
        )
        assert place.gate.log[-1] == "end w"
        with_interrupt(place)
        again = await place.run("Second", ended.state)
    assert again.status is RunStatus.SUCCESS
    assert list(place.outputs().values()) == ["2", "Cancelled by the user before it finished."]


async def test_leaving_early_stops_everything_and_leaves_a_valid_chain() -> None:
    """A2 I3: break out in mid-tool; the tool is cancelled; another worker runs the read-only call
    again and goes on, without asking the model again."""
    script = Script([call("wait", {"name": "w"}), finish(ANSWER)])
    async with bench(script) as place:
        await leave_when(place, ToolStarted)
        assert place.gate.log == ["begin w", "end w"]
        place.gate.open.set()
        ended = await place.resume()
    assert ended.status is RunStatus.SUCCESS
    assert list(place.outputs().values()) == ["w"]
    assert len(place.api.requests) == 2


async def test_a_change_that_was_begun_is_never_made_again() -> None:
    """I3 B2: killed after a change was begun; the model is told that nobody knows its outcome, and
    what was done before keeps its output."""
    reply = calls(("add", {"a": 1, "b": 1}), ("change", {"name": "x"}), ("add", {"a": 2, "b": 2}))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        await leave_when(place, ToolEnded, "change")
        ended = await place.resume()
    assert place.gate.log == ["add 1 1", "change x", "add 2 2"]
    first, unknown, last = place.outputs().values()
    assert (first, last) == ("2", "4")
    assert unknown.startswith("Unknown: the bot was interrupted")
    assert ended.status is RunStatus.SUCCESS


async def test_a_change_that_was_not_begun_is_made_after_all() -> None:
    """I3: killed right before; it happens once."""
    async with bench(Script([call("change", {"name": "x"}), finish(ANSWER)])) as place:
        await leave_when(place, Recorded)
        ended = await place.resume()
    assert place.gate.log == ["change x"]
    assert list(place.outputs().values()) == ["changed x"]
    assert ended.status is RunStatus.SUCCESS


async def leave_when(place: Bench, kind: type, tool: str = "") -> None:
    """Drop the run, as a crash would, at the first event of a kind (of a tool)."""
    stream = place.stream("First")
    async for event in stream:
        if isinstance(event, kind) and tool in ("", getattr(event, "tool", "")):
            if isinstance(event, ToolStarted):
                await place.gate.entered.wait()
            break
    await stream.aclose()


async def test_dry_run_changes_nothing() -> None:
    """D6: what a mutating tool would have done is said instead."""
    async with bench(
        Script([call("change", {"name": "x"}), finish(ANSWER)]), dry_run=True
    ) as place:
        await place.run()
    assert place.gate.log == []
    assert next(iter(place.outputs().values())) == "Dry run: not done. It would have been: Change x"


async def test_more_calls_than_allowed_are_answered_all_the_same() -> None:
    """B2: 300 calls at once get 300 outputs, most of them a refusal."""
    reply = calls(*(("add", {"a": n, "b": 1}) for n in range(300)))
    async with bench(Script([reply, finish(ANSWER)]), calls_per_turn=8) as place:
        ended = await place.run()
    assert len(place.gate.log) == 8
    assert len(place.outputs()) == 300
    assert ended.status is RunStatus.SUCCESS


async def stop_soon(place: Any) -> None:
    """Ask to stop once the request has reached the service."""

    async def when_received() -> None:
        await place.api.until(lambda: place.api.requests)
        place.parts.interrupt.request()

    place.stopper = asyncio.create_task(when_received())


async def test_a_sensitive_call_is_not_made_without_a_yes() -> None:
    """D6: nothing that needs a person's approval runs without one."""
    async with bench(Script([call("launch", {}), finish(ANSWER)])) as place:
        await place.run()
    assert place.gate.log == []
    assert "approval" in next(iter(place.outputs().values()))
