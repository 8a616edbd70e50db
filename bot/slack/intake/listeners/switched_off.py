"""Jobs that people started with a feature that is switched off now: each ends with a sentence."""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError

from bot.core.request import Request
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients
from bot.slack.ui import words
from bot.text.translation import load_catalogue, reader

log = logging.getLogger(__name__)


async def tell_switched_off(clients: Clients, request: Request) -> None:
    """Tell the person who started a job that nothing does it; nobody else sees that."""
    await load_catalogue(request.locale)
    with reader(request.locale):
        sentence = words.JOB_SWITCHED_OFF()
    try:
        await clients.writes.chat_postEphemeral(
            channel=request.channel, user=request.user, text=sentence
        )
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("Nobody was told that a job is switched off: %s", type(error).__name__)
