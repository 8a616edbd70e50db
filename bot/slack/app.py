"""The bolt app: what Slack sends is acknowledged when it is safe with us, and not before."""

from __future__ import annotations

import logging

from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.error import BoltUnhandledRequestError
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.slack.client import Clients, Identity

log = logging.getLogger(__name__)


def slack_app(clients: Clients, identity: Identity, *, signing_secret: str = "") -> AsyncApp:
    """An app without listeners.

    `process_before_response` makes bolt run a listener to its end before it answers Slack: one
    that raises is not acknowledged, and Slack delivers again. Authorisation uses the identity
    found at start: bolt's own asks Slack for it and acknowledges the event when that fails.
    """
    app = AsyncApp(
        name="slack_bolt.app",  # bolt sets the level of the logger of this name
        # Without one, bolt names its loggers anew and gives each the root's level.
        logger=logging.getLogger("slack_bolt"),
        client=AsyncWebClient(base_url=clients.base_url, session=clients.session),
        authorize=_authorize_as(identity, clients.token),
        signing_secret=signing_secret,
        process_before_response=True,
        raise_error_for_unhandled_request=True,
        attaching_conversation_kwargs_enabled=False,
    )
    app.error(_answer_error)
    return app


def _authorize_as(identity: Identity, token: str):  # type: ignore[no-untyped-def]  # noqa: ANN202 - bolt finds the function's shape by its parameter names
    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=identity.enterprise,
            team_id=identity.team,
            bot_user_id=identity.user,
            bot_id=identity.bot,
            bot_token=token,
        )

    return authorize


async def _answer_error(error: Exception) -> BoltResponse | None:
    """What nobody listens to is acknowledged, or Slack would deliver it again and again."""
    if isinstance(error, BoltUnhandledRequestError):
        return BoltResponse(status=200, body="")
    log.error("Not acknowledged: a listener failed", exc_info=error)
    return None
