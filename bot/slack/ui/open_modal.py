"""Opening of modals, which Slack allows only within three seconds of a person's action."""

from __future__ import annotations

import logging
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.errors import MalformedPayload
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, error_code
from bot.slack.ui import words
from bot.slack.ui.button_payload import thread_of

log = logging.getLogger(__name__)

Body = dict[str, Any]


async def open_modal(clients: Clients, body: Body, view: Body) -> None:
    """Open a modal for the person whose payload `body` has a trigger_id.

    A repeated payload opens no second modal. When it is too late, the person gets a message. Raises
    MalformedPayload for an invented trigger_id, and SlackApiError.
    """
    try:
        await clients.live.views_open(trigger_id=body["trigger_id"], view=view)
    except SlackApiError as error:
        code = error_code(error)
        if code == "expired_trigger_id":
            await _say_too_late(clients, body)
        elif code == "invalid_trigger_id":
            raise MalformedPayload("a trigger_id that Slack did not give out") from None
        elif code != "exchanged_trigger_id":
            raise


async def _say_too_late(clients: Clients, body: Body) -> None:
    user = str(body.get("user_id") or body["user"]["id"])
    channel = body.get("channel_id") or (body.get("channel") or {}).get("id")
    log.warning("A modal for %s was not opened: the trigger_id had expired", user)
    try:
        if not channel or not await _post_ephemeral(clients, str(channel), thread_of(body), user):
            await clients.writes.chat_postMessage(channel=user, text=words.MODAL_TOO_LATE())
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("The message about it was not posted either: %s", type(error).__name__)


async def _post_ephemeral(clients: Clients, channel: str, thread: str | None, user: str) -> bool:
    """Post the message for `user` alone. Return False where the bot is not in the channel."""
    try:
        await clients.writes.chat_postEphemeral(
            channel=channel, user=user, thread_ts=thread, text=words.MODAL_TOO_LATE()
        )
    except SlackApiError:
        return False
    return True
