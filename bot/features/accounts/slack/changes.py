"""Changes of accounts: the waiting question goes on, and the owner is told in private."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bot.core.approvals import Decision, Verdict
from bot.features.accounts.account import AccountChange, Outcome
from bot.features.accounts.hook import ACCOUNT
from bot.features.accounts.slack.cards import NOT_ALLOWED
from bot.features.accounts.slack.messages import code_part, connected_part
from bot.features.accounts.slack.people import PeopleAccounts
from bot.slack.ui.parts import Part
from bot.text.translation import reader

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)

_TOLD = "account"


@dataclass(frozen=True, slots=True)
class AccountChanges:
    """What follows from a change of an account in one workspace.

    Each change is told at least once, so everything here may be repeated: the first decision
    counts, and a message that was posted is not posted again.
    """

    people: PeopleAccounts
    app: SlackApp

    async def tell(self, change: AccountChange) -> None:
        """Act on a change. Raises when it has to be told again."""
        with reader(await self.people.slack.people.locale(change.user)):
            await self._tell(change)

    async def _tell(self, change: AccountChange) -> None:
        match change.outcome:
            case Outcome.CODE_NEEDED:
                await self._say_once(change, code_part(change))
            case Outcome.CONNECTED:
                await self._say_once(change, connected_part(change))
                await self._decide(change, Verdict.APPROVED)
                for part in self.app.parts:
                    await part.account_connected(change.user, change.server)
            case Outcome.REFUSED:
                await self._decide(change, Verdict.DENIED, NOT_ALLOWED)
            case Outcome.ENDED | Outcome.DISCONNECTED:
                pass
        if await self._is_new(change, "on record"):
            ok = change.outcome in (Outcome.CONNECTED, Outcome.DISCONNECTED)
            await self.people.note(change.user, f"{change.outcome} {change.server}", ok=ok)
        self.app.refresh_home(change.user)

    async def _decide(self, change: AccountChange, verdict: Verdict, comment: str = "") -> None:
        record = await self.app.requests.asked(change.approval) if change.approval else None
        if record is None:
            return
        approval = record.approval
        is_its_own = (approval.kind, approval.requester, approval.tool) == (
            ACCOUNT,
            change.user,
            change.server,
        )
        if not is_its_own or approval.thread_key.partition(":")[0] != change.team:
            log.warning("A change of an account names an approval of somebody else")
            return
        decision = Decision(verdict=verdict, by=change.user, comment=comment, at=int(change.at))
        await self.app.requests.decide(approval, decision, sha256=approval.sha256)

    async def _say_once(self, change: AccountChange, part: Part) -> None:
        """Send the owner a direct message, unless that was done before."""
        name = _name(change, "told")
        if await self.app.stores.threads.was_noticed(change.team, _TOLD, name):
            return
        await self.people.tell(change.user, part.text, part.blocks)
        await self.app.stores.threads.first_notice(change.team, _TOLD, name)

    async def _is_new(self, change: AccountChange, what: str) -> bool:
        return await self.app.stores.threads.first_notice(change.team, _TOLD, _name(change, what))


def _name(change: AccountChange, what: str) -> str:
    return f"{change.user}/{change.server}/{change.id}/{change.outcome}/{change.at:.3f}/{what}"
