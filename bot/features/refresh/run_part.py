"""What refreshing adds to a run: its outcome says whether the answer can be refreshed."""

from __future__ import annotations

from typing_extensions import override

from bot.agent.events import RunEnded
from bot.core.outcome import Outcome
from bot.features.refresh.refreshable import is_refreshable
from bot.runs.run import Run
from bot.runs.run_parts import RunPart


class RefreshPart(RunPart):
    """The part of one run; it comes after that which traces the result."""

    def __init__(self, run: Run) -> None:
        self._is_private = run.request.private
        self._tools = run.deps.toolbox.catalogue.only(run.channel.tools)

    @override
    def complete(self, outcome: Outcome, ended: RunEnded) -> Outcome:
        can_be = not self._is_private and is_refreshable(outcome.traced, self._tools.get)
        return outcome.model_copy(update={"refreshable": can_be})
