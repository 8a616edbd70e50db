"""Accounts of the people of one workspace: links, codes, disconnecting, and people who left."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slack_sdk.errors import SlackApiError

from bot.core.approvals import Approval, Decision, Verdict
from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import BotError
from bot.features.accounts.account import (
    AccountChange,
    AccountOwner,
    AccountView,
    CodeResult,
    Outcome,
    Revoked,
    Whom,
)
from bot.features.accounts.hook import ACCOUNT
from bot.features.accounts.slack.cards import NOT_ALLOWED
from bot.features.accounts.slack.messages import code_part, connected_part
from bot.runs.audit_trail import Record
from bot.runs.policy.access import PersonKind
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.slack_part import bug_logged
from bot.slack.ui.parts import Part
from bot.text.translation import reader

if TYPE_CHECKING:
    from bot.features.accounts.accounts import Accounts
    from bot.slack.intake.slack_app import SlackApp


log = logging.getLogger(__name__)

_LINK_SECONDS = 600.0  # a link in a modal
_LOOK_SECONDS = 6 * 3_600.0  # between two looks for people who have left

OwnersOf = Callable[[str], Awaitable[Sequence[AccountOwner]]]
"""Returns the people of a workspace who have accounts."""


@dataclass(frozen=True, slots=True)
class PeopleAccounts:
    """The personal accounts of one workspace. `record` writes to the audit trail.

    A person is always the one whom Slack names in an event or a press, never one named in a value.
    """

    slack: Slack
    accounts: Accounts
    owners_of: OwnersOf
    record: Record

    def owner(self, user: str) -> AccountOwner:
        """Return the person of this workspace."""
        return AccountOwner(self.slack.identity.team, user)

    async def connect_link(self, approval: Approval) -> str:
        """Return the link of the card that asks for an account; it lasts as long as the card."""
        left = approval.expires - time.time()
        return await self._link(approval.requester, approval.tool, left, approval=approval.id)

    async def link(self, user: str, server: str) -> str:
        """Return a link on which the person connects an account within ten minutes."""
        return await self._link(user, server, _LINK_SECONDS)

    async def workspace_link(self, user: str, server: str, *, replaces: str) -> str:
        """Return a link on which an admin connects the account of the workspace within ten minutes, in
        place of the connection `replaces`."""
        return await self._link(user, server, _LINK_SECONDS, replaces=replaces)

    async def _link(
        self, user: str, server: str, seconds: float, *, approval: str = "", replaces: str = ""
    ) -> str:
        return await self.accounts.connecting.ticket(
            self.owner(user),
            server,
            await self._whom(user),
            approval=approval,
            seconds=seconds,
            replaces=replaces,
        )

    async def views(self, user: str) -> tuple[AccountView, ...]:
        """Return the person's accounts at all servers that they may use."""
        return await self.accounts.views(self.owner(user))

    async def confirm(self, user: str, server: str, code: str) -> CodeResult:
        """Confirm a new connection by the digits that its last page shows."""
        return await self.accounts.connecting.confirm(self.owner(user), server, code)

    async def paste(self, user: str, address: str) -> None:
        """Finish a connection with the pasted address. Raises ConnectError."""
        await self.accounts.connecting.finish_pasted(self.owner(user), address)

    async def disconnect(self, user: str, server: str, connection: str) -> Revoked:
        """Disconnect this connection. Return whether the server has revoked it."""
        if not self.accounts.is_personal(server):
            return Revoked.NEVER
        return await self.accounts.ending.disconnect(self.owner(user), server, id=connection)

    async def disown(self, user: str, server: str, connection: str) -> Revoked:
        """Disconnect a connection that its owner did not make, and put that on record; also that of the
        workspace which was made in their name, whether they are an admin or not."""
        await self.note(user, f"not made by its owner {server}", ok=False)
        if not self.accounts.is_of_workspace(server):
            return await self.disconnect(user, server, connection)
        workspace = AccountOwner.workspace(self.slack.identity.team)
        view = await self.accounts.view(workspace, server)
        if (view.by, view.id) != (user, connection):
            return Revoked.NEVER
        return await self.accounts.ending.disconnect(workspace, server, id=connection, by=user)

    async def left(self, user: str) -> None:
        """Erase the accounts of a person who has left the workspace."""
        if erased := await self.accounts.ending.erase(self.owner(user), named=True):
            await self.note(user, f"erased {erased}, as they left")

    async def note(self, user: str, what: str, *, ok: bool = True) -> None:
        """Write an audit entry about an account."""
        team = self.slack.identity.team
        await self.record(
            [AuditEntry(kind=AuditKind.ACCOUNT, team=team, who=user, what=what, ok=ok)]
        )

    async def erase_of_people_who_left(self, beside: Callable[[], Awaitable[None]]) -> None:
        """Look for accounts of people who have left, every few hours, for ever; do what is `beside` it.

        Slack tells of each person who leaves, but not a bot that is down.
        """
        while True:
            try:
                for owner in await self.owners_of(self.slack.identity.team):
                    if owner.is_workspace:
                        continue
                    person = await self.slack.people.find_now(owner.user)
                    if person.kind is PersonKind.UNKNOWN:
                        await self.left(owner.user)
                await beside()
            except BotError as error:
                log.warning("Accounts of people who left were not looked for: %s", error)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _whom(self, user: str) -> Whom:
        """Return the names of a person as Slack has them now, for the page before leaving."""
        name, handle = await self.slack.people.name(user), ""
        workspace = self.slack.identity.url.removeprefix("https://").partition(".")[0]
        try:
            found = await self.slack.clients.reads.users_info(user=user)
            handle = str(found["user"].get("name") or "")
            answered = await self.slack.clients.reads.auth_test()
            workspace = str(answered.get("team") or workspace)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info("The page for %s has less to say: %s", user, type(error).__name__)
        return Whom(name, handle, workspace)


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
                    with bug_logged(part):
                        await part.account_connected(change.user, change.server)
            case Outcome.REFUSED:
                await self._decide(change, Verdict.DENIED, NOT_ALLOWED)
            case Outcome.ENDED | Outcome.DISCONNECTED | Outcome.WANTED:
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
        await self.app.clients.tell(change.user, part.text, part.blocks)
        await self.app.stores.threads.first_notice(change.team, _TOLD, name)

    async def _is_new(self, change: AccountChange, what: str) -> bool:
        return await self.app.stores.threads.first_notice(change.team, _TOLD, _name(change, what))


def _name(change: AccountChange, what: str) -> str:
    return f"{change.user}/{change.server}/{change.id}/{change.outcome}/{change.at:.3f}/{what}"
