"""The way of a browser to an account: our page, the issuer's pages, and back."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from mcp.client.auth import OAuthFlowError, PKCEParameters
from mcp.client.auth import utils as oauth
from mcp.shared.auth import OAuthMetadata

from bot.core.errors import CorruptValue
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.features.accounts.account import (
    AccountChange,
    AccountOwner,
    AccountState,
    ConnectError,
    ConnectFailure,
    Outcome,
    Whom,
)
from bot.features.accounts.ending import Revocations
from bot.features.accounts.oauth.access import refreshed_fields
from bot.features.accounts.oauth.addresses import PublicAddress
from bot.features.accounts.oauth.clients import Clients
from bot.features.accounts.oauth.discovery import IssuerPins, bounded_scopes, discover
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.oauth.tokens import GrantEnded, exchange
from bot.features.accounts.records import FLOW_SECONDS, AccountRecord, Flow, Ticket, digest_of
from bot.features.accounts.store import AccountStore
from bot.mcp.config import McpServer, label_of
from bot.text.redaction import remember_secret

CODE_TRIES = 5
"""How often a finish code may be typed."""

_REGISTER_ANEW = 2
"""The press of one ticket's button at which the bot registers again: the issuer may have forgotten
it, which shows only on the issuer's own pages."""


@dataclass(frozen=True, slots=True)
class Departure:
    """A browser that may leave for the issuer: to `url`, with the cookie `cookie` = `browser`."""

    url: str
    cookie: str
    browser: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a browser's return came to. `code` is the finish code, "" if none is needed."""

    outcome: Outcome
    whom: Whom
    change: AccountChange
    code: str = ""


