"""Why a call could not be made on the asker's account, in words for the model."""

from __future__ import annotations

from bot.features.accounts.account import AccountProblem, AccountState
from bot.mcp.config import label_of

_AGAIN = (
    "Nothing was done. Call it again: the asker is then asked to {do}, and the call goes on. "
    "If they have declined that already, go on without it and say so."
)
_WORDS = {
    AccountState.NONE: f"The asker has not connected {{label}}. {_AGAIN.format(do='connect it')}",
    AccountState.UNCONFIRMED: (
        f"The asker has not finished connecting {{label}}. {_AGAIN.format(do='finish it')}"
    ),
    AccountState.NEEDS_MORE: (
        f"{{label}} wants one more right for this call. {_AGAIN.format(do='allow it')}"
    ),
    AccountState.ENDED: (
        f"{{label}} has ended the connection of the asker. {_AGAIN.format(do='connect it again')}"
    ),
    AccountState.CHANGED: (
        "{label} is switched off until an admin has checked it. Go on without it and say so."
    ),
    AccountState.BUSY: (
        "{label} does not answer right now. Nothing was done. Try again later or go on without it."
    ),
    AccountState.FORBIDDEN: "The asker may not use {label} here. Go on without it and say so.",
}


def problem(server: str, state: AccountState, wanted: str = "") -> AccountProblem:
    """Return the error of a call that could not be made because of the asker's account."""
    text = _WORDS[state].format(label=label_of(server))
    return AccountProblem(text, server=server, state=state, wanted=wanted)
