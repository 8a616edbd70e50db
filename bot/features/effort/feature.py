"""The feature: a result is not accepted before enough work was put into it."""

from __future__ import annotations

from functools import partial

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Block, Go, Hooks, Prevent, Verdict
from bot.agent.limits import Limits
from bot.agent.state import LoopState
from bot.core.budgets import billed_tokens
from bot.core.outcome import StopReason
from bot.core.request import RepeatReason
from bot.features import Feature
from bot.runs.run import Run
from bot.runs.run_parts import RunPart

_ENOUGH = 0.9
_IDLE_TOKENS = 500
_IDLE_TURNS = 3
_MOST_CONTINUATIONS = 8


class Effort(Hooks):
    """Sends results back while less than 90 % of `tokens` is spent, unless three continuations in a
    row each took fewer than 500 tokens of output: nothing new comes."""

    name = "effort"

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens

    @override
    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        spent = billed_tokens(state.usage)
        if spent >= _ENOUGH * self._tokens or state.sent_back >= _MOST_CONTINUATIONS:
            return Go()
        before = state.hooks.get(self.name, {})
        output, idle = state.usage.output_tokens, 0
        if before and output - before["output"] < _IDLE_TOKENS:
            idle = before["idle"] + 1
        if idle >= _IDLE_TURNS:
            return Prevent(StopReason.DIMINISHING_RETURNS)
        left = self._tokens - spent
        return Block(
            f"Good so far. About {left:,} tokens are left for this task: check what is least "
            "certain, look for what is missing, then call complete_task with the better result.",
            memory={"output": output, "idle": idle},
        )


def effort(limits: Limits) -> Feature:
    """Return the feature with the limits of a run; *Look deeper* has an amount of its own."""
    return Feature("effort", run_part=partial(_EffortPart, limits))


class _EffortPart(RunPart):
    """The effort of one run."""

    def __init__(self, limits: Limits, run: Run) -> None:
        deeper = limits.deeper if run.request.again is RepeatReason.DEEPER else 0
        if tokens := max(limits.effort or 0, deeper):
            self.hook = Effort(tokens)
