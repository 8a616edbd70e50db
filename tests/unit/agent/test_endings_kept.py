"""How a run ends is kept in the save point that decides it: nothing accepted is lost (A4, R1)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.agent.events import Recorded, RunEnded
from bot.dev.model import Reply, Script, call, calls, empty, finish, incomplete, refusal, text
from tests.unit.agent.harness import ANSWER, bench, with_interrupt

ADD = call("add", {"a": 1, "b": 1})
TEXT = text("It is 2.", disobey=True)

ENDINGS: dict[str, tuple[tuple[Reply, ...], dict[str, Any]]] = {
    "a result": ((ADD, finish(ANSWER)), {}),
    "a result beside a call": ((calls(("add", {"a": 1, "b": 1}), ("complete_task", ANSWER)),), {}),
    "a refusal": ((ADD, refusal("I can't help with that.")), {}),
    "a content filter": ((ADD, incomplete("content_filter", "Tw")), {}),
    "text that was wrapped": ((ADD, TEXT, TEXT, TEXT), {}),
    "the last turn": ((ADD, ADD, finish(ANSWER)), {"turns": 3}),
    "a budget": ((ADD, finish(ANSWER)), {"tokens": 100}),
    "a budget, without a result": ((ADD, empty()), {"tokens": 100}),
    "tools that keep failing": (
        (call("fail", {"how": "tool"}), finish(ANSWER)),
        {"failed_turns": 1},
    ),
}


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("name", ENDINGS)
async def test_whoever_takes_over_after_the_end_was_decided_asks_no_model(
    name: str, stateless: bool
) -> None:
    """R1 A4: the last save point holds the whole ending; going on from it ends the same way."""
    replies, limits = ENDINGS[name]
    async with bench(Script(replies), stateless=stateless, **limits) as place:
        ended = await place.run()
        asked = len(place.api.requests)
        again = await place.resume()
        assert len(place.api.requests) == asked
    assert told(again) == told(ended)


async def test_the_end_after_a_service_that_stays_broken_is_kept() -> None:
    """R1 C8: a failure is an ending like any other, with what it was."""
    async with bench(Script([ADD])) as place:
        place.api.faults.fail("quota", times=1, skip=1)
        ended = await place.run()
        again = await place.resume()
        assert len(place.api.requests) == 2
    assert again.error is not None
    assert ended.error is not None
    assert (again.error.kind, str(again.error)) == (ended.error.kind, str(ended.error))
    assert told(again) == told(ended)


async def test_the_end_after_stop_is_kept() -> None:
    """R1 H1: a run that a person stopped stays stopped, though its worker dies right then."""
    async with bench(Script([ADD, finish(ANSWER)])) as place:
        async for event in place.stream():
            if isinstance(event, Recorded) and event.entry.response_id:
                place.parts.interrupt.request()
        ended = place.of(RunEnded)[0]
        with_interrupt(place)
        again = await place.resume()
        assert len(place.api.requests) == 1
    assert told(again) == told(ended)


def told(ended: RunEnded) -> tuple[Any, ...]:
    """All that the runner makes its outcome of."""
    result = ended.result.model_dump() if ended.result else None
    return (ended.status, ended.stop_reason, result, ended.done, ended.new_items)
