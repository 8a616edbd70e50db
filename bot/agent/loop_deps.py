"""The dependencies of the loop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from pydantic import BaseModel

from bot.agent import prompts
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.calls.call import Toolbox
from bot.agent.hooks.chain import Asker, HookChain
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.core.chain import LedgerEntry, ReportCheck, Usage
from bot.core.context import RequestContext
from bot.model.traits import ServerTraits
from bot.model.types import Model


class Reported(NamedTuple):
    """The report of a sub-agent with its references filled in, and what tracing it found."""

    report: BaseModel
    check: ReportCheck | None = None


TraceReport = Callable[[BaseModel, Sequence[LedgerEntry]], Reported]
"""Fills in the references of a sub-agent's report and traces it to what it read in its conversation."""


class Prices(Protocol):
    """Windows and prices of models."""

    def window(self, model: str) -> int:
        """Return the largest input of `model`, in tokens."""

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return US dollars for one response; None when the price is not known."""


@dataclass(frozen=True, slots=True)
class LoopDeps:
    """Everything the loop of one run works with; the loop builds none of it.

    `models` are tried in order: the next one when a model stays overloaded, keeps breaking off or
    does not exist. `history` reads the thread's ledger, with the run's own entries. `traits` are
    what is known about the model server; a run may discover that the server is stateless. `context` is
    the run's request context, which each turn refines. `parent_pause` is the time in seconds before
    a missing parent response is asked for again. `asker` asks for what calls need; `trace_report`
    completes the reports of sub-agents.
    """

    model: Model
    models: tuple[str, ...]
    prices: Prices
    toolbox: Toolbox
    response_type: ResponseType
    limits: Limits
    interrupt: Interrupt
    context: RequestContext
    history: Callable[[], Awaitable[Sequence[LedgerEntry]]]
    instructions: str = prompts.INSTRUCTIONS
    hooks: HookChain = field(default_factory=HookChain)
    traits: ServerTraits = field(default_factory=ServerTraits)
    user_hash: str = ""
    parent_pause: float = 1.0
    asker: Asker = field(default_factory=Asker)
    trace_report: TraceReport | None = None
