"""Data of one person that a run has read, as its state keeps it: the memory of the hook `NAME`.

It is read whether the feature that wrote it is switched on or not, as it says who may see an answer.
"""

from __future__ import annotations

from collections.abc import Mapping

from bot.agent.state import LoopState

NAME = "accounts"
USED, MISSING = "used", "missing"


def accounts_used(state: LoopState) -> Mapping[str, str]:
    """Return the accounts whose data the run may have read: names for people, by server."""
    return dict(state.hooks.get(NAME, {}).get(USED, {}))


def accounts_missing(state: LoopState) -> Mapping[str, str]:
    """Return the accounts that a scheduled run lacked: names for people, by server."""
    return dict(state.hooks.get(NAME, {}).get(MISSING, {}))
