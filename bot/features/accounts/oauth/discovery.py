"""Discovery: who lets people in to a server, and where, by RFC 9728, RFC 8414 and OpenID Connect.

The SDK's functions build the addresses and read the answers; what they do not check is checked
here.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.auth import utils as oauth
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from mcp.types import LATEST_PROTOCOL_VERSION

from bot.core.errors import CorruptValue
from bot.features.accounts.account import ConnectError, ConnectFailure
from bot.features.accounts.oauth.guard import Guard, NoAnswer
from bot.features.accounts.records import IssuerPin, OAuthEndpoints
from bot.mcp.config import McpServer
from bot.mcp.pins import Pins

_MAX_SCOPES = 4_000  # characters
_REFRESHES = ["authorization_code", "refresh_token"]
_SIGNS_IN = "client_credentials"


@dataclass(frozen=True, slots=True)
class Discovered:
    """What a server and its issuer say about connecting an account.

    `scope` is what to ask for at first, `all_scopes` what may be asked for later; both separated by
    spaces. `methods` are the ways in which the issuer lets clients authenticate.
    """

    endpoints: OAuthEndpoints
    scope: str = ""
    all_scopes: str = ""
    methods: tuple[str, ...] = ()
    takes_client_urls: bool = False
    iss_required: bool = False


async def discover(server: McpServer, guard: Guard) -> Discovered:
    """Ask a server who lets people in, and that issuer for its endpoints.

    Raises ConnectError when an answer is missing, wrong, or names an address that may not be asked.
    """
    url, settings = server.url or "", server.oauth
    if settings.token_endpoint:
        at = urlsplit(settings.authorization_endpoint or settings.token_endpoint)
        return Discovered(
            OAuthEndpoints(
                issuer=f"{at.scheme}://{at.netloc}",
                resource=resource_url_from_server_url(url),
                authorization=settings.authorization_endpoint or "",
                token=settings.token_endpoint,
            ),
            scope=" ".join(settings.scopes),
        )
    try:
        return await _discovered(url, server, guard)
    except ValueError:  # of urllib or of the SDK, which read what the server names
        raise _wrong("it names an address that is none") from None


async def _discovered(url: str, server: McpServer, guard: Guard) -> Discovered:
    settings = server.oauth
    challenge = await _challenge(url, guard)
    resource = await _resource(url, challenge, guard)
    metadata = await _metadata(url, resource, guard)
    if server.signs_in:
        # By RFC 8414 an issuer that names no grants offers none of this kind, but many forget to.
        if _SIGNS_IN not in (metadata.grant_types_supported or [_SIGNS_IN]):
            raise _wrong(f"{_host(str(metadata.issuer))} does not offer client credentials")
    elif "S256" not in (metadata.code_challenge_methods_supported or []):
        raise _wrong(f"{metadata.issuer} does not offer PKCE with S256")
    asked = oauth.extract_scope_from_www_auth(challenge)
    grants = [_SIGNS_IN] if server.signs_in else _REFRESHES
    scope = oauth.get_client_metadata_scopes(asked, resource, metadata, grants)
    return Discovered(
        _endpoints(url, resource, metadata, guard),
        scope=" ".join(settings.scopes) or bounded_scopes(scope or ""),
        all_scopes=bounded_scopes(" ".join(metadata.scopes_supported or [])),
        methods=tuple(metadata.token_endpoint_auth_methods_supported or ()),
        takes_client_urls=metadata.client_id_metadata_document_supported is True,
        iss_required=metadata.authorization_response_iss_parameter_supported is True,
    )


async def _challenge(url: str, guard: Guard) -> httpx2.Response:
    """Return the server's answer to a request without an account."""
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": LATEST_PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "slack-answer-bot", "version": "1"},
        },
    }
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    return await guard.post(url, content=json.dumps(hello), headers=headers)


async def _resource(
    url: str, challenge: httpx2.Response, guard: Guard
) -> ProtectedResourceMetadata | None:
    """Return what the server says about itself; None if it says nothing, as older servers do."""
    named = None
    if challenge.status_code in (401, 403):
        named = oauth.extract_resource_metadata_from_www_auth(challenge)
    for address in oauth.build_protected_resource_metadata_discovery_urls(named, url):
        found = await oauth.handle_protected_resource_response(await guard.get(address))
        if found is not None:
            if not check_resource_allowed(url, str(found.resource)):
                raise _wrong(f"the metadata is of another server, {_host(str(found.resource))}")
            return found
    return None


async def _metadata(
    url: str, resource: ProtectedResourceMetadata | None, guard: Guard
) -> OAuthMetadata:
    """Return the metadata of the server's issuer, which must be its own."""
    at = urlsplit(url)
    own = f"{at.scheme}://{at.netloc}"
    issuer = str(resource.authorization_servers[0]) if resource else own
    guard.check(issuer)
    for address in oauth.build_oauth_authorization_server_metadata_discovery_urls(issuer, url):
        may_go_on, found = await oauth.handle_auth_metadata_response(await guard.get(address))
        if found is not None:
            try:
                oauth.validate_metadata_issuer(found, issuer)
            except OAuthFlowError:
                raise _wrong(f"the metadata of {_host(issuer)} is of another issuer") from None
            return found
        if not may_go_on:
            raise NoAnswer(issuer, sent=True)
    raise _wrong(f"{_host(issuer)} has no metadata of an authorization server")


def _endpoints(
    url: str, resource: ProtectedResourceMetadata | None, metadata: OAuthMetadata, guard: Guard
) -> OAuthEndpoints:
    """Return the endpoints. Each must be on the issuer's host or one that the operator named."""
    issuer = str(metadata.issuer)

    def checked(endpoint: object) -> str:
        return guard.check(str(endpoint), near=issuer) if endpoint else ""

    return OAuthEndpoints(
        issuer=issuer,
        resource=str(resource.resource) if resource else resource_url_from_server_url(url),
        authorization=checked(metadata.authorization_endpoint),
        token=checked(metadata.token_endpoint),
        registration=checked(metadata.registration_endpoint),
        revocation=checked(metadata.revocation_endpoint),
    )


def bounded_scopes(scopes: str) -> str:
    """Return the scopes that are valid by RFC 6749, as many as fit."""
    valid = [scope for scope in scopes.split() if scope.isascii() and not {'"', "\\"} & set(scope)]
    joined = " ".join(valid)
    return joined if len(joined) <= _MAX_SCOPES else joined[:_MAX_SCOPES].rpartition(" ")[0]


def _host(url: str) -> str:
    return urlsplit(url).netloc[:200]


def _wrong(message: str) -> ConnectError:
    return ConnectError(ConnectFailure.SERVER, message)


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
