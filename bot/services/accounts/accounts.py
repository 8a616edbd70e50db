"""Personal accounts at MCP servers, as the rest of the bot uses them."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from bot.core.account_records import FLOW_SECONDS, AccountRecord, Proof, Ticket
from bot.core.accounts import (
    AccountChange,
    AccountOwner,
    AccountProblem,
    AccountState,
    AccountView,
    CodeResult,
    ConnectError,
    ConnectFailure,
    OnAccountChange,
    Outcome,
    SignIn,
    Whom,
)
from bot.core.errors import CorruptValue
from bot.services.accounts.access import AccountAccess, change_of
from bot.services.accounts.addresses import CONNECT, PROOF, PublicAddress
from bot.services.accounts.clients import Clients, client_document
from bot.services.accounts.flow import Arrival, ConnectFlow, Departure, cookie_of
from bot.services.accounts.guard import Guard
from bot.services.accounts.problems import label_of
from bot.services.accounts.storage import AccountStorage
from bot.services.mcp.config import McpServer
from bot.services.mcp.issuers import IssuerPins
from bot.services.mcp.pins import Pins

log = logging.getLogger(__name__)

_STOP_SECONDS = 10.0  # for changes that are being told when the process ends
_TELL_SECONDS = 60.0  # between two looks for changes that were not told


class Accounts:
    """The accounts of people at the servers with `account = "person"`.

    `changes` is called for each change of an account, at least once, in a process that runs
    `tell_changes`. With `sign_in`, Slack proves who uses the browser; without it, people type a
    finish code in Slack.
    """

    def __init__(
        self,
        servers: Mapping[str, McpServer],
        storage: AccountStorage,
        pins: Pins,
        address: PublicAddress,
        guard_of: Callable[[McpServer], Guard] = Guard.of,
    ) -> None:
        self.address = address
        self.changes: OnAccountChange | None = None
        self._telling: set[asyncio.Task[None]] = set()
        self.sign_in: SignIn | None = None
        self.issuers = IssuerPins(pins)
        self._servers = dict(servers)
        self._storage = storage
        self.calls = AccountAccess(self._servers, storage, self.issuers, guard_of)
        self._flow = ConnectFlow(
            self._servers,
            storage,
            self.issuers,
            Clients(storage, address),
            guard_of,
        )

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers, in the order of bot.toml."""
        return tuple(self._servers)

    @property
    def takes_pasted(self) -> bool:
        """Whether people may paste the address that their browser could not open."""
        return self.address.is_loopback

    def is_personal(self, server: str) -> bool:
        """Return whether each person has an account of their own at this server."""
        return server in self._servers

    def label(self, server: str) -> str:
        """Return the name of a server for people."""
        return label_of(server)

    def may_use(self, server: str, user: str) -> bool:
        """Return whether the settings let a person use the server."""
        return self._servers[server].is_for(user)

    def client_document(self) -> dict[str, Any] | None:
        """Return the bot's description of itself for issuers; None without a public address."""
        return client_document(self.address) if self.address.client_url else None

    async def view(self, owner: AccountOwner, server: str) -> AccountView:
        """Return the state of a person's account."""
        host = urlsplit(self._servers[server].url or "").netloc
        view = AccountView(server, label_of(server), host)
        try:
            record = (await self.calls.usable(owner, server)).value
        except AccountProblem as problem:
            if problem.state is AccountState.NONE and await self._unconfirmed(owner, server):
                return replace(view, state=AccountState.UNCONFIRMED)
            kept = await self._load(owner, server)
            view = _of_record(view, kept) if kept else view
            return replace(view, state=problem.state)
        return _of_record(view, record)

    async def views(self, owner: AccountOwner) -> tuple[AccountView, ...]:
        """Return the state of a person's accounts at all servers that they may use."""
        names = [name for name in self._servers if self.may_use(name, owner.user)]
        return tuple([await self.view(owner, name) for name in names])

    # Connecting.

    async def ticket(
        self, owner: AccountOwner, server: str, whom: Whom, *, approval: str = "", seconds: float
    ) -> str:
        """Return a link to our page, from which the owner goes on to the server.

        Show it to the owner only. It is used up by a connection, not by being opened.
        """
        token = secrets.token_urlsafe(24)
        ticket = Ticket(
            team=owner.team,
            user=owner.user,
            server=server,
            whom=whom,
            until=time.time() + seconds,
            approval=approval,
        )
        await self._storage.save_ticket(token, ticket, max(1, int(seconds)) + FLOW_SECONDS)
        return f"{self.address.url}{CONNECT}?{urlencode({'ticket': token})}"

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
        return Departure(url, cookie_of(state), browser)

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
        cookie = cookies.get(cookie_of(state), "")
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
        self._tell_soon(arrival.change)
        return arrival

    async def finish_pasted(self, owner: AccountOwner, address: str) -> AccountView:
        """Finish a flow with the address that the issuer sent the browser to. Raises ConnectError.

        The caller must know that `owner` pasted it.
        """
        arrival = await self._flow.finish_pasted(owner, address)
        self._tell_soon(arrival.change)
        if arrival.outcome is Outcome.REFUSED:
            raise ConnectError(ConnectFailure.REFUSED, "the person did not allow it")
        return await self.view(owner, arrival.change.server)

    async def confirm(self, owner: AccountOwner, server: str, code: str) -> CodeResult:
        """Confirm a connection by the code that its last page shows; the caller knows the owner."""
        record = await self._unconfirmed(owner, server)
        if record is None or not self.may_use(server, owner.user):
            return CodeResult(accepted=False)
        change, left = await self._flow.confirm(record, code)
        if change:
            self._tell_soon(change)
        return CodeResult(accepted=change is not None, tries_left=left)

    # Ending.

    async def disconnect(self, owner: AccountOwner, server: str, *, id: str = "") -> bool:
        """Delete an account and revoke its tokens. Return whether the server has revoked them.

        With `id`, do so only if that is still the current connection.
        """
        unconfirmed = await self._unconfirmed(owner, server)
        if unconfirmed and id in ("", unconfirmed.id):
            await self._storage.forget_unconfirmed(owner, server)
            await self._flow.revoke(unconfirmed)
        try:
            kept = await self._storage.load(owner, server)
        except CorruptValue:
            await self._storage.discard(owner, server)
            return False
        if kept is None or id not in ("", kept.value.id):
            return False
        change = change_of(kept.value, Outcome.DISCONNECTED)
        if not await self._storage.remove(kept, change):  # just refreshed or replaced
            return await self.disconnect(owner, server, id=kept.value.id)
        self._tell_soon(change)
        return await self._flow.revoke(kept.value)

    async def erase(self, owner: AccountOwner) -> int:
        """Delete everything about a person's accounts and revoke the tokens.

        Return how many accounts there were.
        """
        records = await self._storage.remove_all(owner)
        await asyncio.gather(*(self._flow.revoke(each) for each in records))
        return len(records)

    async def erase_team(self, team: str) -> int:
        """Do the same for everybody of a workspace."""
        return sum([await self.erase(each) for each in await self._storage.owners(team)])

    # Telling.

    async def untold(self) -> list[AccountChange]:
        """Return the changes that nobody was told of yet, oldest first."""
        return await self._storage.changes()

    async def tell_changes(self) -> None:
        """Tell changes that no process has told, for ever: those of workers, and after crashes."""
        while True:
            try:
                for change in await self.untold():
                    await self._tell(change)
            except Exception:
                log.exception("Changes of accounts are told later")
            await asyncio.sleep(_TELL_SECONDS)

    def _tell_soon(self, change: AccountChange) -> None:
        """Tell a change in a task of its own, so that no browser or Slack request waits for it."""
        task = asyncio.create_task(self._tell(change), name="change of an account")
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def _tell(self, change: AccountChange) -> None:
        """Tell a change, if this process does that. When it fails, it is told again later."""
        if self.changes is None:
            return
        try:
            async with self._storage.telling(change) as may_tell:
                if may_tell:
                    await self.changes(change)
                    await self._storage.told(change)
        except Exception:
            log.exception("A change of an account at %s is told later", change.server)

    async def settled(self) -> None:
        """Wait until the changes that this process has made are told."""
        if self._telling:
            await asyncio.wait(self._telling)

    async def stop_telling(self) -> None:
        """Tell no more changes; what takes long is cut off, and told again by another process."""
        self.changes = None
        tasks = set(self._telling)
        if tasks:
            await asyncio.wait(tasks, timeout=_STOP_SECONDS)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def close(self) -> None:
        """Wait for refreshes under way, and tell no more changes."""
        await self.calls.close()
        await self.stop_telling()

    @property
    def _proof_uri(self) -> str:
        return f"{self.address.url}{PROOF}"

    async def _load(self, owner: AccountOwner, server: str) -> AccountRecord | None:
        try:
            kept = await self._storage.load(owner, server)
        except CorruptValue:
            return None
        return kept.value if kept else None

    async def _unconfirmed(self, owner: AccountOwner, server: str) -> AccountRecord | None:
        try:
            return await self._storage.unconfirmed(owner, server)
        except CorruptValue:
            return None


def _of_record(view: AccountView, record: AccountRecord) -> AccountView:
    return replace(
        view,
        state=record.state,
        scope=record.scope,
        wanted=record.wanted,
        wanted_by=record.wanted_by,
        reason=record.reason,
        name=record.name,
        id=record.id,
        connected_at=record.connected_at,
    )
