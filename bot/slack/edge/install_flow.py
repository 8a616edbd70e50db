"""OAuth installation from a browser: `/slack/install` leads to Slack, which redirects back.

Slack redirects to `/slack/oauth_redirect`. The flow is Bolt's, with the bot's own pages: plain HTML
without external resources.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from html import escape
from urllib.parse import quote

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.oauth.async_callback_options import (
    AsyncCallbackOptions,
    AsyncFailureArgs,
    AsyncSuccessArgs,
)
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.oauth import OAuthStateUtils
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.core.errors import StoreError
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.installs import AppKeys
from bot.store.workspaces.installs import STATE_SECONDS, Install, InstallStore
from bot.text.translation import Text, reader_locale

HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",  # the address contains the OAuth code
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
}

_FAILED = {
    "access_denied": (
        Text("Nothing was installed"),
        Text(
            "The permissions were not granted. If your workspace needs an admin's approval, "
            "ask an admin to open this page."
        ),
    ),
    "invalid_browser": (
        Text("Please start again"),
        Text(
            "This link no longer works here. It was used already, is older than ten minutes, or was "
            "begun in another browser or without cookies. If the bot is in Slack already, you are done."
        ),
    ),
    "invalid_state": (
        Text("Please start again"),
        Text("This link was used before, or is older than ten minutes."),
    ),
    "missing_code": (Text("Please start again"), Text("Slack sent back incomplete information.")),
    "invalid_code": (
        Text("Please start again"),
        Text(
            "Slack did not accept this installation. Its link may have been used before. If it happens "
            "again, the bot's operator finds the reason in its log."
        ),
    ),
    "storage_error": (
        Text("Not installed yet"),
        Text(
            "The bot could not save the installation or could not reach Slack. Try again in a minute."
        ),
    ),
}
_ADD_TITLE, _ADD = Text("Add the bot to Slack"), Text("Add to Slack")
_ADD_TEXT = Text(
    "Slack will ask which workspace to add the bot to, and show what it may do there. It reads and "
    "writes only in conversations it is part of."
)
_INSTALLED, _OPEN, _START_AGAIN = Text("Installed"), Text("Open in Slack"), Text("Start again")
_IN_WORKSPACE = Text("The bot is in {name}.")
_IN_ORGANISATION = Text(
    "{name} has the bot. An admin of the organisation adds it to its workspaces."
)
_HOW_TO_BEGIN = Text(
    "Write to it directly, or invite it to a channel with /invite and mention it there."
)
_OTHERWISE = (
    Text("Nothing was installed"),
    Text("Slack ended the installation. Please start again."),
)

_PAGE = """<!doctype html>
<html lang="{language}"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<style>
body {{ font: 17px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem }}
h1 {{ font-size: 1.6rem; margin-bottom: .4rem }}
a, button {{ display: inline-block; margin-top: 1rem; padding: .6rem 1.2rem; border: 0; border-radius: .4rem; background: #4a154b; color: #fff; font: inherit; text-decoration: none; cursor: pointer }}
output {{ display: block; margin: 1rem 0; font: 600 2.2rem/1 ui-monospace, monospace; letter-spacing: .25em }}
@media (prefers-color-scheme: dark) {{ a, button {{ background: #7c3085 }} }}
</style></head>
<body><h1>{title}</h1><p>{text}</p>{more}</body></html>
"""


def install_page(url: str) -> str:
    """Return the first page; `url` is Slack's page that asks for consent."""
    return page(_ADD_TITLE(), _ADD_TEXT(), _link(url, _ADD()))


def installed_page(name: str, *, app: str, team: str) -> str:
    """Return the page after success. Without a `team` the app was installed for an organisation."""
    where = _IN_WORKSPACE if team else _IN_ORGANISATION
    text = f"{where(name=name)} {_HOW_TO_BEGIN()}"
    url = f"https://slack.com/app_redirect?app={quote(app)}{f'&team={quote(team)}' if team else ''}"
    return page(_INSTALLED(), text, _link(url, _OPEN()))


def failed_page(reason: str) -> str:
    """Return the page after a failure; `reason` is the error code of Bolt or Slack."""
    title, text = _FAILED.get(reason, _OTHERWISE)
    return page(title(), text(), _link("/slack/install", _START_AGAIN()))


def page(title: str, text: str, more: str = "") -> str:
    """Return a page; `more` is HTML."""
    language = reader_locale().partition("-")[0]
    return _PAGE.format(language=language, title=escape(title), text=escape(text), more=more)


def _link(url: str, text: str) -> str:
    return f'<a href="{escape(url)}">{escape(text)}</a>'


log = logging.getLogger(__name__)

INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"
SIGN_IN_PATH = "/accounts/proof"
"""Where Slack sends browsers back in which somebody has signed in with Slack."""


class Flow(AsyncOAuthFlow):
    """Bolt's OAuth flow with the bot's own first page."""

    @override
    async def build_install_page_html(self, url: str, request: AsyncBoltRequest) -> str:
        return install_page(url)


def oauth_flow(
    installs: InstallStore,
    keys: AppKeys,
    client: AsyncWebClient,
    *,
    scopes: Sequence[str],
    authorize_url: str,
) -> Flow:
    """Return a flow that asks for `scopes` at `authorize_url`, and stores the installation."""
    settings = AsyncOAuthSettings(
        client_id=keys.client_id,
        client_secret=keys.client_secret,
        scopes=list(scopes),
        user_scopes=[],
        install_path=INSTALL_PATH,
        redirect_uri_path=REDIRECT_PATH,
        authorization_url=authorize_url,
        installation_store=_InstallationStore(installs),
        state_store=_StateStore(installs),
        state_expiration_seconds=STATE_SECONDS,
        callback_options=AsyncCallbackOptions(success=_succeeded, failure=_failed),
        logger=logging.getLogger("slack_bolt"),
    )
    return Flow(client=client, logger=logging.getLogger("slack_bolt"), settings=settings)


class InstallPages:
    """The routes of the installation pages, which answer 503 outside `served_by`."""

    def __init__(self) -> None:
        self.routes = [
            web.get(INSTALL_PATH, self._install),
            web.get(REDIRECT_PATH, self._redirected),
        ]
        self._flow: Flow | None = None

    @contextmanager
    def served_by(self, flow: Flow) -> Generator[None]:
        """Serve the pages with `flow` inside the context."""
        self._flow = flow
        try:
            yield
        finally:
            self._flow = None

    async def _install(self, request: web.Request) -> web.Response:
        return await self._answer(request, lambda flow: flow.handle_installation)

    async def _redirected(self, request: web.Request) -> web.Response:
        return await self._answer(request, lambda flow: flow.handle_callback)

    async def _answer(
        self,
        request: web.Request,
        handler_of: Callable[[Flow], Callable[[AsyncBoltRequest], Awaitable[BoltResponse]]],
    ) -> web.Response:
        if self._flow is None:
            return web.Response(status=503)
        try:
            response = await handler_of(self._flow)(await to_bolt_request(request))
        except (StoreError, *TRANSPORT_ERRORS) as error:
            log.error("Nothing was installed: %s: %s", type(error).__name__, error)  # noqa: TRY400 - the failure is outside the bot
            response = _page(failed_page("storage_error"), 503)
        answer = await to_aiohttp_response(response)
        answer.headers.update(HEADERS)
        return answer


class _InstallationStore(AsyncInstallationStore):
    """An adapter of `InstallStore` with the one method that Bolt's flow calls."""

    def __init__(self, installs: InstallStore) -> None:
        self._installs = installs

    @override
    async def async_save(self, installation: Installation) -> None:
        await self._installs.save(_install(installation))
        log.warning("Installed in %s by %s", _holder(installation), installation.user_id)


class _StateStore(AsyncOAuthStateStore):
    def __init__(self, installs: InstallStore) -> None:
        self._installs = installs

    @override
    async def async_issue(self, *_args: object, **_kwargs: object) -> str:
        return self._installs.new_state()

    @override
    async def async_consume(self, state: str) -> bool:
        return await self._installs.use_state(state)


def _install(given: Installation) -> Install:
    return Install(
        holder=_holder(given),
        name=given.team_name or given.enterprise_name or "",
        app=given.app_id or "",
        bot=given.bot_id or "",
        bot_user=given.bot_user_id or "",
        token=given.bot_token or "",
        refresh_token=given.bot_refresh_token,
        expires_at=given.bot_token_expires_at,
        scopes=tuple(given.bot_scopes or ()),
        by=given.user_id,
        at=given.installed_at,
    )


def _holder(given: Installation) -> str:
    return str(given.enterprise_id if given.is_enterprise_install else given.team_id)


async def _succeeded(args: AsyncSuccessArgs) -> BoltResponse:
    given = args.installation
    name = given.team_name or given.enterprise_name or "your workspace"
    return _page(installed_page(name, app=given.app_id or "", team=given.team_id or ""), 200)


async def _failed(args: AsyncFailureArgs) -> BoltResponse:
    log.warning("An installation failed: %s", args.reason)
    return _page(failed_page(args.reason), args.suggested_status_code)


def _page(html: str, status: int) -> BoltResponse:
    """Return a final page, which also deletes the state cookie: its state is used or invalid."""
    deletion = OAuthStateUtils().build_set_cookie_for_deletion()
    return BoltResponse(status=status, body=html, headers={**HEADERS, "Set-Cookie": deletion})
