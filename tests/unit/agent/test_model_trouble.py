"""What the model service does wrong, and what becomes of the run then."""

from __future__ import annotations

import json

import pytest

from bot.agent import prompts
from bot.agent.events import Recorded, TextWithdrawn
from bot.agent.prompts import CONTINUE
from bot.agent.window import text_of
from bot.core.answers import Answer
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import (
    Reply,
    Script,
    call,
    calls,
    empty,
    finish,
    incomplete,
    reasoning,
    refusal,
    text,
)
from tests.unit.agent.harness import ANSWER, Bench, bench


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


CUT = incomplete("max_output_tokens", then=call("change", '{"name": "ha'))


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
    """A6 B2 G4: half a call is never run nor sent; the model is asked for it again, shorter."""
    async with bench(Script([CUT, finish(ANSWER)])) as place:
        ended = await place.run()
    assert place.gate.log == []
    again = place.api.requests[1].body
    assert "previous_response_id" not in again
    assert prompts.CUT_OFF in str(again["input"])
    assert place.of(Recorded)[0].entry.abandoned
    assert ended.status is RunStatus.SUCCESS


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_longer_than_one_output_is_continued(stateless: bool, stream: bool) -> None:
    """G4 B1 B2: what was said is sent back, on the chain of its parent, and the model is asked to go
    on; what it said in parts is one text, here a result as JSON."""
    whole = json.dumps(ANSWER)
    parts = [incomplete("max_output_tokens", whole[:20]), incomplete("max_tokens", whole[20:50])]
    script = Script([call("add", {"a": 1, "b": 1}), *parts, text(whole[50:])])
    async with bench(script, stateless=stateless, stream=stream) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert ended.result == Answer.model_validate(ANSWER)
    *_, before, last = (each.body for each in place.api.requests)
    assert ("previous_response_id" in last) is not stateless
    assert last.get("previous_response_id") == before.get("previous_response_id")
    said = [item for item in last["input"] if item.get("role") in ("assistant", "developer")]
    assert list(map(text_of, said)) == [whole[:20], CONTINUE, whole[20:50], CONTINUE]
    said = [text_of(item) for item in ended.new_items if item.get("role") == "assistant"]
    assert said == [whole[:20], whole[20:50], whole[50:]]


async def test_words_in_parts_are_one_answer() -> None:
    """G4 C4: a first answer in words, cut once, is the whole text, in two calls to the model."""
    script = Script([incomplete("max_output_tokens", "It is "), text("two.")])
    async with bench(script) as place:
        ended = await place.run()
    assert (ended.status, len(place.api.requests)) == (RunStatus.SUCCESS, 2)
    assert isinstance(ended.result, Answer)
    assert ended.result.summary == "It is two."


async def test_what_reaches_the_output_limit_again_and_again_is_a_partial_answer() -> None:
    """G4: three times the model may go on; then what it said is kept, marked as partial. A normal
    turn in between resets the count."""
    cut = [incomplete("max_output_tokens", f"{n} ") for n in range(8)]
    script = Script([*cut[:3], call("add", {"a": 1, "b": 1}), *cut[3:7]])
    async with bench(script) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.MALFORMED_OUTPUT)
    assert isinstance(ended.result, Answer)
    assert ended.result.summary == "3 4 5 6 "
    assert len(place.api.requests) == 8


@pytest.mark.parametrize("stateless", [False, True])
async def test_whole_calls_of_a_response_that_was_cut_are_run_once(stateless: bool) -> None:
    """G4 B2: their outputs go back with them; the call that was cut is not run, and made again."""
    made = calls(("change", {"name": "x"}), ("add", {"a": 1, "b": 1}), ("change", '{"name": "y'))
    script = Script(
        [
            incomplete("max_output_tokens", "Let me see.", then=reasoning("Hm.", made)),
            call("change", {"name": "y"}),
            finish(ANSWER),
        ]
    )
    async with bench(script, stateless=stateless) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert place.gate.log == ["change x", "add 1 1", "change y"]
    assert list(place.outputs(1).values()) == ["changed x", "2"]
    assert CONTINUE in str(place.api.requests[1].body["input"])
    assert 'name": "y\'' not in str(place.api.requests[1].body["input"])


