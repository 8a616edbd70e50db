"""Requests to addresses that servers name: an issuer, its endpoints, their metadata.

A server could name an address inside our network, or one that collects the codes and tokens of
others. So each address must be https and public, the connection goes to the address that was
checked, redirects are not followed, and answers are small and quick. Only hosts that the operator
named themselves may be in a private network, and only on this machine may they do without https.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

import aiohttp
import httpx2

from bot.features.accounts.account import ConnectError, ConnectFailure
from bot.mcp.config import McpServer, is_loopback
from bot.web.fetching import Allow, Resolve, pinned_resolver, public_only, system_resolver

SECONDS = 10.0
"""For one request; a refresh must end before its lock does."""

_CONNECT_SECONDS = 5.0
_MAX_BYTES = 1_000_000
_MAX_URL = 4_000
_PLAIN = re.compile(r"[!#-;=?-\[\]_a-z~]+")  # RFC 3986: no spaces, quotes, backslashes
_NAME = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
_HEADERS = {"Accept": "application/json", "Accept-Encoding": "identity"}


class AddressRefused(ConnectError):
    """A server named an address to which nothing is sent."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(ConnectFailure.SERVER, f"{_origin(url)} {why}")


class NoAnswer(ConnectError):
    """A request got no answer. `sent` says whether the other side may have received it."""

    def __init__(self, url: str, *, sent: bool) -> None:
        super().__init__(ConnectFailure.UNREACHABLE, f"{_origin(url)} does not answer")
        self.sent = sent


@dataclass(frozen=True, slots=True)
class Guard:
    """Sends requests to addresses that a server named.

    `named` are the hosts that the operator named, with a port where it is not 443.
    """

    named: frozenset[str]
    allow: Allow = public_only
    resolver: Resolve = system_resolver

    @classmethod
    def of(cls, server: McpServer) -> Guard:
        """Return the guard for a server; its settings name the hosts."""
        settings = server.oauth
        urls = (server.url, settings.authorization_endpoint, settings.token_endpoint)
        return cls(frozenset({*(_host(urlsplit(url)) for url in urls if url), *settings.hosts}))

    def check(self, url: str, *, near: str = "") -> str:
        """Return `url` if it may be asked, as far as its text tells. Raises AddressRefused.

        With `near`, it must be on the same host as that address, or on a host that the operator
        named.
        """
        try:
            at = urlsplit(url)
            host = _host(at)  # raises ValueError for an impossible port
            beside = _host(urlsplit(near))
        except ValueError:
            raise AddressRefused(url, "is no address") from None
        # Plain ASCII, which urllib and aiohttp cannot read in two ways.
        if (
            len(url) > _MAX_URL
            or not _PLAIN.fullmatch(url)
            or not _NAME.fullmatch(at.hostname or "")
        ):
            raise AddressRefused(url, "is no address")
        if at.username is not None or at.password is not None or at.fragment:
            raise AddressRefused(url, "has a user or a fragment")
        is_here = at.scheme == "http" and is_loopback(at.hostname or "") and host in self.named
        if at.scheme != "https" and not is_here:
            raise AddressRefused(url, "is not https")
        if near and host != beside and host not in self.named:
            raise AddressRefused(
                url, "is on a host that is neither the issuer's nor listed in `hosts`"
            )
        return url

    async def get(self, url: str) -> httpx2.Response:
        """Return the answer to a GET request. Raises AddressRefused and NoAnswer."""
        return await self._request("GET", url, {})

    async def post(
        self,
        url: str,
        *,
        content: bytes | str,
        headers: Mapping[str, str],
    ) -> httpx2.Response:
        """Return the answer to a POST request. Raises AddressRefused and NoAnswer."""
        return await self._request("POST", url, headers, content)

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], content: bytes | str | None = None
    ) -> httpx2.Response:
        self.check(url)
        connected = False
        try:
            async with asyncio.timeout(SECONDS):
                connector = aiohttp.TCPConnector(
                    resolver=pinned_resolver(await self._addresses(url)),
                    use_dns_cache=False,
                    force_close=True,
                )
                async with aiohttp.ClientSession(
                    connector=connector,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    auto_decompress=False,
                    trust_env=False,
                    timeout=aiohttp.ClientTimeout(total=SECONDS, sock_connect=_CONNECT_SECONDS),
                ) as session:
                    connected = True
                    async with session.request(
                        method,
                        url,
                        data=content,
                        headers={**_HEADERS, **headers},
                        allow_redirects=False,
                    ) as response:
                        return await _answer(url, response)
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError):
            raise NoAnswer(url, sent=False) from None
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            raise NoAnswer(url, sent=connected) from None

    async def _addresses(self, url: str) -> list[str]:
        """Resolve the host. Raises AddressRefused unless all its addresses are allowed."""
        at = urlsplit(url)
        port = at.port or (443 if at.scheme == "https" else 80)
        try:
            found = await self.resolver(at.hostname or "", port)
        except (OSError, UnicodeError):
            raise NoAnswer(url, sent=False) from None
        parsed = [ipaddress.ip_address(each.split("%")[0]) for each in found]
        is_named = _host(at) in self.named
        if at.scheme == "http" and not all(address.is_loopback for address in parsed):
            raise AddressRefused(url, "is not https")
        if not parsed or not (is_named or all(self.allow(address, port) for address in parsed)):
            raise AddressRefused(url, "is not a public address")
        return [str(address) for address in parsed]


async def _answer(url: str, response: aiohttp.ClientResponse) -> httpx2.Response:
    """Return the answer with its body, as the SDK reads it.

    Raises AddressRefused if it is too large.
    """
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise AddressRefused(url, "sends a compressed answer, which was not asked for")
    body = bytearray()
    async for chunk in response.content.iter_chunked(65_536):
        body += chunk
        if len(body) > _MAX_BYTES:
            raise AddressRefused(url, "sends more than 1 MB")
    wanted = ("content-type", "www-authenticate")
    headers = [(name, value) for name, value in response.headers.items() if name.lower() in wanted]
    return httpx2.Response(response.status, headers=headers, content=bytes(body))


def _host(at: SplitResult) -> str:
    """Return the host of an address, with its port unless that is the usual one."""
    name = f"[{at.hostname}]" if ":" in (at.hostname or "") else (at.hostname or "")
    usual = 443 if at.scheme == "https" else 80
    return name if at.port in (None, usual) else f"{name}:{at.port}"


def _origin(url: str) -> str:
    """Return what an operator may read of an address: no path, which may hold anything."""
    try:
        at = urlsplit(url if url.isprintable() else "")
    except ValueError:
        at = urlsplit("")
    return f"{at.scheme}://{(at.netloc or '?').rpartition('@')[2]}"[:200]
