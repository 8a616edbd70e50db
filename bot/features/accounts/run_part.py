"""What personal accounts add to a run: its calls use the asker's account, and nobody else's."""

from __future__ import annotations

from bot.features.accounts.audience import AudienceBook
from bot.features.accounts.hook import AccountHook, PersonalAccounts
from bot.runs.run_parts import RunPart, RunPartDeps


class AccountsPart(RunPart):
    """The part of one run; without `accounts` nobody has any."""

    def __init__(self, accounts: PersonalAccounts | None, deps: RunPartDeps) -> None:
        audiences = AudienceBook.of(deps.stores)
        self.asking = AccountHook(deps.waits, accounts, audiences, deps.context.accounts)
