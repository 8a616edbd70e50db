"""Digging deeper: a result is not taken before enough was spent on it (G5)."""

from __future__ import annotations

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks import Block, Go, Hooks, Prevent, Verdict
from bot.agent.state import LoopState
from bot.core.budgets import billed_tokens
from bot.core.outcome import StopReason

_ENOUGH = 0.9
_IDLE_TOKENS = 500
_IDLE_TURNS = 3


class Effort(Hooks):
    """For one run. Sends results back while less than 90 % of `tokens` is spent, unless three
    continuations in a row each took fewer than 500 tokens of output: nothing new comes."""

    def __init__(self, tokens: int) -> None:
        self._tokens = tokens
        self._output = 0
        self._idle = 0

    @override
    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        spent = billed_tokens(state.usage)
        if spent >= _ENOUGH * self._tokens:
            return Go()
        added = state.usage.output_tokens - self._output
        self._idle = self._idle + 1 if self._output and added < _IDLE_TOKENS else 0
        self._output = state.usage.output_tokens
        if self._idle >= _IDLE_TURNS:
            return Prevent(StopReason.DIMINISHING_RETURNS)
        left = self._tokens - spent
        return Block(
            f"Good so far. About {left:,} tokens are left for this task: check what is least "
            "certain, look for what is missing, then call complete_task with the better result."
        )
