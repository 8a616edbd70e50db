"""Connecting an account: a link in Slack, our page, a proof of the person, the issuer, and back."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping
from urllib.parse import urlencode

from bot.core.errors import CorruptValue
from bot.features.accounts.account import (
    AccountOwner,
    CodeResult,
    ConnectError,
    ConnectFailure,
    Outcome,
    SignIn,
    Whom,
)
from bot.features.accounts.ending import ChangeOutbox
from bot.features.accounts.oauth.addresses import CONNECT, PROOF
from bot.features.accounts.oauth.flow import Arrival, ConnectFlow, Departure
from bot.features.accounts.records import FLOW_SECONDS, Proof, Ticket

log = logging.getLogger(__name__)


class Connecting:
    """Lets people connect accounts.

    With `sign_in`, Slack proves who uses the browser; without it, people type a finish code in
    Slack.
    """

    def __init__(self, flow: ConnectFlow, outbox: ChangeOutbox) -> None:
        self.sign_in: SignIn | None = None
        self._flow = flow
        self._storage = flow.storage
        self._outbox = outbox

    async def ticket(
        self,
        owner: AccountOwner,
        server: str,
        whom: Whom,
        *,
        approval: str = "",
        seconds: float,
        replaces: str = "",
    ) -> str:
        """Return a link to our page, from which the owner goes on to the server.

        Show it to the owner only. It is used up by a connection, not by being opened. At a server with
        one account of the workspace the owner must be an admin, who connects that in place of the
        connection `replaces`.
        """
        token = secrets.token_urlsafe(24)
        ticket = Ticket(
            team=owner.team,
            user=owner.user,
            server=server,
            whom=whom,
            until=time.time() + seconds,
            approval=approval,
            for_workspace=self._flow.servers[server].is_of_workspace,
            replaces=replaces,
        )
        await self._storage.save_ticket(token, ticket, max(1, int(seconds)) + FLOW_SECONDS)
        return f"{self._flow.address.url}{CONNECT}?{urlencode({'ticket': token})}"

    async def opened(self, token: str) -> Ticket:
        """Return the ticket of a link. Raises ConnectError."""
        return await self._flow.ticket(token)

    async def depart(self, token: str) -> Departure:
        """Return where a browser goes from our page: to Slack for a proof, or to the issuer.

        Raises ConnectError.
        """
        if self.sign_in is None:
            return await self._flow.begin(token, proved=False)
        ticket = await self._flow.ticket(token)
        state, nonce, browser = (secrets.token_urlsafe(32) for _ in range(3))
        proof = Proof(
            team=ticket.team,
            user=ticket.user,
            server=ticket.server,
            ticket=token,
            browser=browser,
            nonce=nonce,
        )
        await self._storage.save_flow(state, proof)
        url = self.sign_in.address(
            team=ticket.team, state=state, nonce=nonce, redirect_uri=self._proof_uri
        )
        return Departure(url, self._flow.cookie_of(state), browser)

    async def prove(self, query: Mapping[str, str], cookies: Mapping[str, str]) -> Departure:
        """Return where a browser goes that comes back from Slack. Raises ConnectError.

        It goes on only if the person who signed in is the one whom the ticket was made for.
        """
        state = query.get("state", "")
        try:
            proof = await self._storage.take_flow(state, Proof) if state else None
        except CorruptValue:
            proof = None
        if proof is None or self.sign_in is None:
            raise ConnectError(ConnectFailure.LINK, "the link is unknown, old or used")
        cookie = cookies.get(self._flow.cookie_of(state), "")
        if not secrets.compare_digest(cookie.encode(), proof.browser.encode()):
            raise ConnectError(ConnectFailure.BROWSER, "another browser began this")
        if not (code := query.get("code", "")):
            raise ConnectError(ConnectFailure.PROOF, "nobody signed in")
        person = await self.sign_in.person(
            code=code, nonce=proof.nonce, redirect_uri=self._proof_uri
        )
        if person != proof.owner:
            raise ConnectError(ConnectFailure.PERSON, "somebody else signed in")
        return await self._flow.begin(proof.ticket, proved=True)

    async def arrive(self, query: Mapping[str, str], cookies: Mapping[str, str]) -> Arrival:
        """Finish the flow of a browser that comes back from the issuer. Raises ConnectError."""
        arrival = await self._flow.finish(query, cookies)
        self._outbox.tell_soon(arrival.change)
        return arrival

    async def finish_pasted(self, owner: AccountOwner, address: str) -> None:
        """Finish a flow with the address that the issuer sent the browser to. Raises ConnectError.

        The caller must know that `owner` pasted it.
        """
        arrival = await self._flow.finish_pasted(owner, address)
        self._outbox.tell_soon(arrival.change)
        if arrival.outcome is Outcome.REFUSED:
            raise ConnectError(ConnectFailure.REFUSED, "the person did not allow it")

    async def confirm(self, owner: AccountOwner, server: str, code: str) -> CodeResult:
        """Confirm a connection by the code that its last page shows; the caller knows the owner."""
        record = await self._storage.unconfirmed(owner, server)
        if record is None or server not in self._flow.servers:
            return CodeResult(accepted=False)
        try:
            await self._flow.check_right(record)
            change, left = await self._flow.confirm(record, code)
        except ConnectError as error:
            log.warning("No account was connected: %s", error)
            return CodeResult(accepted=False)
        if change:
            self._outbox.tell_soon(change)
        return CodeResult(accepted=change is not None, tries_left=left)

    @property
    def _proof_uri(self) -> str:
        return f"{self._flow.address.url}{PROOF}"
