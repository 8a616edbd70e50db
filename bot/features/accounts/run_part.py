"""What personal accounts add to a run: its calls use the asker's account, and nobody else's."""

from __future__ import annotations

from bot.features.accounts.audience import AudienceBook
from bot.features.accounts.hook import AccountHook, PersonalAccounts
from bot.runs.run import Run
from bot.runs.run_parts import RunPart


class AccountsPart(RunPart):
    """The part of one run; without `accounts` nobody has any."""

    def __init__(self, accounts: PersonalAccounts | None, run: Run) -> None:
        audiences = AudienceBook.of(run.deps.stores)
        self.asking = AccountHook(run.waits, accounts, audiences, run.context.accounts)
