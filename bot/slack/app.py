"""The bolt app: what Slack sends is acknowledged when it is safe with us, and not before."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.slack.client import Clients, Identity, Token
from bot.slack.intake import Intake
from bot.slack.render import words
from bot.slack.workspaces import PerWorkspace, Slack

log = logging.getLogger(__name__)


_NAMES: dict[str, Any] = {
    "name": "slack_bolt.app",  # bolt sets the level of the logger of this name
    # Without one, bolt names its loggers anew and gives each the root's level.
    "logger": logging.getLogger("slack_bolt"),
}


@dataclass(frozen=True, slots=True)
class Listener:
    """Takes in what happens in one workspace."""

    slack: Slack
    app: AsyncApp
    intake: Intake


def front_door(listeners: PerWorkspace[Listener], *, signing_secret: str = "") -> AsyncApp:
    """Where everything arrives, and is handed to the app of the workspace that it is about."""
    app = _FrontDoor(listeners, authorize=_nobody, signing_secret=signing_secret, **_NAMES)
    app.middleware(_not_installed)
    return app


class _FrontDoor(AsyncApp):
    """By itself it checks signatures, answers Slack's checks of the address, and tells people of
    workspaces without an installation so."""

    def __init__(self, listeners: PerWorkspace[Listener], **options: Any) -> None:
        super().__init__(**options)
        self._listeners = listeners

    @override
    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        team = req.context.team_id or req.body.get("team_id")
        enterprise = req.context.enterprise_id or req.body.get("enterprise_id")
        listener = await self._listeners.of(team, enterprise) if team else None
        if listener is None:
            return await super().async_dispatch(req)
        return await listener.app.async_dispatch(req)


async def _nobody(**_: Any) -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=None, team_id=None)


async def _not_installed(req: AsyncBoltRequest) -> BoltResponse:
    """Acknowledged, or Slack would deliver it again; a command is answered."""
    log.info("Ignored: the bot is not installed in %s", req.context.team_id)
    return BoltResponse(status=200, body=words.NOT_INSTALLED if "command" in req.body else "")


def slack_app(clients: Clients, identity: Identity, *, signing_secret: str = "") -> AsyncApp:
    """An app without listeners.

    `process_before_response` makes bolt run a listener to its end before it answers Slack: one
    that raises is not acknowledged, and Slack delivers again. Authorisation uses the identity
    found at start: bolt's own asks Slack for it and acknowledges the event when that fails.
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
    app.error(_answer_error)
    return app


def _authorize_as(identity: Identity, token: Token):  # type: ignore[no-untyped-def]  # noqa: ANN202 - bolt finds the function's shape by its parameter names
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=identity.enterprise,
            team_id=identity.team,
            bot_user_id=identity.user,
            bot_id=identity.bot,
            bot_token=await token(),
        )

    return authorize


async def _answer_error(error: Exception) -> BoltResponse | None:
    """What nobody listens to is acknowledged, or Slack would deliver it again and again."""
    if isinstance(error, BoltUnhandledRequestError):
        return BoltResponse(status=200, body="")
    log.error("Not acknowledged: a listener failed", exc_info=error)
    return None
