"""Accounts of one run: its calls use the asker's account, and nobody else's, or that of the workspace.

Before a call, the asker connects the account, if it cannot be used, and says who may see what it
finds, if others would read the answer. The run waits for both as it waits for approvals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict
from typing_extensions import override

from bot.agent.hooks.chain import Hooks, Permission, Undecided
from bot.agent.state import LoopState
from bot.core.approvals import ApprovalRecord, Ask, Decision, Verdict
from bot.core.context import current_request
from bot.core.errors import CorruptValue
from bot.core.request import Entry, Request
from bot.features.accounts import hook_words as words
from bot.features.accounts.account import (
    ADMINS_MEND,
    AccountOwner,
    AccountState,
    AccountView,
    problem,
)
from bot.runs.policy.own_data import MISSING, NAME, USED, accounts_missing, accounts_used
from bot.runs.policy.run_approvals import Waits
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.store import Decisions, Stores
from bot.toolkit import Tool


class Audience(StrEnum):
    """Who may see what an account finds."""

    EVERYBODY = "everybody"
    ASKER = "asker"


class Audiences(BaseModel):
    """What a person chose in one thread, by server."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    servers: Mapping[str, Audience] = {}


@dataclass(frozen=True, slots=True)
class AudienceBook:
    """What people chose, in the store."""

    store: Decisions

    @classmethod
    def of(cls, stores: Stores) -> AudienceBook:
        """Return the book in the Redis of `stores`."""
        return cls(Decisions(stores.redis, stores.retention, "account-audiences"))

    async def choice(self, request: Request, server: str) -> Audience | None:
        """Return the choice of the asker, None before they have chosen."""
        return (await self._all(request)).servers.get(server)

    async def choose(self, request: Request, server: str, audience: Audience) -> None:
        """Store the choice of the asker for the request's thread, or for its schedule."""
        servers = {**(await self._all(request)).servers, server: audience}
        await self.store.save(_name(request), Audiences(servers=servers))

    async def _all(self, request: Request) -> Audiences:
        try:
            return await self.store.load(_name(request), Audiences) or Audiences()
        except CorruptValue:
            return Audiences()


def _name(request: Request) -> str:
    owner = AccountOwner.of(request)
    place = f"{owner.team}:{request.schedule}" if request.schedule else request.thread_key
    return f"{place}:{owner.user}"


ACCOUNT = "account"
"""The kind of a wait for the asker to connect their own account of a server."""

SHARE = "share"
"""The kind of a wait for the asker to let everybody in the thread see what their account finds."""

_NOT_TO_CONNECT = {
    AccountState.FORBIDDEN: words.FORBIDDEN,
    AccountState.CHANGED: words.CHANGED,
    AccountState.BUSY: words.BUSY,
}
"""What the model is told where connecting would not help."""


class PersonalAccounts(Protocol):
    """The accounts that people have connected. See `bot.mcp.accounts.Accounts`."""

    def label(self, server: str) -> str:
        """Return the server's name as people read it."""

    async def view(self, owner: AccountOwner, server: str) -> AccountView:
        """Return the account of a person at a server; of state NONE when there is none."""

    def is_of_workspace(self, server: str) -> bool:
        """Return whether the workspace has one account at this server, which an admin connects."""

    async def ask_admins(self, owner: AccountOwner, server: str) -> None:
        """Have the admins of a workspace told that a run lacked its account."""


