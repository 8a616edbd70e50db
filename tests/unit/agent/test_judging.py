"""Results are judged before they are taken: effort (G5) and self-evaluation (I2)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import ApiError, ModelRequest, Reply, Script, call, finish, respond, text
from bot.features.effort.feature import Effort
from bot.features.evaluation.hook import Evaluation
from tests.unit.agent.harness import ANSWER, Bench, bench

GOOD = {"completed": True, "confidence": "high", "issues": [], "suggestion": ""}
BAD = {
    "completed": False,
    "confidence": "high",
    "issues": ["No source is named."],
    "suggestion": "Read the file.",
}


def evaluating(place: Bench, tries: int) -> None:
    """Judge results with the same model."""
    from dataclasses import replace

    from bot.agent.hooks.chain import HookChain

    request = place.parts.context.request
    hook = Evaluation(lambda: request.text, place.parts.model, "gpt-5.4-mini", tries=tries)
    place.parts = replace(place.parts, hooks=HookChain((hook,)))


async def test_a_good_result_passes_and_its_judging_is_paid_for() -> None:
    """I2 G6: one more call, whose tokens count."""
    async with bench(Script([finish(ANSWER), call("judge", GOOD)])) as place:
        evaluating(place, tries=2)
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    assert len(place.api.requests) == 2
    assert ended.state.usage.input_tokens > ended.state.last_usage.input_tokens


async def test_basic_marks_what_falls_short() -> None:
    """I2 C7: the result stands, marked partial."""
    async with bench(Script([finish(ANSWER), call("judge", BAD)])) as place:
        evaluating(place, tries=0)
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.STOP_HOOK)
    assert ended.result is not None


async def test_full_sends_the_issues_back_and_takes_the_better() -> None:
    """I2: the model reads what is wrong, mends it, and is done."""
    better = ANSWER | {"summary": "Two, says the file."}
    script = Script([finish(ANSWER), call("judge", BAD), finish(better), call("judge", GOOD)])
    async with bench(script) as place:
        evaluating(place, tries=2)
        ended = await place.run()
    assert "No source is named." in next(iter(place.outputs(2).values()))
    assert ended.status is RunStatus.SUCCESS
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "Two, says the file."


async def test_full_keeps_the_best_when_none_is_good() -> None:
    """I2: not simply the last."""
    worse = call("judge", BAD | {"confidence": "low"})
    first = ANSWER | {"summary": "The best there is."}
    script: Any = Script([finish(first), call("judge", BAD), finish(ANSWER), worse])
    async with bench(script) as place:
        evaluating(place, tries=1)
        ended = await place.run()
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "The best there is."


async def test_a_judge_that_answers_in_text_is_heard() -> None:
    """I2: a forced call, or JSON in text."""
    said = text("```json\n" + json.dumps(BAD) + "\n```", disobey=True)
    async with bench(Script([finish(ANSWER), said])) as place:
        evaluating(place, tries=0)
        ended = await place.run()
    assert ended.stop_reason is StopReason.STOP_HOOK


async def test_a_judge_that_fails_judges_nothing() -> None:
    """I2: its trouble is not the answer's."""
    async with bench(Script([finish(ANSWER), text("hm", disobey=True)])) as place:
        evaluating(place, tries=2)
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS


async def test_effort_asks_for_more_until_enough_was_spent() -> None:
    """G5: a first result is sent back; once enough was spent it is taken."""
    script = Script([finish(ANSWER), call("big", {"lines": 900}), finish(ANSWER)])
    async with bench(script, hooks=(Effort(2_500),)) as place:
        ended = await place.run()
    assert "tokens are left" in next(iter(place.outputs(1).values()))
    assert ended.status is RunStatus.SUCCESS


async def test_effort_ends_when_nothing_new_comes() -> None:
    """G5 C8: three short continuations in a row are enough, and no failure: the answer is whole."""
    script = Script([finish(ANSWER) for _ in range(4)])
    async with bench(script, hooks=(Effort(1_000_000),), tokens=10_000_000) as place:
        ended = await place.run()
    assert ended.stop_reason is StopReason.DIMINISHING_RETURNS
    assert ended.status is RunStatus.SUCCESS
    assert ended.result is not None
    assert len(place.api.requests) == 4


def _broken(_request: ModelRequest) -> Reply:
    raise ApiError(400, "Broken.")


async def test_a_result_that_was_sent_back_is_not_lost() -> None:
    """I2 G5 C7: where the run ends without another one, the best so far is its partial result."""
    dead = respond(_broken)
    first = ANSWER | {"summary": "The best there is."}
    async with bench(Script([finish(first), dead]), hooks=(Effort(50_000),)) as place:
        ended = await place.run()
    assert (ended.status, ended.stop_reason) == (RunStatus.PARTIAL, StopReason.STOP_HOOK)
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "The best there is."
    worse = call("judge", BAD | {"confidence": "low"})
    script: Any = Script([finish(first), call("judge", BAD), finish(ANSWER), worse, dead])
    async with bench(script) as place:
        evaluating(place, tries=5)
        ended = await place.run()
    assert ended.status is RunStatus.PARTIAL
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "The best there is."


@pytest.mark.parametrize(
    "words", ["<think>In {braces}.</think>%s", "%s\nI put the {sum} in.", "{a} %s {"]
)
async def test_json_in_text_is_found_among_other_braces(words: str) -> None:
    """I2 C4: of a judgement, and of a result."""
    said = [text(words % json.dumps(each), disobey=True) for each in (ANSWER, BAD)]
    async with bench(Script(said)) as place:
        evaluating(place, tries=0)
        ended = await place.run()
    assert ended.stop_reason is StopReason.STOP_HOOK
    assert ended.result is not None
    assert ended.result.model_dump() == ANSWER


async def test_the_best_is_kept_where_no_more_can_be_sent_back() -> None:
    """I2 G3: the bound on results sent back ends the run with the best of them, not the last."""
    first = ANSWER | {"summary": "The best there is."}
    worse = call("judge", BAD | {"confidence": "low"})
    script: Any = [finish(first), call("judge", BAD), *[finish(ANSWER), worse] * 8]
    async with bench(Script(script)) as place:
        evaluating(place, tries=20)
        ended = await place.run()
    assert ended.stop_reason is StopReason.STOP_HOOK
    assert ended.result is not None
    assert ended.result.model_dump()["summary"] == "The best there is."
