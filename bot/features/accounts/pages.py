"""Pages on which people connect an account: `/accounts/…`.

The page before leaving names the person it is for. It goes on by a POST, so that programs that only
open links start nothing, and only from that page itself, so that no other page can skip it.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from aiohttp import web

from bot.core.errors import StoreError
from bot.features.accounts import page_words as words
from bot.features.accounts.account import ConnectError, ConnectFailure, Outcome
from bot.features.accounts.oauth.addresses import CALLBACK, CLIENT_DOCUMENT, CONNECT, PROOF
from bot.features.accounts.records import FLOW_SECONDS, digest_of
from bot.slack.edge.install_flow import HEADERS, page

if TYPE_CHECKING:
    from bot.features.accounts.accounts import Accounts
    from bot.features.accounts.oauth.flow import Departure

log = logging.getLogger(__name__)

_BODY_SECONDS = 10.0  # for a form to be sent whole
_HEADERS = {
    **HEADERS,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}
_STATUS = {ConnectFailure.LINK: 410, ConnectFailure.UNREACHABLE: 503, ConnectFailure.CHANGED: 503}


class AccountPages:
    """The routes of the account pages, which answer 503 outside `served_by`."""

    def __init__(self) -> None:
        self.routes = [
            web.get(CONNECT, self._answering(self._before_leaving)),
            web.post(CONNECT, self._answering(self._leave)),
            web.get(PROOF, self._answering(self._proved)),
            web.get(CALLBACK, self._answering(self._returned)),
            web.get(CLIENT_DOCUMENT, self._client_document),
        ]
        self._accounts: Accounts | None = None

    @contextmanager
    def served_by(self, accounts: Accounts) -> Generator[None]:
        """Serve the pages for `accounts` inside the context."""
        self._accounts = accounts
        try:
            yield
        finally:
            self._accounts = None

    def _answering(
        self, handler: Callable[[Accounts, web.Request], Awaitable[web.Response]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        """Return a handler with the headers of a page, and a page for each error."""

        async def answer(request: web.Request) -> web.Response:
            if self._accounts is None:
                return web.Response(status=503)
            try:
                response = await handler(self._accounts, request)
            except ConnectError as error:
                log.warning("No account was connected: %s", error)
                response = _page(*words.failure(error.why), status=_STATUS.get(error.why, 400))
            except (StoreError, TimeoutError) as error:
                log.warning("An account page was not answered: %s", error)
                response = _page(words.TRY_LATER(), "", status=503)
            response.headers.update(_HEADERS)
            return response

        return answer

    async def _before_leaving(self, accounts: Accounts, request: web.Request) -> web.Response:
        token = request.query.get("ticket", "")
        ticket = await accounts.connecting.opened(token)
        view = await accounts.view(ticket.account, ticket.server)
        title, text = words.before_leaving(
            view.label, view.host, ticket.whom, for_workspace=ticket.for_workspace
        )
        seen = secrets.token_urlsafe(24)
        form = (
            f'<form method="post" action="{escape(accounts.address.url + CONNECT)}">'
            f'<input type="hidden" name="ticket" value="{escape(token)}">'
            f'<input type="hidden" name="seen" value="{digest_of(seen)}">'
            f"<button>{words.CONTINUE()}</button></form>"
        )
        response = _page(title, text, form)
        _set_cookie(response, accounts, _seen_cookie(accounts, token), seen)
        return response

    async def _leave(self, accounts: Accounts, request: web.Request) -> web.Response:
        async with asyncio.timeout(_BODY_SECONDS):
            given = await request.post()
        token, seen = str(given.get("ticket", "")), str(given.get("seen", ""))
        cookie = request.cookies.get(_seen_cookie(accounts, token), "")
        is_ours = cookie and hmac.compare_digest(digest_of(cookie), seen)
        if not is_ours or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
            raise ConnectError(ConnectFailure.BROWSER, "the page before leaving was not seen")
        return _departing(accounts, await accounts.connecting.depart(token))

    async def _proved(self, accounts: Accounts, request: web.Request) -> web.Response:
        return _departing(accounts, await accounts.connecting.prove(request.query, request.cookies))

    async def _returned(self, accounts: Accounts, request: web.Request) -> web.Response:
        arrival = await accounts.connecting.arrive(request.query, request.cookies)
        label = arrival.change.label
        match arrival.outcome:
            case Outcome.REFUSED:
                return _page(*words.failure(ConnectFailure.REFUSED))
            case Outcome.CODE_NEEDED:
                title, before, after = words.finish_code(label, arrival.whom)
                more = f"<output>{escape(arrival.code)}</output><p>{escape(after)}</p>"
                return _page(title, before, more)
            case _:
                return _page(*words.connected(label, arrival.whom))

    async def _client_document(self, _request: web.Request) -> web.Response:
        accounts = self._accounts
        if accounts is None:
            return web.Response(status=503)
        document = accounts.client_document()
        if document is None:
            return web.Response(status=404)
        return web.json_response(document, headers={"Cache-Control": "public, max-age=3600"})


def _departing(accounts: Accounts, departure: Departure) -> web.Response:
    """Return the page that sends a browser on.

    It does so by itself, as browsers let a form lead to no other host, not even by a redirect.
    """
    url = escape(departure.url)
    title, text = words.leaving(urlsplit(departure.url).netloc)
    more = (
        f'<meta http-equiv="refresh" content="0; url={url}"><a href="{url}" rel="noreferrer">'
        f"{words.GO_ON()}</a>"
    )
    response = _page(title, text, more)
    _set_cookie(response, accounts, departure.cookie, departure.browser)
    return response


def _set_cookie(response: web.Response, accounts: Accounts, name: str, value: str) -> None:
    at, is_loopback = urlsplit(accounts.address.url), accounts.address.is_loopback
    response.set_cookie(
        name,
        value,
        max_age=FLOW_SECONDS,
        path=f"{at.path}/accounts" if is_loopback else "/",  # as names with __Host- must have it
        secure=not is_loopback,
        httponly=True,
        samesite="Lax",
    )


def _seen_cookie(accounts: Accounts, token: str) -> str:
    return accounts.address.cookie(f"seen-{digest_of(token)[:12]}")


def _page(title: str, text: str, more: str = "", *, status: int = 200) -> web.Response:
    return web.Response(body=page(title, text, more).encode(), status=status)
