"""What is done about a context that fills up: one table over all ratios (E2, E3)."""

from __future__ import annotations

from typing import Any

import pytest

from bot.agent.limits import ContextAction, Limits, context_action, usage_ratio
from bot.agent.state import LoopState
from bot.core.chain import LedgerEntry, Usage
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import finish, text
from tests.unit.agent.harness import ANSWER, bench

TASK = {"role": "user", "content": "1+1?"}
RATIOS = [n / 20 for n in range(25)]


@pytest.mark.parametrize("turn", [0, 9, 11])
@pytest.mark.parametrize("passed_over", [False, True])
@pytest.mark.parametrize("compacted", [False, True])
def test_the_table(turn: int, passed_over: bool, compacted: bool) -> None:
    """E2 E3: offered from 75 % on while more than half of the turns are left, compacted where it is
    not and from 85 % on, closed above 95 % after a compaction, and never before one."""
    state = LoopState(task=TASK, turn=turn, checkpoint_offered=passed_over, compacted=compacted)

    def expected(ratio: float) -> ContextAction:
        if ratio < 0.75:
            return ContextAction.NOTHING
        if ratio >= 0.95 and compacted:
            return ContextAction.CLOSE
        if ratio < 0.85 and turn < 10 and not passed_over:
            return ContextAction.OFFER
        return ContextAction.COMPACT

    decided = {ratio: context_action(ratio, state, Limits()) for ratio in RATIOS}
    assert decided == {ratio: expected(ratio) for ratio in RATIOS}


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("ratio", [0.0, 0.8, 0.9, 0.96, 1.2])
@pytest.mark.parametrize("window", [8_000, 128_000, 1_000_000])
async def test_no_thread_is_too_full_for_its_next_question(
    stateless: bool, ratio: float, window: int
) -> None:
    """E3: it is shortened, and answered."""
    said = "x" * min(int(window * ratio * 2), 400_000)
    before = (
        LedgerEntry(run_id="run_0", items=({"role": "user", "content": "Earlier?"},)),
        LedgerEntry(run_id="run_0", items=({"role": "assistant", "content": said},)),
    )

    def brain(request: Any) -> Any:
        return finish(ANSWER) if request.body.get("tools") else text("They talked.")

    begun = LoopState(last_usage=Usage(input_tokens=int(window * ratio)), stateless=stateless)
    async with bench(brain, before=before, stateless=stateless, window=window) as place:
        ended = await place.run("And now?", begun)
        assert "And now?" in str(place.api.requests[-1].body["input"])
        shortened = any(each.entry.checkpoint for each in place.saved)
    assert (ended.status, ended.stop_reason) == (RunStatus.SUCCESS, StopReason.COMPLETED)
    assert shortened == (ratio >= 0.85)


@pytest.mark.parametrize("window", [8_000, 272_000])
async def test_the_gauge_is_the_tokens_in_the_chain_by_the_models_window(window: int) -> None:
    """E1: after each response, from what the service counted, output included; tools see it."""
    async with bench(lambda _: finish(ANSWER), window=window) as place:
        ended = await place.run()
    counted = place.api.responses[place.api.requests[0].response_id or ""].response["usage"]
    assert usage_ratio(ended.state.last_usage, window) == counted["total_tokens"] / window
    assert usage_ratio(LoopState().last_usage, 0) == 0.0
