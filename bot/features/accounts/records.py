"""Stored records of personal accounts. They hold secrets, and are stored encrypted.

No secret is in the `repr` of a record, so that none reaches a log or a trace with it.
"""

from __future__ import annotations

import time
from hashlib import sha256

from pydantic import BaseModel, ConfigDict, Field

from bot.features.accounts.account import (
    AccountChange,
    AccountOwner,
    AccountState,
    AdminState,
    EndReason,
    Outcome,
    Whom,
)
from bot.mcp.config import label_of

FLOW_SECONDS = 600
"""How long a browser may take at the issuer, and a person to type the finish code."""


def digest_of(secret: str) -> str:
    """Return the digest under which a link, a state or a token is known."""
    return sha256(secret.encode()).hexdigest()


class OAuthEndpoints(BaseModel):
    """Who lets people in to a server, and where. This is pinned when first seen.

    `registration` and `revocation` are "" where the issuer has none.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    issuer: str
    resource: str
    authorization: str
    token: str
    registration: str = ""
    revocation: str = ""


class IssuerPin(BaseModel):
    """The endpoints that somebody trusted, and those that the server names now if they differ.

    Before the first look at a server both are None. After a pin was `lost`, the next look is an
    offer.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    accepted: OAuthEndpoints | None = None
    offered: OAuthEndpoints | None = None
    lost: bool = False

    @property
    def is_off(self) -> bool:
        """Whether the server is off until an admin accepts what it offers."""
        return self.lost or self.offered is not None

    def covers(self, endpoints: OAuthEndpoints) -> bool:
        """Return whether tokens from these endpoints may be used."""
        known = self.accepted
        return known is None or (known.issuer, known.token) == (endpoints.issuer, endpoints.token)


class OAuthClient(BaseModel):
    """The bot as a client of an issuer.

    `expires_at` (seconds since the epoch) is that of the secret.

    `method` is how it authenticates: "none", "client_secret_basic" or "client_secret_post".
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    issuer: str
    id: str
    secret: str = Field(default="", repr=False)
    method: str = "none"
    redirect_uri: str
    scope: str = ""
    expires_at: float = 0.0
    registered_at: float = 0.0


class _Owned(BaseModel):
    """A record of one person and server. Owner and server are part of the record, so that a record
    copied to another key is noticed."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    team: str
    user: str
    server: str

    @property
    def owner(self) -> AccountOwner:
        return AccountOwner(self.team, self.user)


class _Connected(_Owned):
    """A record of one person who connects an account: their own or, with `for_workspace`, that of the
    workspace, in place of its connection with the id `replaces` ("" for none)."""

    for_workspace: bool = False
    replaces: str = ""

    @property
    def account(self) -> AccountOwner:
        """The owner of the account."""
        return AccountOwner.workspace(self.team) if self.for_workspace else self.owner


class AccountRecord(_Connected):
    """The account of a person at a server, or that of the workspace.

    - `state`: CONNECTED, NEEDS_MORE (of `wanted`) or ENDED (for `reason`).
    - `expires_at`: end of the access token, in seconds since the epoch; 0 if it never ends.
    - `lifetime`: seconds for which the access token was valid when it was issued; 0 if unknown.
    - `sent`, `sends`: digest of the refresh token that was sent last, and how many times it was
      sent without an answer.
    - `wanted_by`: the tool that met the server's wish for more.
    - `code`: the finish code, while unconfirmed.
    - `ticket`: digest of the ticket that it was connected with; `approval` is that of the ticket.
    - `by`: the admin who connected that of the workspace, "" once they are erased. Until it is confirmed,
      it is theirs.
    - `admin`: whether that person is still an admin here, or has left; as last seen.
    """

    id: str
    url: str
    endpoints: OAuthEndpoints
    client: OAuthClient
    access: str = Field(repr=False)
    refresh: str = Field(default="", repr=False)
    expires_at: float = 0.0
    lifetime: float = 0.0
    scope: str = ""
    name: str = ""
    state: AccountState = AccountState.CONNECTED
    reason: EndReason | None = None
    wanted: str = ""
    wanted_by: str = ""
    connected_at: float
    sent: str = ""
    sends: int = 0
    code: str = Field(default="", repr=False)
    ticket: str = ""
    approval: str = ""
    by: str = ""
    admin: AdminState = AdminState.ADMIN

    def change(self, outcome: Outcome) -> AccountChange:
        """Return the change of the account, to be told."""
        return AccountChange(
            team=self.team,
            user=self.user,
            server=self.server,
            label=label_of(self.server),
            outcome=outcome,
            approval=self.approval,
            name=self.name,
            id=self.id,
            at=time.time(),
            by=self.by if outcome is Outcome.CONNECTED else "",
        )


class Revocation(_Owned):
    """The tokens of a removed account, until their issuer has revoked them.

    Those of somebody who was erased have neither `team` nor `user`. It is tried again at `next_at`,
    and no longer after `until`, both in seconds since the epoch; `tries` counts the attempts after
    the first. `id` is that of the connection.
    """

    id: str
    endpoints: OAuthEndpoints
    client: OAuthClient
    access: str = Field(default="", repr=False)
    refresh: str = Field(default="", repr=False)
    until: float
    next_at: float
    tries: int = 0

    @property
    def name(self) -> str:
        """The name under which it is stored."""
        return f"{self.team}:{self.user}:{self.id}:{self.server}"


class Ticket(_Connected):
    """The right to connect an account for its owner, in the link of a button in Slack.

    `presses` counts how often somebody went on from our page; they may until `until`, in seconds
    since the epoch (0 in tickets of earlier releases: as long as they are stored). A ticket is used
    up by success. While it is stored, a browser that has left with it may come back.
    """

    whom: Whom
    until: float = 0.0
    approval: str = ""
    presses: int = 0


class Flow(_Connected):
    """A browser on its way through the issuer's pages. It is stored under the digest of `state`.

    `browser` is the value of the cookie that this browser got. `proved` says that Slack has told
    who uses the browser. `ticket` is the digest of its ticket.
    """

    ticket: str
    browser: str = Field(repr=False)
    verifier: str = Field(repr=False)
    endpoints: OAuthEndpoints
    iss_required: bool = False
    client: OAuthClient
    url: str
    scope: str = ""
    whom: Whom
    approval: str = ""
    proved: bool = False


class Proof(_Owned):
    """A browser on its way through Sign in with Slack, before the issuer's pages."""

    ticket: str = Field(repr=False)
    browser: str = Field(repr=False)
    nonce: str = Field(repr=False)