async def test_a_whole_result_counts_though_the_response_was_cut_behind_it() -> None:
    """G4 C1: a valid call of complete_task ends the run; the next question is told nothing of it."""
    async with bench(Script([incomplete("max_output_tokens", then=finish(ANSWER))])) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert CONTINUE not in str(ended.state.pending)


async def test_a_last_call_that_is_cut_keeps_what_was_said() -> None:
    """G4 C6: nobody can ask for more: the beginning is the partial result."""
    script = Script([call("add", {"a": 1, "b": 1}), incomplete("max_output_tokens", "So far: 2")])
    async with bench(script, turns=2) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.MAX_TURNS)
    assert isinstance(ended.result, Answer)
    assert ended.result.summary == "So far: 2"


async def test_a_run_that_stops_at_its_output_limit_is_resumed_there() -> None:
    """G4 A4: from every save point the same end, and every whole call once."""
    made = calls(("change", {"name": "x"}), ("change", '{"name": "y'))
    script = Script([incomplete("max_output_tokens", then=made), finish(ANSWER)])
    async with bench(script) as place:
        async for event in place.stream():
            if isinstance(event, Recorded):
                break
        ended = await place.resume()
    assert ended.status is RunStatus.SUCCESS
    assert place.gate.log == ["change x"]
    assert list(place.outputs().values()) == ["changed x"]


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
        place.api.faults.fail("clean_eof", times=6)
        ended = await place.run()
    assert ended.stop_reason is StopReason.MODEL_ERROR
    assert ended.error is not None
    assert len(place.api.requests) == 6  # three for each of the models


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
        half = text("So far it seems")
        place.api.faults.fail("server_error", times=3, where="mid_stream", saying=half)
        ended = await place.run()
    models = [each.body["model"] for each in place.api.requests]
    assert models == [*["gpt-5.4-mini"] * 3, "gpt-5.4"]
    assert tombstones(place) == ["So far it seems"] * 3
    assert "So far" not in str(place.api.requests[-1].body)
    assert ended.status is RunStatus.SUCCESS


def tombstones(place: Bench) -> list[str]:
    """What is kept for the record only, entry by entry."""
    entries = [each.entry for each in place.of(Recorded) if each.entry.abandoned]
    return [text_of(item) for entry in entries for item in entry.items]


@pytest.mark.parametrize("stateless", [False, True])
async def test_what_a_try_had_said_is_kept_for_the_record(stateless: bool) -> None:
    """H2 H3: also where the same model answers the next time; never sent, never shown."""
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script, stateless=stateless) as place:
        half = text("So far it seems")
        place.api.faults.fail("server_error", times=2, where="mid_stream", saying=half)
        ended = await place.run()
        asked = len(place.api.requests)
        again = await place.resume()
        assert len(place.api.requests) == asked
    assert tombstones(place) == ["So far it seems"] * 2
    assert len(place.of(TextWithdrawn)) == 2
    assert not any("So far" in str(each.body) for each in place.api.requests)
    assert "So far" not in str(ended.new_items)
    assert again.new_items == ended.new_items


async def test_what_was_said_when_the_time_of_a_call_was_up_is_kept_for_the_record() -> None:
    """H3 G2 C6: withdrawn from view, and not sent with the last call."""
    async with bench(Script([finish(ANSWER)]), turn_seconds=0.4) as place:
        half = text("So far it seems " * 50)
        place.api.faults.fail("trickle", times=1, saying=half)
        ended = await place.run()
    assert ended.stop_reason is StopReason.TURN_TIMEOUT
    [said] = tombstones(place)
    assert said.startswith("So far")
    assert len(place.of(TextWithdrawn)) == 1
    assert "So far" not in str(place.api.requests[-1].body)


@pytest.mark.parametrize(("kind", "times"), [("model_not_found", 1), ("cut", 3)])
async def test_a_model_that_is_not_there_or_breaks_off_is_left_for_the_next(
    kind: str, times: int
) -> None:
    """H3: also once its stream has begun, when it keeps breaking."""
    async with bench(Script([finish(ANSWER)])) as place:
        place.api.faults.fail(kind, times=times)
        ended = await place.run()
    assert place.api.requests[-1].body["model"] == "gpt-5.4"
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
