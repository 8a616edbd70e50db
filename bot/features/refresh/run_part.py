"""What refreshing adds to a run: its outcome says whether the answer can be refreshed."""

from __future__ import annotations

from typing_extensions import override

from bot.agent.events import RunEnded
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features.refresh.refreshable import is_refreshable
from bot.runs.policy.channels import ChannelSettings
from bot.runs.run_parts import RunPart
from bot.toolkit.catalogue import Catalogue


class RefreshPart(RunPart):
    """The part of one run; it comes after that which traces the result."""

    def __init__(
        self, request: Request, channel_settings: ChannelSettings, catalogue: Catalogue
    ) -> None:
        self._is_private = request.private
        self._tools = catalogue.only(channel_settings.tools)

    @override
    def complete(self, outcome: Outcome, ended: RunEnded) -> Outcome:
        can_be = not self._is_private and is_refreshable(outcome.traced, self._tools.get)
        return outcome.model_copy(update={"refreshable": can_be})
