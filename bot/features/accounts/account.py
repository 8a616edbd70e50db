"""Accounts: what the bot tells about the accounts that people connected to MCP servers.

Nothing here holds a token. The records with tokens are in `bot.features.accounts.records`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from bot.core.errors import BotError, ToolError
from bot.core.request import Request
from bot.mcp.config import label_of


class AccountState(StrEnum):
    """Whether a person's account can be used."""

    NONE = "none"  # never connected, or disconnected
    UNCONFIRMED = "unconfirmed"  # allowed in a browser; the finish code is missing
    CONNECTED = "connected"
    NEEDS_MORE = "needs_more"  # the server wants more scopes
    ENDED = "ended"  # the server accepts our tokens no longer
    CHANGED = "changed"  # issuer or endpoints differ from the pinned ones; an admin must accept
    BUSY = "busy"  # the server does not answer right now; never stored
    FORBIDDEN = "forbidden"  # the settings do not let this person use the server


ADMINS_MEND = frozenset(
    {AccountState.NONE, AccountState.UNCONFIRMED, AccountState.NEEDS_MORE, AccountState.ENDED}
)
"""States of the workspace's account in which an admin has to connect it."""


class EndReason(StrEnum):
    """Why an account ended."""

    REFUSED = "refused"  # the server refused to refresh: signed out, or removed by an admin
    NO_REFRESH = "no_refresh"  # the token expired and the server gave no refresh token
    UNANSWERED = "unanswered"  # refreshes got no answer, so the refresh token may be spent
    REJECTED = "rejected"  # the server rejects a token that was just refreshed


class Outcome(StrEnum):
    """What became of an account."""

    CODE_NEEDED = "code_needed"  # allowed in a browser; the person must type the finish code
    CONNECTED = "connected"
    REFUSED = "refused"  # the person did not allow it, or is no admin
    WANTED = "wanted"  # a run lacked the account of the workspace
    ENDED = "ended"  # the server ended it while it was in use
    DISCONNECTED = "disconnected"


class AdminState(StrEnum):
    """Whether who connected the account of the workspace could still do so."""

    ADMIN = "admin"
    MEMBER = "member"  # an admin no longer
    LEFT = "left"


class Revoked(StrEnum):
    """Whether a server has revoked the tokens of a removed account; never stored."""

    NOW = "now"
    LATER = "later"  # it does not answer, and is asked again for a day
    NEVER = "never"  # it cannot, or refuses


class ConnectFailure(StrEnum):
    """Why a connection could not be made. The words for people are in `bot.features.accounts.page_words`."""

    LINK = "link"  # unknown, old or used
    BROWSER = "browser"  # begun in another browser, or without cookies
    PERSON = "person"  # somebody else than the person it was made for
    PROOF = "proof"  # Slack could not tell who signed in
    FORBIDDEN = "forbidden"  # the settings do not let this person use the server
    CHANGED = "changed"  # the issuer or its endpoints differ from the pinned ones
    SERVER = "server"  # its answers are wrong, incomplete or name forbidden addresses
    UNREACHABLE = "unreachable"  # it does not answer right now
    REFUSED = "refused"  # the person did not allow it
    ADDRESS = "address"  # the pasted text is not the address that the browser was sent to
    ADMIN = "admin"  # only admins connect the account of the workspace
    TAKEN = (
        "taken"  # another admin connected or disconnected the account of the workspace meanwhile
    )


_WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class AccountOwner:
    """A person of a workspace, by their ids in Slack; or the workspace itself, which has one account for
    everybody. Ids of Slack are in upper case, so no person has the name in its place."""

    team: str
    user: str

    @classmethod
    def of(cls, request: Request) -> AccountOwner:
        """Return the person who asked."""
        return cls(request.team, request.user)

    @classmethod
    def workspace(cls, team: str) -> AccountOwner:
        """Return the workspace as the owner of an account."""
        return cls(team, _WORKSPACE)

    @property
    def name(self) -> str:
        """The name under which something is stored of it."""
        return f"{self.team}:{self.user}"

    @property
    def is_workspace(self) -> bool:
        """Whether this is the workspace, and no person."""
        return self.user == _WORKSPACE


OWN = AccountOwner("", "bot")
"""The owner of the bot's own accounts, at which it signs in by itself, in all workspaces."""


@dataclass(frozen=True, slots=True)
class Whom:
    """The names of a person in Slack, for the page that says for whom an account is connected."""

    name: str
    handle: str
    workspace: str


