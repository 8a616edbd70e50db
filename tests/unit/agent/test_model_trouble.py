"""What the model service does wrong, and what becomes of the run then."""

from __future__ import annotations

import pytest

from bot.agent import prompts
from bot.agent.events import (
    Recorded,
    TextWithdrawn,
)
from bot.core.outcome import RunStatus, StopReason
from bot.local.model import (
    Reply,
    Script,
    call,
    empty,
    finish,
    incomplete,
    refusal,
    text,
)
from tests.unit.agent.harness import ANSWER, bench


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
    [tombstone] = [each.entry for each in place.of(Recorded) if each.entry.abandoned]
    assert "So far" in tombstone.items[0]["content"]
    assert "So far" not in str(place.api.requests[-1].body)
    assert ended.status is RunStatus.SUCCESS


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
