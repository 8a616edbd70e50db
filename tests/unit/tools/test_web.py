"""Fetching reaches the public web and nothing else, and takes bounded time and space
(reliability 12; faults-and-threats, section 3)."""

from __future__ import annotations

import asyncio
import gzip
import ipaddress
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from bot.core.errors import ToolError
from bot.services.artifact_documents import ArtifactDocuments
from bot.testing.artifacts import MemoryArtifacts
from bot.web import fetching
from bot.web.fetching import IPAddress, WebFetcher, public_only
from tools.web import fetch_page

ARTICLE = (
    "<html><head><title>Bees &amp; us</title></head><body><nav>Home About</nav><article>"
    "<h1>Bees &amp; us</h1>"
    + "".join(
        f"<p>Paragraph {n} tells of meadows, flowers and honey at length.</p>" for n in range(60)
    )
    + "<p>A queen lays 1,500 eggs a day in summer, more than her own weight.</p></article>"
    "</body></html>"
)


BOMB = gzip.compress(bytes(60_000_000), 1)


@dataclass
class Site:
    """A real server on loopback that stands for the public web; `seen` are the Host headers."""

    server: BaseTestServer
    seen: list[str] = field(default_factory=list)

    def url(self, path: str, host: str = "site.example") -> str:
        return f"http://{host}:{self.server.port}{path}"

    async def resolve(self, host: str, port: int) -> list[str]:
        if host.endswith(".example"):
            return ["127.0.0.1"]
        return await fetching.system_resolver(host, port)

    def allow(self, address: IPAddress, port: int) -> bool:
        """The server's own address counts as public, and its port as 80."""
        mine = (address, port) == (ipaddress.ip_address("127.0.0.1"), self.server.port)
        return mine or public_only(address, port)

    def fetcher(self) -> WebFetcher:
        return WebFetcher(allow=self.allow, resolver=self.resolve)


@pytest_asyncio.fixture(loop_scope="module")
async def site() -> AsyncIterator[Site]:
    found: list[Site] = []
    bodies: dict[str, tuple[bytes, dict[str, str]]] = {
        "/article": (ARTICLE.encode(), {"Content-Type": "text/html; charset=utf-8"}),
        "/data.csv": (b"a,b\n1,2\n", {"Content-Type": "text/csv"}),
        "/data.json": (b'{"a": 1}', {"Content-Type": "application/json"}),
        "/raw.csv": (b"a;b\n1;2\n", {"Content-Type": "text/plain"}),
        "/report.pdf": (b"<p>Please log in</p>", {"Content-Type": "text/html"}),
        "/large": (b"x" * 6_000_000, {"Content-Type": "text/plain"}),
        "/zipped": (
            gzip.compress(b"hello zipped world"),
            {"Content-Type": "text/plain", "Content-Encoding": "gzip"},
        ),
        "/bomb": (
            BOMB,
            {"Content-Type": "text/plain", "Content-Encoding": "gzip"},
        ),
        "/broken": (b"no gzip", {"Content-Type": "text/plain", "Content-Encoding": "gzip"}),
        "/film": (b"\x00" * 10, {"Content-Type": "video/mp4"}),
    }

    async def answer(request: web.Request) -> web.StreamResponse:
        found[0].seen.append(request.headers["Host"])
        if request.path == "/trickle":
            response = web.StreamResponse(headers={"Content-Type": "text/plain"})
            await response.prepare(request)
            while True:
                await response.write(b".")
                await asyncio.sleep(0.02)
        target = "/loop" if request.path == "/loop" else request.query.get("to")
        if target:
            return web.Response(status=302, headers={"Location": target})
        if request.path not in bodies:
            return web.Response(status=404)
        body, headers = bodies[request.path]
        return web.Response(body=body, headers=headers)

    app = web.Application()
    app.router.add_get("/{tail:.*}", answer)
    async with TestServer(app) as server:
        found.append(Site(server))
        yield found[0]


