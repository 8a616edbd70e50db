"""A protected MCP server of notes on the SDK's own server-side auth, and a browser that signs in there.

Its `Notes` have switches: how long tokens last, how slowly they rotate, what is revoked or refused, and
what its metadata say.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from mcp.types import Tool, ToolAnnotations
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from tests.support.ports import free_port

READ, WRITE = "notes:read", "notes:write"
METADATA = "/.well-known/oauth-authorization-server"
RESOURCE = "/.well-known/oauth-protected-resource/mcp"


@dataclass
class Notes(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """The server's state, with its switches. `signed_in` is who sits at the browser.

    `lifetime` is that of access tokens, `slowly` how long a rotation or revocation takes, and `answers_late` how
    long after it the answer comes (all in seconds). With `answers`, a path answers that instead. With `declines`, people press No. `names` is the address of
    metadata in the header of a 401, `adds` what is added to the address that browsers return to.
    `lists` changes what one person is listed, as where people define tools themselves. `machines` are
    programs that sign in by themselves, with their secrets; each has notes of its own.
    """

    url: str = ""
    notes: dict[str, list[str]] = field(
        default_factory=lambda: {"anna": ["Anna's secret plan"], "ben": ["Ben's shopping list"]}
    )
    signed_in: str = "anna"
    lifetime: int = 3600
    slowly: float = 0.0
    answers_late: float = 0.0
    declines: bool = False
    names: str = ""
    adds: dict[str, str] = field(default_factory=dict)
    gives_refresh: bool = True
    lists: dict[str, Callable[[Tool], Tool]] = field(default_factory=dict)
    answers: dict[str, tuple[int, Any]] = field(default_factory=dict)
    edit: Callable[[dict[str, Any]], None] | None = None
    edit_resource: Callable[[dict[str, Any]], None] | None = None
    asked: Counter[str] = field(default_factory=Counter)
    bearers: set[str] = field(default_factory=set)
    machines: dict[str, str] = field(default_factory=dict)
    clients: dict[str, OAuthClientInformationFull] = field(default_factory=dict)
    codes: dict[str, AuthorizationCode] = field(default_factory=dict)
    access: dict[str, AccessToken] = field(default_factory=dict)
    refresh: dict[str, RefreshToken] = field(default_factory=dict)
    spent: dict[str, str] = field(default_factory=dict)
    revoked: list[str] = field(default_factory=list)

    @property
    def mcp(self) -> str:
        return f"{self.url}/mcp"

    def expire(self) -> None:
        """All access tokens end now, and the clients do not know it."""
        self.access.clear()

    def end(self, user: str) -> None:
        """An admin removes the app from a person's account."""
        for tokens in (self.access, self.refresh):
            for token in [name for name, each in tokens.items() if each.subject == user]:
                del tokens[token]

    @property
    def tokens(self) -> set[str]:
        """All tokens that were ever given out."""
        return {*self.access, *self.refresh, *self.spent, *self.bearers}

    # The SDK's OAuthAuthorizationServerProvider.

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client: OAuthClientInformationFull) -> None:
        self.clients[client.client_id] = client

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        back: dict[str, str] = {"state": params.state or "", **self.adds}
        if self.declines:
            back["error"] = "access_denied"
        else:
            back["code"] = secrets.token_urlsafe(24)
            self.codes[back["code"]] = AuthorizationCode(
                code=back["code"],
                scopes=params.scopes or [READ],
                expires_at=time.time() + 60,
                client_id=client.client_id,
                code_challenge=params.code_challenge,
                redirect_uri=params.redirect_uri,
                redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
                resource=params.resource,
                subject=self.signed_in,
            )
        return f"{params.redirect_uri}?{urlencode(back)}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[code.code]
        return self._give(client.client_id, code.scopes, code.subject, code.resource)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, token: str
    ) -> RefreshToken | None:
        if token in self.spent:  # reuse: the whole family ends
            self.end(self.spent[token])
        return self.refresh.get(token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.asked["refresh"] += 1
        await asyncio.sleep(self.slowly)
        if self.refresh.pop(token.token, None) is None:
            self.end(token.subject or "")
            raise TokenError("invalid_grant")
        self.spent[token.token] = token.subject or ""
        tokens = self._give(client.client_id, scopes, token.subject, token.resource)
        self.asked["rotated"] += 1
        await asyncio.sleep(self.answers_late)
        return tokens

    async def load_access_token(self, token: str) -> AccessToken | None:
        self.bearers.add(token)
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        await asyncio.sleep(self.slowly)
        self.revoked.append(token.token)
        self.access.pop(token.token, None)
        self.refresh.pop(token.token, None)

    def _give(
        self, client: str, scopes: list[str], subject: str | None, resource: str | None
    ) -> OAuthToken:
        access, refresh = (secrets.token_urlsafe(32) for _ in range(2))
        about: dict[str, Any] = {"client_id": client, "scopes": scopes, "subject": subject}
        about["resource"] = resource
        ends = int(time.time()) + self.lifetime
        self.access[access] = AccessToken(token=access, expires_at=ends, **about)
        if self.gives_refresh:
            self.refresh[refresh] = RefreshToken(token=refresh, **about)
        return OAuthToken(
            access_token=access,
            expires_in=self.lifetime,
            scope=" ".join(scopes),
            refresh_token=refresh if self.gives_refresh else None,
        )


def app_of(notes: Notes) -> ASGIApp:
    """The server: one tool that reads, one that writes and needs one scope more."""
    server = _Listing(
        notes,
        "notes",
        auth_server_provider=notes,
        auth=AuthSettings.model_validate(
            {
                "issuer_url": notes.url,
                "resource_server_url": notes.mcp,
                "required_scopes": [READ],
                "validate_token_resource": True,
                "client_registration_options": ClientRegistrationOptions(
                    enabled=True, valid_scopes=[READ, WRITE], default_scopes=[READ, WRITE]
                ),
                "revocation_options": RevocationOptions(enabled=True),
            }
        ),
        log_level="ERROR",
    )

    def own() -> list[str]:
        token = get_access_token()
        assert token is not None
        return notes.notes[token.subject or ""]

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def read_notes() -> str:
        """Read the notes of whoever is signed in."""
        return "; ".join(own())

    @server.tool(annotations=ToolAnnotations(read_only_hint=True))
    def echo_headers() -> str:
        """Repeat the token, as no server should."""
        token = get_access_token()
        return f"You sent {token.token if token else ''}."

    @server.tool()
    def add_note(text: str) -> str:
        """Add a note."""
        own().append(text)
        return "Added."

    return _Switches(server.streamable_http_app(), notes)


class _Listing(MCPServer[Any]):
    """Lists each person the tools as `lists` says."""

    def __init__(self, notes: Notes, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.notes = notes

    @override
    async def list_tools(self) -> list[Tool]:
        token = get_access_token()
        changed = self.notes.lists.get((token.subject if token else None) or "")
        tools = await super().list_tools()
        return [changed(each) for each in tools] if changed else tools


class _Switches:
    """Counts requests, and answers as the switches say."""

    def __init__(self, app: ASGIApp, notes: Notes) -> None:
        self.app = app
        self.notes = notes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path, notes = scope["path"], self.notes
        notes.asked[path] += 1
        if path in notes.answers:
            status, body = notes.answers[path]
            headers = {"location": body["location"]} if status in (302, 307) else None
            await _answer(send, status, body, headers)
            return
        if path == "/mcp" and notes.names:
            named = f'Bearer resource_metadata="{notes.names}"'
            await _answer(send, 401, {}, {"www-authenticate": named})
            return
        if path == "/mcp" and scope["method"] == "POST":
            body = await _body(receive)
            if b'"add_note"' in body and not self._may_write(scope):
                named = f'error="insufficient_scope", scope="{READ} {WRITE}"'
                await _answer(send, 403, {}, {"www-authenticate": f"Bearer {named}"})
                return
            receive = _again(body, receive)
        if path == "/token" and scope["method"] == "POST" and notes.machines:
            body = await _body(receive)
            if (form := dict(parse_qsl(body.decode())))["grant_type"] == "client_credentials":
                await _answer(send, *await self._signed_in(scope, form))
                return
            receive = _again(body, receive)
        editing = {METADATA: self._metadata, RESOURCE: notes.edit_resource}.get(path)
        await self.app(scope, receive, _edited(send, editing) if editing else send)

    def _metadata(self, document: dict[str, Any]) -> None:
        if self.notes.machines:
            document["grant_types_supported"].append("client_credentials")
        if self.notes.edit:
            self.notes.edit(document)

    async def _signed_in(self, scope: Scope, form: dict[str, str]) -> tuple[int, Any]:
        """Give a token to a program by its id and secret, which stand in the form or in a header."""
        notes = self.notes
        notes.asked["sign in"] += 1
        basic = dict(scope["headers"]).get(b"authorization", b"").decode().partition(" ")[2]
        given = base64.b64decode(basic).decode().partition(":")
        name, secret = form.get("client_id") or given[0], form.get("client_secret") or given[2]
        if not secret or notes.machines.get(name) != secret:
            return 401, {"error": "invalid_client"}
        await asyncio.sleep(notes.slowly)
        scopes = form.get("scope", READ).split()
        tokens = notes._give(name, scopes, name, form.get("resource"))
        notes.refresh.clear()
        return 200, tokens.model_dump(exclude={"refresh_token"})

    def _may_write(self, scope: Scope) -> bool:
        bearer = dict(scope["headers"]).get(b"authorization", b"").decode()
        token = self.notes.access.get(bearer.removeprefix("Bearer "))
        return token is None or WRITE in token.scopes  # without a token: 401, by the SDK


async def _body(receive: Receive) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


def _again(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def once() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return once


def _edited(send: Send, edit: Callable[[dict[str, Any]], None]) -> Send:
    started: list[Message] = []

    async def changed(message: Message) -> None:
        if message["type"] == "http.response.start":
            started.append(message)
            return
        document = json.loads(message["body"])
        edit(document)
        await _answer(send, started[0]["status"], document)

    return changed


async def _answer(
    send: Send, status: int, body: Any, headers: dict[str, str] | None = None
) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}
    names = [(name.encode(), value.encode()) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": names})
    await send({"type": "http.response.body", "body": raw})


class _Server(uvicorn.Server):
    """A server that leaves the process's signals alone."""

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@asynccontextmanager
async def served(app: ASGIApp, port: int) -> AsyncGenerator[None]:
    """Serve an ASGI app on loopback while the body runs."""
    config = uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
    server = _Server(config)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve())
        while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
        try:
            yield
        finally:
            server.should_exit = True


@asynccontextmanager
async def notes_server(port: int = 0) -> AsyncGenerator[Notes]:
    """The protected server, running on this port, or on any."""
    port = port or free_port()
    notes = Notes(url=f"http://127.0.0.1:{port}")
    async with served(app_of(notes), port):
        yield notes


class Browser:
    """A person's browser: it follows our pages and the issuer's, and keeps cookies."""

    def __init__(self) -> None:
        self.cookies = httpx2.Cookies()

    async def open(self, url: str) -> httpx2.Response:
        """Open an address, without following anything."""
        return await self._send("GET", url)

    async def post(
        self, url: str, form: dict[str, str], headers: dict[str, str] | None = None
    ) -> httpx2.Response:
        """Send a form."""
        return await self._send("POST", url, form, headers)

    async def press_continue(
        self, page: httpx2.Response, headers: dict[str, str] | None = None
    ) -> httpx2.Response:
        """Press the button of the page before leaving."""
        form = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
        action = re.search(r'action="([^"]*)"', page.text)
        assert action is not None, page.text
        return await self.post(unescape(action[1]), form, headers)

    async def _send(
        self,
        method: str,
        url: str,
        form: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> httpx2.Response:
        async with httpx2.AsyncClient(timeout=15, cookies=self.cookies, verify=False) as http:
            answer = await http.request(method, url, data=form, headers=headers)
            self.cookies = http.cookies
        return answer

    async def leave(self, link: str) -> str:
        """Open a Connect link and press the button. Return where the browser is sent."""
        page = await self.press_continue(await self.open(link))
        found = re.search(r'url=([^"]*)"', page.text)
        assert found is not None, page.text
        return unescape(found[1])

    async def allow(self, address: str) -> str:
        """Sign in at the issuer. Return the address that it sends the browser back to."""
        answer = await self.open(address)
        assert answer.status_code == 302, answer.text
        return answer.headers["location"]

    async def connect(self, link: str) -> httpx2.Response:
        """Go the whole way. Return the last page."""
        return await self.open(await self.allow(await self.leave(link)))


def query_of(address: str) -> dict[str, str]:
    """The query of an address."""
    return dict(parse_qsl(urlsplit(address).query))


def code_of(page: httpx2.Response) -> str:
    """The finish code that a last page shows."""
    found = re.search(r"<output>(\d{6})</output>", page.text)
    assert found is not None, page.text
    return found[1]
