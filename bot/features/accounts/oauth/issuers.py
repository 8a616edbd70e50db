"""Pins of issuers: who lets people in to a server, as first seen or as an admin accepted."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from bot.core.errors import CorruptValue
from bot.features.accounts.account import ConnectError, ConnectFailure
from bot.features.accounts.records import IssuerPin, OAuthEndpoints
from bot.mcp.pins import Pins

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IssuerPins:
    """The pins of all servers. While a server names other endpoints than pinned, it is off."""

    pins: Pins

    async def load(self, server: str) -> IssuerPin:
        """Return the pin of a server. A damaged pin is as one that was never accepted."""
        try:
            return await self.pins.load(issuer_name(server), IssuerPin) or IssuerPin()
        except CorruptValue:
            log.exception("The pinned issuer of MCP server %s is lost", server)
            lost = IssuerPin(lost=True)
            await self.pins.save(issuer_name(server), lost)
            return lost

    async def check(self, server: str, found: OAuthEndpoints) -> None:
        """Compare what a server names now with its pin, and store it if it is new.

        Raises ConnectError when it differs.
        """
        await self.load(server)  # a damaged pin is replaced
        offered: OAuthEndpoints | None = None

        def compared(before: IssuerPin | None) -> IssuerPin | None:
            nonlocal offered
            pin = before or IssuerPin()
            if pin.accepted is None and not pin.lost:
                offered = None
                return IssuerPin(accepted=found)
            offered = None if found == pin.accepted else found
            return pin.model_copy(update={"offered": offered}) if offered != pin.offered else None

        await self.pins.change(issuer_name(server), IssuerPin, compared)
        if offered is None:
            return
        log.warning(
            "MCP server %s names another issuer or other endpoints: off until `bot mcp --accept %s`",
            server,
            server,
        )
        raise ConnectError(ConnectFailure.CHANGED, f"the issuer of {server} has changed")

    async def accept(self, server: str) -> IssuerPin:
        """Accept what the server offered last. Return the pin as it was."""
        pin = await self.load(server)

        def accepted(now: IssuerPin | None) -> IssuerPin | None:
            nonlocal pin
            pin = now or IssuerPin()
            return IssuerPin(accepted=pin.offered) if pin.offered else None

        await self.pins.change(issuer_name(server), IssuerPin, accepted)
        return pin


def issuer_name(server: str) -> str:
    """Return the storage name of a server's issuer."""
    return f"{server}/issuer"