async def test_a_page_is_read_as_its_main_text(site: Site, artifacts: MemoryArtifacts) -> None:
    """Title, text and handle; the address is recorded as the source."""
    url = site.url("/article")
    result = await fetch_page(url, site.fetcher(), ArtifactDocuments(artifacts))
    [handle] = result.handles
    head = result.content.splitlines()[0]
    assert head.startswith(f"handle: {handle} · ")
    assert head.endswith(f"lines · source: Bees & us <{url}>")
    assert "A queen lays 1,500 eggs a day" in result.content
    assert [source.url for source in result.sources] == [url]
    assert site.seen == [f"site.example:{site.server.port}"]


async def test_a_query_shows_the_passages_that_fit(site: Site, artifacts: MemoryArtifacts) -> None:
    result = await fetch_page(
        site.url("/article"), site.fetcher(), ArtifactDocuments(artifacts), query="queen eggs"
    )
    assert "1,500 eggs" in result.content
    assert "Paragraph 3" not in result.content


async def test_other_media_types_are_read_too(site: Site, artifacts: MemoryArtifacts) -> None:
    table = await fetch_page(site.url("/data.csv"), site.fetcher(), ArtifactDocuments(artifacts))
    assert "columns: a BIGINT, b BIGINT" in table.content
    raw = await fetch_page(site.url("/raw.csv"), site.fetcher(), ArtifactDocuments(artifacts))
    assert "columns: a BIGINT, b BIGINT" in raw.content
    login = await fetch_page(site.url("/report.pdf"), site.fetcher(), ArtifactDocuments(artifacts))
    assert "Please log in" in login.content
    text = await fetch_page(site.url("/data.json"), site.fetcher(), ArtifactDocuments(artifacts))
    assert '"a": 1' in text.content
    assert (await site.fetcher().fetch(site.url("/zipped"))).data == b"hello zipped world"


ODD = "\x1b[2J\x9b8m\u202e" + "long" * 1_000