class AccountHook(Hooks):
    """The hook of one run that decides whether a call may use its asker's account.

    `used` are the accounts whose data the run may have read, by server, with their names for
    people; the hook adds to it during the run.
    """

    name = NAME

    def __init__(
        self,
        waits: Waits,
        accounts: PersonalAccounts | None,
        audiences: AudienceBook,
        used: dict[str, str],
    ) -> None:
        self._waits = waits
        self._accounts = accounts
        self._audiences = audiences
        self._asking = asyncio.Lock()
        self._used = used
        self._missing: dict[str, str] = {}

    @override
    async def on_run_start(self, state: LoopState) -> None:
        self._used.update(accounts_used(state))
        self._missing |= accounts_missing(state)

    @override
    def memory(self, state: LoopState) -> dict[str, Any]:
        memory = {USED: dict(self._used), MISSING: dict(self._missing)}
        return {name: servers for name, servers in memory.items() if servers}

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        is_of_server = tool.name.startswith(f"{tool.group}__")  # not a tool of ours in such a group
        if self._accounts and is_of_server and self._accounts.is_of_workspace(tool.group):
            return await self._of_workspace(self._accounts, tool)
        if not tool.account:
            return None
        request = self._waits.request
        if self._accounts is None or not request.is_personal or request.entry is Entry.JOB:
            return words.NO_PERSON.format(label=tool.account)
        label = self._accounts.label(tool.account)
        view = await self._accounts.view(AccountOwner.of(self._waits.request), tool.account)
        async with self._asking:  # calls side by side ask once
            try:
                refusal = await self._connected(view, tool, arguments) or await self._shown(view)
            except CorruptValue:
                return words.LOST
        if refusal is None:
            self._used[tool.account] = label
        return refusal

    async def _of_workspace(self, accounts: PersonalAccounts, tool: Tool) -> str | None:
        """Return None when the account of the workspace can be used; else say why not, before anybody is
        asked to approve the call. Whoever approves and reads is decided as for servers with headers."""
        owner = AccountOwner.workspace(self._waits.request.team)
        view = await accounts.view(owner, tool.group)
        if view.usable_for(tool.name):
            return None
        if view.state in ADMINS_MEND:
            await accounts.ask_admins(owner, tool.group)
        return f"Not done: {problem(owner, tool.group, view.state)}"

    async def _connected(
        self, view: AccountView, tool: Tool, arguments: BaseModel
    ) -> str | Undecided | None:
        """Return None when the account can be used; else wait for the asker, or say why not."""
        if view.usable_for(tool.name):
            return None
        if view.state in _NOT_TO_CONNECT:
            return _NOT_TO_CONNECT[view.state].format(label=view.label)
        if self._waits.request.entry is Entry.SCHEDULE:
            self._missing[view.server] = view.label
            return words.IN_SCHEDULE.format(label=view.label)
        ask = Ask(
            kind=ACCOUNT,
            done_elsewhere=True,
            subject=view.server,
            title=words.CONNECT_TITLE(label=view.label),
            details={
                "name": view.label,
                "state": view.state,
                "scopes": [
                    scope for scope in view.wanted.split() if scope not in view.scope.split()
                ],
                "title": tool.title(arguments),
            },
        )
        decision = await self._decision(ask)
        if not isinstance(decision, Decision):
            return decision
        if decision.allows:
            return words.STILL_UNUSABLE.format(label=view.label)
        return _overtaken(decision) or words.NOT_CONNECTED.format(label=view.label)

    async def _shown(self, view: AccountView) -> str | Undecided | None:
        """Return None when the readers of the answer may see what the account finds.

        A run whose asker keeps that to themselves goes on as a private one (see
        `RunApprovals.wait`).
        """
        request = self._waits.request
        if request.is_for_one:
            await self._remember_choice(view)
            return None
        ask = Ask(
            kind=SHARE,
            else_private=True,
            subject=view.server,
            title=words.SHARE_TITLE(label=view.label),
            details={"name": view.label},
        )
        chosen = await self._audiences.choice(request, view.server)
        if chosen is Audience.EVERYBODY:
            return None
        if chosen is Audience.ASKER and not self._waits.in_subagent:
            await self._waits.decide(ask, Decision(verdict=Verdict.DENIED, by=request.user))
            return Undecided()
        return await self._agreed(ask)

    async def _agreed(self, ask: Ask) -> str | Undecided | None:
        """Return None when the asker agrees that everybody reads the answer."""
        decision = await self._decision(ask)
        if not isinstance(decision, Decision):
            return decision
        if decision.allows:
            await self._audiences.choose(self._waits.request, ask.subject, Audience.EVERYBODY)
            return None
        return _overtaken(decision) or Undecided()

    async def _remember_choice(self, view: AccountView) -> None:
        """Store for the thread that its asker kept to themselves what the account finds."""
        if not self._waits.request.kept_private:
            return
        for record in await self._waits.records(SHARE):
            chose = record.decision and record.decision.by
            if record.approval.tool == view.server and chose and record.keeps_private:
                await self._audiences.choose(self._waits.request, view.server, Audience.ASKER)

    async def _decision(self, ask: Ask) -> Decision | str | Undecided:
        """Return the asker's decision. Ask unless another call of the run has done so."""
        if self._waits.in_subagent:
            return words.IN_SUBAGENT.format(label=ask.details["name"])
        for record in await self._asked(ask):
            decision = (await self._waits.settled(record)).decision
            if decision is None:
                return Undecided()
            # A connection that ended since needs another decision; who may see it does not.
            is_settled = ask.kind == SHARE or not decision.allows
            if is_settled and not _overtaken(decision):
                return decision
        return await self._waits.decision(ask) or Undecided()

    async def _asked(self, ask: Ask) -> list[ApprovalRecord]:
        """Return what other calls of the run have asked about the same account."""
        call = current_request().idempotency_key
        return [
            record
            for record in await self._waits.records(ask.kind)
            if record.approval.tool == ask.subject and not record.approval.is_of_call(call)
        ]


def _overtaken(decision: Decision) -> str:
    """Return a text when the question was edited or followed by another before anybody decided."""
    if decision.verdict is Verdict.DENIED and not decision.by:
        return words.OVERTAKEN.format(why=decision.comment)
    return ""


class AccountsPart(RunPart):
    """The part of one run; without `accounts` nobody has any."""

    def __init__(self, accounts: PersonalAccounts | None, run: Run) -> None:
        audiences = AudienceBook.of(run.deps.stores)
        self.asking = AccountHook(run.waits, accounts, audiences, run.context.accounts)