@dataclass(frozen=True, slots=True)
class AccountView:
    """An account as people and code outside this service may see it.

    - `server`, `label`, `host`: the server's name in bot.toml, in words, and its host.
    - `scope`, `wanted`: scopes, separated by spaces: granted, and wanted by the server in addition,
      for a call of the tool `wanted_by`; other tools can go on.
    - `name`: the name of the account at the server, "" if the server does not tell it.
    - `id`: changes with each connection.
    - `connected_at`: seconds since the epoch, 0 without a connection.
    - `by`: the admin who connected the account of the workspace; "" if that was erased.
    """

    server: str
    label: str
    host: str
    state: AccountState = AccountState.NONE
    scope: str = ""
    wanted: str = ""
    wanted_by: str = ""
    reason: EndReason | None = None
    name: str = ""
    id: str = ""
    connected_at: float = 0.0
    by: str = ""
    admin: AdminState = AdminState.ADMIN

    @property
    def usable(self) -> bool:
        """Whether all calls can run on the account, as far as is known."""
        return self.state is AccountState.CONNECTED

    def usable_for(self, tool: str) -> bool:
        """Return whether a call of `tool` can run: it may need more rights than other tools."""
        needs_more = self.state is AccountState.NEEDS_MORE and self.wanted_by != tool
        return self.usable or needs_more


class AccountChange(BaseModel):
    """A change of an account. It is stored until it has been told.

    `approval` is the id of the approval that waits for it, "" for none. `at` is in seconds since
    the epoch. `id` is that of the connection, `name` that of the account at the server. `by` is who
    changed the account of the workspace, or tried to; "" for the server, or a run.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    team: str
    user: str
    server: str
    label: str
    outcome: Outcome
    approval: str = ""
    name: str = ""
    id: str = ""
    at: float
    by: str = ""

    @property
    def owner(self) -> AccountOwner:
        return AccountOwner(self.team, self.user)

    @property
    def key(self) -> str:
        """The name under which the change is stored."""
        parts = (self.team, self.user, self.server, self.outcome, self.id, self.approval)
        return ":".join((*parts, self.by) if self.by else parts)


OnAccountChange = Callable[[AccountChange], Awaitable[None]]
"""Is told of each change at least once; when it raises, it is told again."""


class AccountProblem(ToolError):
    """A call could not be made because of an account. The message is for the model; `cause` is for
    operators, where they have to do something."""

    def __init__(
        self, message: str, *, server: str, state: AccountState, wanted: str = "", cause: str = ""
    ) -> None:
        super().__init__(message)
        self.cause = cause
        self.server = server
        self.state = state
        self.wanted = wanted


class ConnectError(BotError):
    """An account could not be connected. The message is for operators and holds no secret."""

    def __init__(self, why: ConnectFailure, message: str = "") -> None:
        super().__init__(message or why)
        self.why = why


class SignIn(Protocol):
    """A proof of who uses the browser: Sign in with Slack."""

    def address(self, *, team: str, state: str, nonce: str, redirect_uri: str) -> str:
        """Return the address of Slack's page; it sends the browser back to `redirect_uri`."""

    async def person(self, *, code: str, nonce: str, redirect_uri: str) -> AccountOwner:
        """Return who signed in. Raises ConnectError."""


@dataclass(frozen=True, slots=True)
class CodeResult:
    """The result of a typed finish code. `tries_left` is 0 when a new connection is needed."""

    accepted: bool
    tries_left: int = 0


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


_OWN_WORDS = {
    AccountState.CHANGED: "names another issuer than before, and is off until an operator accepts it",
    AccountState.BUSY: "cannot sign the bot in right now",
    AccountState.ENDED: "does not take the bot's client credentials",
}


def own_problem(server: str, state: AccountState, why: str = "") -> AccountProblem:
    """Return the error of a call that could not be made because the bot cannot sign in; `why` is for
    operators and holds no secret."""
    cause = f"{_OWN_WORDS[state]}{f' ({why})' if why else ''}"
    text = f"The MCP server {server} {cause}. Nothing was done."
    return AccountProblem(text, server=server, state=state, cause=cause)


_FOR_ADMINS = (
    "Nothing was done, and calling it again changes nothing. Go on without it, and say in the result that an "
    "admin has to connect {label} in the bot's Home tab; admins are told, too."
)
_WORKSPACE_WORDS = {
    **_WORDS,
    AccountState.NONE: f"Nobody has connected {{label}} for this workspace. {_FOR_ADMINS}",
    AccountState.UNCONFIRMED: f"Nobody has connected {{label}} for this workspace. {_FOR_ADMINS}",
    AccountState.NEEDS_MORE: (
        f"{{label}} wants one more right of the workspace's account for this call. {_FOR_ADMINS}"
    ),
    AccountState.ENDED: f"{{label}} has ended the connection of this workspace. {_FOR_ADMINS}",
}


def problem(
    owner: AccountOwner, server: str, state: AccountState, wanted: str = ""
) -> AccountProblem:
    """Return the error of a call that could not be made because of an account."""
    if owner == OWN:
        return own_problem(server, state)
    words = _WORKSPACE_WORDS if owner.is_workspace else _WORDS
    text = words[state].format(label=label_of(server))
    return AccountProblem(text, server=server, state=state, wanted=wanted)