@dataclass(frozen=True, slots=True)
class ConnectFlow:
    """Connects accounts. One process may begin a flow and another finish it."""

    servers: Mapping[str, McpServer]
    storage: AccountStore
    pins: IssuerPins
    clients: Clients
    guard_of: Callable[[McpServer], Guard]
    revocations: Revocations
    is_admin: Callable[[AccountOwner], Awaitable[bool]]

    @property
    def address(self) -> PublicAddress:
        return self.clients.address

    def cookie_of(self, state: str) -> str:
        """Return the name of the cookie of one flow: several may be under way in one browser."""
        return self.address.cookie(f"connect-{digest_of(state)[:12]}")

    async def begin(self, token: str, *, proved: bool) -> Departure:
        """Return where the browser that has the ticket `token` goes. Raises ConnectError.

        `proved` says that Slack has told that the person of the ticket uses this browser.
        """
        ticket = await self.ticket(token)
        server = self.servers[ticket.server]
        guard = self.guard_of(server)
        found = await discover(server, guard)
        await self.pins.check(ticket.server, found.endpoints)
        await self.storage.count_press(token, ticket)
        client = await self.clients.client_of(
            server, found, guard, anew=ticket.presses + 1 == _REGISTER_ANEW
        )
        scope = await self._scope(ticket, found.scope)
        pkce = PKCEParameters.generate()
        state, browser = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        flow = Flow(
            team=ticket.team,
            user=ticket.user,
            server=ticket.server,
            ticket=digest_of(token),
            browser=browser,
            verifier=pkce.code_verifier,
            endpoints=found.endpoints,
            iss_required=found.iss_required,
            client=client,
            url=server.url or "",
            scope=scope,
            whom=ticket.whom,
            approval=ticket.approval,
            proved=proved,
            for_workspace=ticket.for_workspace,
            replaces=ticket.replaces,
        )
        await self.storage.save_flow(state, flow)
        asked = {
            "response_type": "code",
            "client_id": client.id,
            "redirect_uri": client.redirect_uri,
            "state": state,
            "code_challenge": pkce.code_challenge,
            "code_challenge_method": "S256",
            "resource": found.endpoints.resource,
        }
        asked |= {"scope": scope} if scope else {}
        return Departure(
            _with_query(found.endpoints.authorization, asked), self.cookie_of(state), browser
        )

    async def finish(self, query: Mapping[str, str], cookies: Mapping[str, str]) -> Arrival:
        """Finish the flow of a browser that came back. Raises ConnectError."""
        state = query.get("state", "")
        flow = await self._take(state)
        if not secrets.compare_digest(
            cookies.get(self.cookie_of(state), "").encode(), flow.browser.encode()
        ):
            raise ConnectError(ConnectFailure.BROWSER, "another browser began this")
        return await self._finish(flow, query, is_person=flow.proved)

    async def finish_pasted(self, owner: AccountOwner, pasted: str) -> Arrival:
        """Finish a flow with the address that the issuer sent the browser to, pasted in Slack.

        Slack has told who pasted it, in place of the cookie. Raises ConnectError.
        """
        address = pasted.strip().strip("<>")
        try:
            at = urlsplit(address)
        except ValueError:
            raise ConnectError(ConnectFailure.ADDRESS, "not an address") from None
        is_ours = urlunsplit((at.scheme, at.netloc, at.path, "", "")) == self.address.redirect_uri
        query = dict(parse_qsl(at.query))
        if not is_ours or not self.address.is_loopback or "state" not in query:
            raise ConnectError(ConnectFailure.ADDRESS, "not the address of the callback")
        flow = await self._take(query["state"])
        if flow.owner != owner:
            raise ConnectError(ConnectFailure.PERSON, "somebody else began this")
        return await self._finish(flow, query, is_person=True)

    async def ticket(self, token: str) -> Ticket:
        """Return the ticket of a link. Raises ConnectError."""
        try:
            ticket = await self.storage.ticket(token)
        except CorruptValue:
            ticket = None
        is_late = ticket is not None and 0 < ticket.until <= time.time()
        if ticket is None or is_late or ticket.server not in self.servers:
            raise ConnectError(ConnectFailure.LINK, "the link is unknown, old or used")
        await self.check_right(ticket)
        return ticket

    async def check_right(self, of: Ticket | Flow | AccountRecord) -> None:
        """Raise ConnectError unless the person may connect this account now."""
        server = self.servers[of.server]
        if of.for_workspace != server.is_of_workspace:  # the settings have changed meanwhile
            raise ConnectError(ConnectFailure.LINK, "it was made for an account of another kind")
        if not of.for_workspace:
            if not server.is_for(of.user):
                raise ConnectError(ConnectFailure.FORBIDDEN, "the settings name other people")
        elif not await self.is_admin(of.owner):
            await self.storage.note(_refused_change(of))
            raise ConnectError(ConnectFailure.ADMIN, "who connects for the workspace is no admin")

    async def confirm(self, record: AccountRecord, code: str) -> tuple[AccountChange | None, int]:
        """Compare a typed finish code. Return the change if it is right, and the tries left."""
        left = CODE_TRIES - await self.storage.count_try(record)
        is_late = time.time() > record.connected_at + FLOW_SECONDS
        if left >= 0 and not is_late:
            typed = "".join(character for character in code if character.isdigit())
            if secrets.compare_digest(typed.encode(), record.code.encode()):
                return await self._connect(record), 0
        if left <= 0 or is_late:
            revocation = await self.revocations.store(record, named=False)
            await self.storage.forget_unconfirmed(record.owner, record.server)
            await self.revocations.attempt(revocation)
            return None, 0
        return None, left

    async def _take(self, state: str) -> Flow:
        try:
            flow = await self.storage.take_flow(state, Flow) if state else None
        except CorruptValue:
            flow = None
        if flow is None or flow.server not in self.servers:
            raise ConnectError(ConnectFailure.LINK, "the link is unknown, old or used")
        return flow

    async def _finish(self, flow: Flow, query: Mapping[str, str], *, is_person: bool) -> Arrival:
        server = self.servers[flow.server]
        await self.check_right(flow)
        if server.url != flow.url or (await self.pins.load(flow.server)).is_off:
            raise ConnectError(ConnectFailure.CHANGED, "the server has changed meanwhile")
        try:
            oauth.validate_authorization_response_iss(query.get("iss"), _metadata(flow))
        except OAuthFlowError:
            raise ConnectError(ConnectFailure.SERVER, "another issuer has answered") from None
        code = query.get("code", "")
        if not code:
            return await self._refused(flow, query.get("error", ""))
        await self._check_ticket(flow)
        failpoint("account-exchanging")
        try:
            guard = self.guard_of(server)
            tokens = await exchange(flow.endpoints, flow.client, code, flow.verifier, guard)
        except GrantEnded as ended:
            if ended.error == "invalid_client":
                await self.storage.forget_client(flow.client.issuer)
            raise ConnectError(ConnectFailure.SERVER, f"the issuer says {ended.error}") from None
        record = AccountRecord(
            team=flow.team,
            user=flow.user,
            server=flow.server,
            id=new_id("acct"),
            url=flow.url,
            endpoints=flow.endpoints,
            client=flow.client,
            access="",
            scope=flow.scope,
            name=tokens.name,
            connected_at=time.time(),
            ticket=flow.ticket,
            approval=flow.approval,
            for_workspace=flow.for_workspace,
            replaces=flow.replaces,
        )
        record = record.model_copy(update=refreshed_fields(record, tokens))
        for secret in (record.access, record.refresh):
            remember_secret(secret)
        failpoint("account-exchanged")
        try:
            await self._check_ticket(flow)  # again, as the issuer may have been slow
        except ConnectError:
            await self.revocations.revoke(record)
            raise
        if is_person:
            return Arrival(Outcome.CONNECTED, flow.whom, await self._connect(record))
        finish_code = f"{secrets.randbelow(10**6):06d}"
        change = record.change(Outcome.CODE_NEEDED)
        await self.storage.save_unconfirmed(record.model_copy(update={"code": finish_code}), change)
        return Arrival(Outcome.CODE_NEEDED, flow.whom, change, finish_code)

    async def _check_ticket(self, flow: Flow) -> None:
        """Raise ConnectError when the flow's ticket was used meanwhile, or its owner was erased."""
        if not await self.storage.has_ticket(flow.ticket):
            raise ConnectError(ConnectFailure.LINK, "the ticket was used or erased meanwhile")

    async def _connect(self, record: AccountRecord) -> AccountChange:
        """Store a confirmed account. Raises ConnectError for that of a workspace which another admin has
        connected or disconnected meanwhile: nobody's tokens are replaced unseen."""
        by = {"user": record.account.user, "by": record.user} if record.for_workspace else {}
        record = record.model_copy(update=by)
        change = record.change(Outcome.CONNECTED)
        connected = record.model_copy(update={"code": "", "approval": ""})
        if not record.for_workspace:
            await self.storage.connect(connected, change)
            return change
        async with self.storage.connecting(record.team, record.server) as may_connect:
            before = await self._connection(record.account, record.server)
            if may_connect and before == record.replaces:
                await self.storage.connect(connected, change)
                return change
        await self.storage.forget_unconfirmed(AccountOwner(record.team, record.by), record.server)
        await self.revocations.revoke(record)
        raise ConnectError(ConnectFailure.TAKEN, "the workspace's account was changed meanwhile")

    async def _connection(self, owner: AccountOwner, server: str) -> str:
        """Return the id of the connection that is stored; "" for none that can be opened."""
        try:
            stored = await self.storage.load(owner, server)
        except CorruptValue:
            return ""
        return stored.value.id if stored else ""

    async def _refused(self, flow: Flow, error: str) -> Arrival:
        """Handle that the issuer sent the browser back without a code."""
        if error != "access_denied":
            shown = error if error.replace("_", "").isalpha() and len(error) < 60 else "no code"
            raise ConnectError(ConnectFailure.SERVER, f"the issuer says {shown}")
        change = _refused_change(flow)
        await self._want_no_more(flow)
        await self.storage.forget_ticket(flow.ticket)
        await self.storage.note(change)
        return Arrival(Outcome.REFUSED, flow.whom, change)

    async def _want_no_more(self, flow: Flow) -> None:
        """Forget the extra rights that the person has refused. The account stays usable."""
        stored = await self.storage.load(flow.account, flow.server)
        if stored and stored.value.state is AccountState.NEEDS_MORE:
            as_before = {"state": AccountState.CONNECTED, "wanted": "", "wanted_by": ""}
            await self.storage.replace(stored, stored.value.model_copy(update=as_before))

    async def _scope(self, ticket: Ticket, named: str) -> str:
        """Return the scopes to ask for: what there was, what was wanted, what the server names."""
        try:
            stored = await self.storage.load(ticket.account, ticket.server)
        except CorruptValue:
            stored = None
        had = f"{stored.value.scope} {stored.value.wanted}" if stored else ""
        return bounded_scopes(oauth.union_scopes(had.strip(), named) or "")


def _refused_change(of: Ticket | Flow | AccountRecord) -> AccountChange:
    return AccountChange(
        team=of.team,
        user=of.account.user,
        server=of.server,
        label=label_of(of.server),
        outcome=Outcome.REFUSED,
        approval=of.approval,
        at=time.time(),
        by=of.user if of.for_workspace else "",
    )


def _metadata(flow: Flow) -> OAuthMetadata:
    """Return what the SDK needs of the issuer to compare the `iss` of a response."""
    return OAuthMetadata.model_validate(
        {
            "issuer": flow.endpoints.issuer,
            "authorization_endpoint": flow.endpoints.authorization,
            "token_endpoint": flow.endpoints.token,
            "authorization_response_iss_parameter_supported": flow.iss_required,
        }
    )


def _with_query(url: str, more: Mapping[str, str]) -> str:
    at = urlsplit(url)
    query = "&".join(filter(None, (at.query, urlencode(more))))
    return urlunsplit((at.scheme, at.netloc, at.path, query, ""))