@pytest.mark.parametrize(
    "head",
    [
        f"200 OK\r\nContent-Type: video/{ODD}",
        f"404 {ODD}\r\nContent-Type: text/plain",
        f"200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: {ODD}",
    ],
)
async def test_no_header_of_a_server_gets_into_a_terminal_or_fills_a_message(
    site: Site, head: str
) -> None:
    """Words that it chose stand in errors, which people and logs show (A11)."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n".encode())
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        fetcher = WebFetcher(allow=lambda *_: True, resolver=site.resolve)
        with pytest.raises(ToolError) as refused:
            await fetcher.fetch(f"http://site.example:{port}/")
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 500


async def test_redirects_are_followed_five_times(site: Site) -> None:
    fetcher = site.fetcher()
    page = await fetcher.fetch(site.url("/r?to=/article"))
    assert page.url == site.url("/article")
    with pytest.raises(ToolError, match="More than 5 redirects"):
        await fetcher.fetch(site.url("/loop"))


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0177.0.0.1/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://0.0.0.0/",
        "http://[::1]/",
        "http://[::]/",
        "http://[::ffff:127.0.0.1]/",
        "http://168.63.129.16/machine?comp=goalstate",  # Azure's wire server
        "http://[::ffff:168.63.129.16]/",
        "http://192.0.0.192/latest/",  # Oracle Cloud Classic's metadata
        "http://[3fff::1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[2002:7f00:1::]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[64:ff9b:1::a00:1]/",
        "http://[2001:0:7f00:1::]/",
        "http://[64:ff9b:1::5db8:d822]/",
        "http://[::93.184.216.34]/",
        "http://[fe80::1]/",
        "http://[fec0::1]/",
        "http://[ff02::1]/",
        "http://[fd00:ec2::254]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://10.0.0.1/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://①②⑦.0.0.1/",
        "http://93.184.216.34:8080/",
        "http://93.184.216.34:22/",
    ],
)
async def test_what_is_not_public_is_refused(url: str) -> None:
    """In every way of writing an address; nothing is connected to."""
    with pytest.raises(
        ToolError, match=r"not on the public web|There is no host|not a web address"
    ):
        await WebFetcher().fetch(url)


@pytest.mark.parametrize(
    "address",
    ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::5db8:d822"],
)
def test_the_public_web_is_allowed(address: str) -> None:
    """Also from a network that reaches IPv4 through a translator only."""
    assert public_only(ipaddress.ip_address(address), 443)
    assert not public_only(ipaddress.ip_address(address), 8443)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("file:///etc/passwd", "must begin with http"),
        ("ftp://site.example/", "must begin with http"),
        ("//site.example/", "must begin with http"),
        ("not an address", "must begin with http"),
        ("http://user:secret@site.example/", "user name or password"),
        ("http://[oops/", "not a web address"),
        ("http://xn--/", "not a web address"),
        ("http://a..b/", "is no host"),
        ("http://site.example/" + "a" * 5000, "characters"),
    ],
)
async def test_what_is_no_address_is_refused(site: Site, url: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        await site.fetcher().fetch(url)
    assert site.seen == []


@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/", "http://127.0.0.1/", "file:///etc/passwd", "//127.1/",
        "http://[::ffff:169.254.169.254]/", "http://a..b/", "http://xn--/", f"http://{'a' * 64}.com/",
    ],
)  # fmt: skip
async def test_a_redirect_is_checked_like_an_address(site: Site, target: str) -> None:
    """Reliability 12: whatever it says, a name that no host can have as well."""
    with pytest.raises(ToolError, match=r"not on the public web|not a web address|is no host"):
        await site.fetcher().fetch(site.url(f"/r?to={target}"))


async def test_one_private_address_among_several_refuses_the_host(site: Site) -> None:
    async def both(host: str, port: int) -> list[str]:
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(ToolError, match=r"not on the public web"):
        await WebFetcher(resolver=both).fetch("http://site.example/")


async def test_a_name_that_changes_its_address_gains_nothing(site: Site) -> None:
    """DNS rebinding: the checked address is the one connected to; there is no second look-up."""
    answers = [["127.0.0.1"], ["10.0.0.1"]]
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return answers[len(asked) - 1]

    page = await WebFetcher(allow=site.allow, resolver=rebinding).fetch(site.url("/article"))
    assert b"Bees" in page.data
    assert asked == ["site.example"]


async def test_a_secure_connection_names_the_host() -> None:
    """The checked address is connected to, but the certificate asked for is the name's (SNI)."""
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.set_result(await reader.read(4096))
        writer.close()

    async def here(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async with await asyncio.start_server(hear, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        fetcher = WebFetcher(allow=lambda address, port: True, resolver=here)
        with pytest.raises(ToolError, match="could not be fetched"):
            await fetcher.fetch(f"https://site.example:{port}/")
        assert b"site.example" in await heard


async def test_no_proxy_of_the_environment_is_used(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would connect where nobody checked."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    assert (await site.fetcher().fetch(site.url("/data.json"))).data == b'{"a": 1}'


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/large", "larger than 5 MB"),
        ("/bomb", "larger than 5 MB"),
        ("/broken", "broke off or is damaged"),
        ("/film", "only text, JSON and PDF"),
        ("/missing", "answered 404"),
    ],
)
async def test_what_cannot_be_read_says_why(site: Site, path: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        await site.fetcher().fetch(site.url(path))


async def test_a_trickle_ends_with_the_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit is for the whole, not for each read."""
    monkeypatch.setattr(fetching, "_SECONDS", 0.3)
    with pytest.raises(ToolError, match=r"more than 0\.3 s"):
        await site.fetcher().fetch(site.url("/trickle"))


async def test_a_public_host_without_server_says_no_connection(site: Site) -> None:
    """And shows nothing of this network."""

    async def nowhere(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    fetcher = WebFetcher(allow=lambda address, port: True, resolver=nowhere)
    with pytest.raises(ToolError, match="no connection") as caught:
        await fetcher.fetch("http://site.example:1/")
    assert "127.0.0.1" not in str(caught.value)
