"""The feature: people ask about a message by reacting to it with an emoji that means an instruction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from typing_extensions import override

from bot.core.check import Check, ok
from bot.core.errors import ConfigurationError
from bot.features import Feature, OperatorPart
from bot.features.reactions.settings import Instructions
from bot.features.reactions.slack_part import TAKEN_BACK, ReactionsPart
from bot.slack.intake.stop import STOP_REACTIONS
from bot.store import Stores
from bot.store.families import Family

_NAME = "reactions"
_STORED = (Family(TAKEN_BACK, "set"),)


def reactions(everywhere: Instructions, channels: Mapping[str, Instructions]) -> Feature:
    """Return the feature. `channels` are the instructions of single channels. Without any, it listens
    to nothing."""
    used = {name for table in (everywhere, *channels.values()) for name in table}
    if not used:
        return Feature(_NAME, stored=_STORED)
    return Feature(
        _NAME,
        stored=_STORED,
        slack_part=partial(ReactionsPart, everywhere),
        operator_part=_ForOperators(used),
    )


class _ForOperators(OperatorPart):
    """Checks the names of emoji, and has the line of `bot doctor`."""

    def __init__(self, used: set[str]) -> None:
        self._used = used

    @override
    def check(self) -> None:
        if taken := sorted(self._used & STOP_REACTIONS):
            raise ConfigurationError(
                f"[reactions] has {taken[0]}, which stops a run: choose another emoji."
            )

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        text = (
            f"{', '.join(sorted(self._used))}: Slack must send reaction_added, and reaction_removed for "
            "stopping by taking one back; paste `bot manifest` if the app is older"
        )
        return [ok(_NAME, text)]
