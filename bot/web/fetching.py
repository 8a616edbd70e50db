"""Fetching pages from the public web, and never from an internal network.

A host is resolved once, all its addresses are checked, and the connection goes to a checked address
while Host and SNI keep the name. Each redirect is checked in the same way.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override
from yarl import URL

from bot.core.errors import ToolError
from bot.text.invisible_text import escaped
from bot.toolkit.provided.web import Page

if TYPE_CHECKING:
    import aiohttp

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Allow = Callable[[IPAddress, int], bool]
Resolve = Callable[[str, int], Awaitable[list[str]]]

_PORTS = frozenset({80, 443})
_SECONDS = 20.0
_MAX_BYTES = 5_000_000
_MAX_REDIRECTS = 5
_MAX_URL = 4_000
_MOST_SHOWN = 100  # characters of a header's value
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_READABLE = (
    "text/",
    "application/json",
    "application/xhtml+xml",
    "application/pdf",
    "application/xml",
)
_CHUNK = 65_536
_HEADERS = {
    "User-Agent": "slack-answer-bot (fetches one page on behalf of a person who asked)",
    "Accept": "text/html, text/*, application/json, application/pdf",
    "Accept-Encoding": "gzip, deflate",
}

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # RFC 4291: what the internet routes
_NOT_PUBLIC = (  # networks that some versions of Python call global
    ipaddress.IPv4Network(
        "168.63.129.16/32"
    ),  # Azure's wire server, which serves a machine's secrets
    ipaddress.IPv4Network("192.0.0.0/24"),  # RFC 6890; metadata service of Oracle Cloud Classic
    ipaddress.IPv4Network("192.88.99.0/24"),  # RFC 7526: deprecated relays
    ipaddress.IPv6Network("3fff::/20"),  # RFC 9637: documentation
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: IPv4 through a translator


def public_only(address: IPAddress, port: int) -> bool:
    """Return whether `address`, and any IPv4 address embedded in it, is public and `port` is 80 or
    443."""
    return port in _PORTS and all(_is_public(each) for each in _embedded_addresses(address))


def _is_public(address: IPAddress) -> bool:
    if any(address in network for network in _NOT_PUBLIC):
        return False
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    # is_global alone lets old and local ranges pass: fec0::/10, ::/96, 64:ff9b:1::/48.
    return address.is_global and (address in _GLOBAL_UNICAST or address in _NAT64)


def _embedded_addresses(address: IPAddress) -> list[IPAddress]:
    """Return `address` and the IPv4 addresses embedded in it: mapped, 6to4, Teredo, NAT64."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    translated = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else None
    carried = (*(address.teredo or ()), address.sixtofour, translated)
    return [address, *(each for each in carried if each is not None)]


async def system_resolver(host: str, port: int) -> list[str]:
    """Resolve `host` with the system's resolver. Raises OSError when it has no address."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class WebFetcher:
    """Fetches pages. `allow` decides about an address and port; `resolver` resolves host names."""

    allow: Allow = public_only
    resolver: Resolve = system_resolver

    async def fetch(self, url: str) -> Page:
        """Return the page at `url`: text, JSON or PDF, after up to 5 redirects, within 5 MB and 20 s.

        Raises ToolError that says what is wrong and what to do instead.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                return await self._follow(_parse_url(url))
        except TimeoutError:
            raise ToolError(f"{url} took more than {_SECONDS:g} s. Try another source.") from None

    async def _follow(self, url: URL) -> Page:
        for _ in range(_MAX_REDIRECTS + 1):
            found = await self._get(url)
            if isinstance(found, Page):
                return found
            url = found
        raise ToolError(f"More than {_MAX_REDIRECTS} redirects. Fetch the last address: {url}")

    async def _get(self, url: URL) -> Page | URL:
        """Return the page, or the address of its redirect."""
        import aiohttp  # takes 0.4 s, which a process that fetches nothing should not pay

        addresses = await self._addresses(url)
        connector = aiohttp.TCPConnector(
            resolver=pinned_resolver(addresses), use_dns_cache=False, force_close=True
        )
        try:
            async with (
                aiohttp.ClientSession(
                    connector=connector,
                    cookie_jar=aiohttp.DummyCookieJar(),
                    headers=_HEADERS,
                    auto_decompress=False,
                    trust_env=False,
                ) as session,
                session.get(url, allow_redirects=False) as response,
            ):
                if response.status in _REDIRECTS and "Location" in response.headers:
                    return _parse_url(str(url.join(URL(response.headers["Location"]))))
                return Page(str(url), _media_type(response), await _body(response))
        except (aiohttp.ClientError, OSError, ValueError, zlib.error) as error:
            raise ToolError(f"{url} could not be fetched: {_reason(error)}.") from None

    async def _addresses(self, url: URL) -> list[str]:
        """Resolve the URL's host. Raises ToolError unless all its addresses are allowed."""
        host, port = url.host or "", url.port or 443
        try:
            found = await self.resolver(host, port)
        except (OSError, UnicodeError):  # UnicodeError for an impossible host name
            raise ToolError(f"There is no host {host}. Check the address.") from None
        parsed = [ipaddress.ip_address(each.split("%")[0]) for each in found]
        if not parsed or not all(self.allow(each, port) for each in parsed):
            raise ToolError(
                f"{url} is not on the public web (http or https, port 80 or 443); only that is "
                "fetched. Ask the person to attach what it shows."
            )
        return [str(each) for each in parsed]


