"""The Bolt app, which acknowledges an event only after the bot has stored it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.core.errors import BotError, MalformedPayload, StoreUnavailable
from bot.slack.edge.client import Clients, Identity, Token
from bot.slack.edge.workspaces import PerWorkspace
from bot.slack.ui import words

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)


_NAMES: dict[str, Any] = {
    "name": "slack_bolt.app",  # Bolt sets the level of the logger of this name
    # Without a logger, Bolt creates its own and gives each the root logger's level.
    "logger": logging.getLogger("slack_bolt"),
}


OnUninstalled = Callable[[str, str | None], Awaitable[None]]
"""Called with the workspace and its organisation, if any, when the app was uninstalled there."""

OnUnhandled = Callable[[dict[str, Any]], Awaitable[BoltResponse | None]]
"""Answers a payload that no listener handles; None for one that nobody waits for. Raises
MalformedPayload."""

UNINSTALL_EVENTS = frozenset({"app_uninstalled", "tokens_revoked"})


def workspace_router(
    workspaces: PerWorkspace[SlackApp],
    *,
    signing_secret: str = "",
    on_uninstalled: OnUninstalled | None = None,
) -> AsyncApp:
    """Return the app that receives every request and passes it to the app of its workspace."""
    app = _WorkspaceRouter(
        workspaces, authorize=_authorize_nobody, signing_secret=signing_secret, **_NAMES
    )

    async def without_workspace(req: AsyncBoltRequest) -> BoltResponse:
        """Acknowledge a request that no workspace handles, so that Slack does not repeat it."""
        team, enterprise = _workspace_of(req)
        is_uninstall = _event_type(req) in UNINSTALL_EVENTS
        if team and on_uninstalled and is_uninstall:
            await on_uninstalled(team, enterprise)
        elif is_uninstall:
            log.error("Slack has revoked SLACK_BOT_TOKEN: install the app again in %s", team)
        else:
            log.info("Ignored: the bot is not installed in %s", team)
        return BoltResponse(status=200, body=words.NOT_INSTALLED() if "command" in req.body else "")

    app.middleware(without_workspace)
    return app


class _WorkspaceRouter(AsyncApp):
    """A Bolt app that passes each request to the app of its workspace.

    It handles by itself what belongs to no installed workspace: signature checks, url_verification,
    uninstallations, and commands from workspaces where the bot is not installed.
    """

    def __init__(self, workspaces: PerWorkspace[SlackApp], **options: Any) -> None:
        super().__init__(**options)
        self._workspaces = workspaces

    @override
    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        team, enterprise = _workspace_of(req)
        if not team or _event_type(req) in UNINSTALL_EVENTS:
            return await super().async_dispatch(req)
        try:
            workspace = await self._workspaces.of(team, enterprise)
        except BotError as error:
            log.error("Not acknowledged, because its workspace could not be loaded: %s", error)  # noqa: TRY400 - a trace adds nothing
            return BoltResponse(status=503)
        if workspace is None:
            return await super().async_dispatch(req)
        return await workspace.bolt.async_dispatch(req)


def _workspace_of(req: AsyncBoltRequest) -> tuple[str | None, str | None]:
    """Return the workspace and the organisation of a request.

    A request for an organisation-wide installation names its workspace only outside
    `authorizations`, where Bolt does not look.
    """
    team = req.context.team_id or req.body.get("team_id")
    return team, req.context.enterprise_id or req.body.get("enterprise_id")


def _event_type(req: AsyncBoltRequest) -> str:
    event = req.body.get("event")
    return str(event.get("type")) if isinstance(event, dict) else ""


async def _authorize_nobody() -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=None, team_id=None)


def bolt_app(
    clients: Clients, identity: Identity, on_unhandled: OnUnhandled, *, signing_secret: str = ""
) -> AsyncApp:
    """Return a Bolt app without listeners; `on_unhandled` answers what no listener handles.

    `process_before_response` makes Bolt run a listener to its end before it answers Slack: when the
    listener raises, the event is not acknowledged, and Slack delivers it again. Authorization uses
    the identity found at start: Bolt's own asks Slack, and acknowledges the event when that fails.
    """
    app = AsyncApp(
        client=AsyncWebClient(base_url=clients.base_url, session=clients.session),
        authorize=_authorize_as(identity, clients.token),
        signing_secret=signing_secret,
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        attaching_conversation_kwargs_enabled=False,
        **_NAMES,
    )

    @app.error
    async def answer_error(error: Exception, body: dict[str, Any]) -> BoltResponse | None:
        if isinstance(error, BoltUnhandledRequestError):
            try:
                if response := await on_unhandled(body):
                    return response
            except MalformedPayload as malformed:
                error = malformed
        return _response_to(error)

    return app


def _authorize_as(identity: Identity, token: Token):  # type: ignore[no-untyped-def]  # noqa: ANN202 - Bolt inspects the function's parameter names
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=identity.enterprise,
            team_id=identity.team,
            bot_user_id=identity.user,
            bot_id=identity.bot,
            bot_token=await token(),
        )

    return authorize


def _response_to(error: Exception) -> BoltResponse | None:
    """Return the response for an event whose listener raised; None leaves it unacknowledged.

    An event that can never be handled is acknowledged, or Slack would deliver it again and again.
    """
    if isinstance(error, BoltUnhandledRequestError):
        log.debug("Ignored: no listener for it")
        return BoltResponse(status=200, body="")
    if isinstance(error, MalformedPayload):
        log.warning("Ignored: Slack sends no such thing: %s", error)
        return BoltResponse(status=200, body="")
    if isinstance(error, StoreUnavailable):
        log.warning("Not acknowledged, so that Slack sends it again: %s", error)
        return BoltResponse(status=503, body="")
    log.error("Not acknowledged: a listener failed", exc_info=error)
    return None
