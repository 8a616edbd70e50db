"""The bolt app: what Slack sends is acknowledged when it is safe with us, and not before."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.core.errors import BotError, MalformedPayload, StoreUnavailable
from bot.slack.actions.questions import QuestionIntake
from bot.slack.incoming.intake import Intake
from bot.slack.render import words
from bot.slack.transport.client import Clients, Identity, Token
from bot.slack.transport.workspaces import PerWorkspace, Slack

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
    asking: QuestionIntake


TakenOut = Callable[[str, str | None], Awaitable[None]]
"""What to do when a workspace (and its organisation, if any) has taken the app out."""

REMOVALS = frozenset({"app_uninstalled", "tokens_revoked"})


def front_door(
    listeners: PerWorkspace[Listener],
    *,
    signing_secret: str = "",
    taken_out: TakenOut | None = None,
) -> AsyncApp:
    """Where everything arrives, and is handed to the app of the workspace that it is about."""
    app = _FrontDoor(listeners, authorize=_nobody, signing_secret=signing_secret, **_NAMES)

    async def by_itself(req: AsyncBoltRequest) -> BoltResponse:
        """Acknowledged, or Slack would deliver it again; a command is answered."""
        team, enterprise = _about(req)
        is_removal = _event_type(req) in REMOVALS
        if team and taken_out and is_removal:
            await taken_out(team, enterprise)
        elif is_removal:
            log.error("Slack has revoked SLACK_BOT_TOKEN: install the app again in %s", team)
        else:
            log.info("Ignored: the bot is not installed in %s", team)
        return BoltResponse(status=200, body=words.NOT_INSTALLED if "command" in req.body else "")

    app.middleware(by_itself)
    return app


class _FrontDoor(AsyncApp):
    """By itself it checks signatures, answers Slack's checks of the address, hears of removals, and
    tells people of workspaces without an installation so."""

    def __init__(self, listeners: PerWorkspace[Listener], **options: Any) -> None:
        super().__init__(**options)
        self._listeners = listeners

    @override
    async def async_dispatch(self, req: AsyncBoltRequest) -> BoltResponse:
        team, enterprise = _about(req)
        if not team or _event_type(req) in REMOVALS:
            return await super().async_dispatch(req)
        try:
            listener = await self._listeners.of(team, enterprise)
        except BotError as error:
            log.error("Not acknowledged, nobody can say whose it is: %s", error)  # noqa: TRY400 - a clear line
            return BoltResponse(status=503)
        if listener is None:
            return await super().async_dispatch(req)
        return await listener.app.async_dispatch(req)


def _about(req: AsyncBoltRequest) -> tuple[str | None, str | None]:
    """Workspace and organisation. What comes for an installation of an organisation names its
    workspace only outside the authorisation, where bolt does not look."""
    team = req.context.team_id or req.body.get("team_id")
    return team, req.context.enterprise_id or req.body.get("enterprise_id")


def _event_type(req: AsyncBoltRequest) -> str:
    event = req.body.get("event")
    return str(event.get("type")) if isinstance(event, dict) else ""


async def _nobody() -> AuthorizeResult:
    return AuthorizeResult(enterprise_id=None, team_id=None)


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
    """Answer Slack where a listener did not. What cannot be acted on is acknowledged, or Slack would
    deliver it again and again; None leaves it unacknowledged."""
    if isinstance(error, BoltUnhandledRequestError):
        log.debug("Ignored: nobody listens to it")
        return BoltResponse(status=200, body="")
    if isinstance(error, MalformedPayload):
        log.warning("Ignored: Slack sends no such thing: %s", error)
        return BoltResponse(status=200, body="")
    if isinstance(error, StoreUnavailable):
        log.warning("Not acknowledged, so that Slack sends it again: %s", error)
        return BoltResponse(status=503, body="")
    log.error("Not acknowledged: a listener failed", exc_info=error)
    return None
