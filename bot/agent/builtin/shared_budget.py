"""The budget that a run shares with the sub-agents of one turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.agent.calls.outputs import CallOutput
from bot.agent.events import FromSubagent, PersonAsked, ToolEvent
from bot.agent.limits import Limits
from bot.agent.state import LoopState
from bot.core.budgets import billed_tokens
from bot.core.context import CallCost
from bot.core.outcome import StopReason


class SharedBudget:
    """The usage of a run, its sub-agents and its calls; `state` is the run's, before any of them began."""

    def __init__(self, limits: Limits, state: LoopState) -> None:
        self._limits = limits
        self._state = state
        self._children: dict[str, LoopState] = {}
        self._working: set[str] = set()

    @property
    def fallback(self) -> int:
        """Return how many models the run has given up."""
        return self._state.fallback

    def begin(self, child: str) -> None:
        """Let `child` share the rest of the budget."""
        self._children[child] = LoopState()
        self._working.add(child)

    def note(self, child: str, state: LoopState) -> None:
        """Record the latest state of `child`."""
        self._children[child] = state

    def add(self, call_id: str, spent: CallCost) -> None:
        """Record what the call of a tool has spent."""
        self._children[call_id] = LoopState(usage=spent.usage, cost=spent.cost)

    def end(self, child: str) -> None:
        """Note that `child` makes no more calls."""
        self._working.discard(child)

    def with_steps(self, output: CallOutput) -> CallOutput:
        """Return `output` with the steps of the sub-agent that its call dispatched."""
        child = self._children.get(output.call_id)
        if child is None:
            return output
        steps = (step.model_copy(update={"agent": output.call_id}) for step in child.done)
        return replace(output, inner=tuple(steps))

    def with_children(self, state: LoopState) -> LoopState:
        """Return `state` with the usage, cost and calls of its sub-agents and calls."""
        if not self._children:
            return state
        usage, cost, calls = state.usage, state.cost, state.tool_calls
        for child in self._children.values():
            usage, calls = usage + child.usage, calls + child.tool_calls
            cost = None if cost is None or child.cost is None else cost + child.cost
        return state.replace(usage=usage, cost=cost, tool_calls=calls)

    def used_up(self) -> StopReason | None:
        """Return the reason why a sub-agent must make its last call now; None while it may
        continue.

        The budget must leave room for two more calls of each working sub-agent and for the answer
        of the run, without which their findings would be lost.
        """
        spent = self.with_children(self._state)
        calls = [self._state, *(self._children[child] for child in self._working for _ in range(2))]
        tokens = sum(map(self._tokens_of_a_call, calls))
        if billed_tokens(spent.usage) + tokens > self._limits.tokens:
            return StopReason.TOKEN_BUDGET
        money = sum(map(self._cost_of_a_call, calls))
        if self._limits.cost and (spent.cost or 0.0) + money > self._limits.cost:
            return StopReason.COST_BUDGET
        return None

    def limits(self, seconds: float) -> Limits:
        """Return the limits of a sub-agent that begins now and may take that many seconds."""
        spent = self.with_children(self._state)
        limits = self._limits
        cost = limits.cost and max(limits.cost - (spent.cost or 0.0), 1e-9)
        return limits.model_copy(
            update={
                "turns": limits.subagent_turns,
                "run_seconds": seconds,
                "tokens": max(limits.tokens - billed_tokens(spent.usage), 1),
                "cost": cost,
                "effort": None,
            }
        )

    def _tokens_of_a_call(self, state: LoopState) -> float:
        if not state.turn:
            state = self._state  # nothing is known of it yet
        return max(billed_tokens(state.usage) / max(state.turn, 1), billed_tokens(state.last_usage))

    def _cost_of_a_call(self, state: LoopState) -> float:
        if not state.turn:
            state = self._state
        share = self._tokens_of_a_call(state) / max(billed_tokens(state.usage), 1)
        return (state.cost or 0.0) * share


@dataclass(frozen=True, slots=True)
class ParentRun:
    """The parent run, for a tool that runs a loop of its own: the id of the call, the shared
    budget, and the receiver of events."""

    call_id: str
    pool: SharedBudget
    tell: Callable[[FromSubagent | ToolEvent | PersonAsked], None]