def pinned_resolver(addresses: list[str]) -> aiohttp.abc.AbstractResolver:
    """Return a resolver of the checked addresses only: a second lookup could have another result."""
    from aiohttp.abc import AbstractResolver, ResolveResult

    class PinnedResolver(AbstractResolver):
        @override
        async def resolve(
            self,
            host: str,
            port: int = 0,
            family: socket.AddressFamily = socket.AF_INET,
        ) -> list[ResolveResult]:
            return [
                ResolveResult(
                    hostname=host,
                    host=address,
                    port=port,
                    family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                    proto=0,
                    flags=socket.AI_NUMERICHOST,
                )
                for address in addresses
            ]

        @override
        async def close(self) -> None:
            """Do nothing: the resolver holds no resources."""

    return PinnedResolver()


def _parse_url(url: str) -> URL:
    """Parse `url`. Raises ToolError unless it is an http(s) address without user and password."""
    try:
        parsed = URL(url.strip())
        host = parsed.host  # raises ValueError for an invalid international name
    except ValueError:
        raise ToolError(f"{url[:200]} is not a web address.") from None
    if len(url) > _MAX_URL:
        raise ToolError(f"The address has {len(url):,} characters; {_MAX_URL:,} are allowed.")
    if parsed.scheme not in {"http", "https"} or not host:
        raise ToolError(
            f"{url[:200]} is not a web address: it must begin with http:// or https://."
        )
    if parsed.user is not None or parsed.password is not None:
        raise ToolError("Addresses with a user name or password in them are not fetched.")
    return parsed.with_fragment(None)


def _shown(words: str) -> str:
    """Return a server's words for one line of a message, shortened."""
    return escaped(words[:_MOST_SHOWN])


def _media_type(response: aiohttp.ClientResponse) -> str:
    if response.status >= 400:
        raise ToolError(
            f"{response.url} answered {response.status} {_shown(response.reason or '')}".rstrip()
            + ". Check the address or try another source."
        )
    media_type = response.content_type
    if not media_type.startswith(_READABLE):
        raise ToolError(
            f"{response.url} is {_shown(media_type)}; only text, JSON and PDF can be read."
        )
    return media_type


async def _body(response: aiohttp.ClientResponse) -> bytes:
    """Return the decoded body. The limit holds for the received and for the unpacked bytes."""
    coding = response.headers.get("Content-Encoding", "identity").strip().lower()
    if coding not in {"gzip", "x-gzip", "deflate", "identity"}:
        raise ToolError(f"{response.url} is encoded as {_shown(coding)}, which was not asked for.")
    unpacked = zlib.decompressobj(wbits=47 if "gzip" in coding else zlib.MAX_WBITS)
    received = 0
    body = bytearray()
    async for chunk in response.content.iter_chunked(_CHUNK):
        received += len(chunk)
        left = _MAX_BYTES + 1 - len(body)
        body += chunk if coding == "identity" else unpacked.decompress(chunk, left)
        if received > _MAX_BYTES or len(body) > _MAX_BYTES:
            raise ToolError(
                f"{response.url} is larger than {_MAX_BYTES / 1e6:.0f} MB. Look for a shorter page."
            )
    return bytes(body)


def _reason(error: Exception) -> str:
    """Describe a connection error in words that reveal nothing about this network."""
    import aiohttp

    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return "its certificate is not valid"
        case aiohttp.ClientConnectorError():
            return "no connection"
        case aiohttp.ClientPayloadError() | zlib.error() | aiohttp.ServerDisconnectedError():
            return "the answer broke off or is damaged"
        case _:
            return "the server's answer is not valid"
