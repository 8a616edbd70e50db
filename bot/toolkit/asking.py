"""Questions to the asker during a call, for servers that cannot be called again.

The call waits for the answer, and keeps its worker. A tool that can be called again raises
`PersonNeeded`: the run then waits without a worker.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar

from bot.core.approvals import Ask, Decision, Verdict
from bot.core.bound import Bound

AskNow = Callable[[Ask], Awaitable[Decision]]
"""Asks the asker of the call, and returns what they decided."""


def current_asking() -> AskNow:
    """Return what asks the asker of the call that runs here."""
    return _current.get()


def bound_asking(ask: AskNow) -> Bound[AskNow]:
    """Let `ask` put the questions of the body to the asker."""
    return Bound(_current, ask)


async def _nobody(_ask: Ask) -> Decision:
    """Refuse: outside a run there is nobody to ask."""
    return Decision(verdict=Verdict.DENIED)


_current: ContextVar[AskNow] = ContextVar("asking", default=_nobody)
