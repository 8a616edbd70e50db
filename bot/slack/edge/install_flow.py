"""OAuth installation from a browser: `/slack/install` leads to Slack, which redirects back.

Slack redirects to `/slack/oauth_redirect`. The flow is Bolt's, with the bot's own pages.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager

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
from bot.slack.edge.install_pages import HEADERS, failed_page, install_page, installed_page
from bot.slack.edge.installs import AppKeys
from bot.store.workspaces.installs import STATE_SECONDS, Install, InstallStore

log = logging.getLogger(__name__)

INSTALL_PATH = "/slack/install"
REDIRECT_PATH = "/slack/oauth_redirect"


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
