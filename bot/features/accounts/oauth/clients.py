"""The bot as a client of an issuer: configured, known by address, or registered (RFC 7591)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from mcp.client.auth import OAuthRegistrationError
from mcp.client.auth import utils as oauth
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

from bot.features.accounts.account import ConnectError, ConnectFailure
from bot.features.accounts.oauth.addresses import PublicAddress
from bot.features.accounts.oauth.discovery import Discovered
from bot.features.accounts.oauth.guard import Guard
from bot.features.accounts.records import OAuthClient
from bot.features.accounts.store import AccountStore
from bot.mcp.config import McpServer

NAME = "Slack answer bot"

_METHODS: tuple[Literal["none", "client_secret_post", "client_secret_basic"], ...] = (
    "none",
    "client_secret_post",
    "client_secret_basic",
)
"""How the bot can authenticate, best first: with PKCE a public client needs no secret."""


def description(
    address: PublicAddress,
    scope: str = "",
    method: Literal["none", "client_secret_post", "client_secret_basic"] = "none",
) -> OAuthClientMetadata:
    """Return the bot's description of itself for issuers."""
    return OAuthClientMetadata(
        redirect_uris=[AnyUrl(address.redirect_uri)],
        client_name=NAME,
        application_type="native" if address.is_loopback else "web",
        token_endpoint_auth_method=method,
        scope=scope or None,
    )


def client_document(address: PublicAddress) -> dict[str, Any]:
    """Return what the bot's `client_url` answers: its client id metadata document."""
    described = description(address).model_dump(mode="json", by_alias=True, exclude_none=True)
    return {"client_id": address.client_url, "client_uri": address.url, **described}


@dataclass(frozen=True, slots=True)
class Clients:
    """Finds the bot's client record for an issuer."""

    storage: AccountStore
    address: PublicAddress

    async def client_of(
        self, server: McpServer, found: Discovered, guard: Guard, *, anew: bool
    ) -> OAuthClient:
        """Return the client to connect with. With `anew`, register again where the bot registered.

        Raises ConnectError when the issuer does not take the bot.
        """
        issuer = found.endpoints.issuer
        if server.oauth.client_id:
            return configured_client(server, found, self.address.redirect_uri)
        if found.takes_client_urls and self.address.client_url:
            return OAuthClient(
                issuer=issuer, id=self.address.client_url, redirect_uri=self.address.redirect_uri
            )
        known = await self.storage.client(issuer)
        if known and not anew and self._is_valid(known, found):
            return known
        client = await self._register(found, guard)
        await self.storage.save_client(client)
        return client

    def _is_valid(self, known: OAuthClient, found: Discovered) -> bool:
        """Return whether a registration is for this address, not expired, and for all scopes."""
        is_current = not known.expires_at or time.time() < known.expires_at - 60
        has_scopes = set(found.all_scopes.split()) <= set(known.scope.split())
        return known.redirect_uri == self.address.redirect_uri and is_current and has_scopes

    async def _register(self, found: Discovered, guard: Guard) -> OAuthClient:
        """Register the bot, for all scopes: some servers refuse later what was not named then."""
        endpoints = found.endpoints
        if not endpoints.registration:
            raise ConnectError(
                ConnectFailure.SERVER,
                f"{urlsplit(endpoints.issuer).netloc} takes no new clients: register the bot there by "
                "hand, and set client_id under [mcpServers.NAME.oauth]",
            )
        method = next((each for each in _METHODS if each in found.methods), _METHODS[0])
        scope = found.all_scopes or found.scope
        request = oauth.create_client_registration_request(
            None, description(self.address, scope, method), endpoints.issuer
        )
        answer = await guard.post(
            endpoints.registration,
            content=request.content,
            headers={"Content-Type": "application/json"},
        )
        try:
            client = await oauth.handle_registration_response(answer)
            client = client.model_copy(
                update={"token_endpoint_auth_method": client.token_endpoint_auth_method or method}
            )
            check_registration_usable(client)
        except OAuthRegistrationError:  # its text quotes the server
            raise ConnectError(
                ConnectFailure.SERVER,
                f"{urlsplit(endpoints.issuer).netloc} did not register the bot "
                f"(HTTP {answer.status_code})",
            ) from None
        return OAuthClient(
            issuer=endpoints.issuer,
            id=client.client_id,
            secret=client.client_secret or "",
            method=client.token_endpoint_auth_method or "none",
            redirect_uri=self.address.redirect_uri,
            scope=scope,
            expires_at=float(client.client_secret_expires_at or 0),
            registered_at=time.time(),
        )


def configured_client(server: McpServer, found: Discovered, redirect_uri: str = "") -> OAuthClient:
    """Return the client that the settings of a server name."""
    given = server.oauth.client_secret
    method = "none"
    if given:
        # Every issuer must know the second; not all agree on its details.
        posts = "client_secret_post" in found.methods
        method = "client_secret_post" if posts else "client_secret_basic"
    return OAuthClient(
        issuer=found.endpoints.issuer,
        id=server.oauth.client_id or "",
        secret=given.get_secret_value() if given else "",
        method=method,
        redirect_uri=redirect_uri,
    )
