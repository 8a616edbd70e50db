"""A run's message that is left, for the rest of the run to be posted anew below.

Of an edit Slack tells nobody, and nobody looks for an answer above the card that they pressed, or
hours back.
"""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError

from bot.core.failpoints import failpoint
from bot.runs.surface import PostedMessages
from bot.slack.reply.message_writer import MessageWriter
from bot.slack.transport.client import error_code

log = logging.getLogger(__name__)


async def is_above_cards(ts: str, post: PostedMessages) -> bool:
    """Whether the run has asked people something below its message, and has gone on since."""
    return any(float(card) > float(ts) for card in await post.cards())


async def leave(ts: str, post: PostedMessages, poster: MessageWriter) -> bool:
    """Take the run's message away; False when it stays. Forgotten first: whoever goes on in between
    finds it, or none."""
    if not await poster.is_there(ts):  # somebody removed it, as its update will say
        return False
    await post.save_message("")
    try:
        await poster.take_back(ts)
    except SlackApiError as error:
        log.warning("Message %s cannot be posted anew: %s", ts, error_code(error))
        await post.save_message(ts)
        return False
    failpoint("message-left")
    return True
