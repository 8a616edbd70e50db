"""Withdrawal of a run's message, so that the rest of the run is posted at the end of the thread.

Slack notifies nobody of an edit, and nobody looks for an answer above the card that they pressed
or in an hours-old message.
"""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError

from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.edge.client import TRANSPORT_ERRORS, error_code, error_reason
from bot.slack.message.message_writer import MessageWriter
from bot.slack.ui import words
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import Part, context

log = logging.getLogger(__name__)


async def is_above_cards(ts: str, post: PostedMessages) -> bool:
    """Return whether the run posted an approval card below its message."""
    return any(float(card) > float(ts) for card in await post.cards())


async def withdraw(ts: str, post: PostedMessages, writer: MessageWriter) -> bool:
    """Delete the run's message; return False if it stays.

    The saved ts is cleared before the deletion, so that a worker which resumes the run after a
    crash in between finds either the message or none.
    """
    if not await writer.is_there(ts):  # somebody deleted it; the next update will report that
        return False
    await post.save_message("")
    try:
        await writer.delete(ts)
    except SlackApiError as error:
        log.warning("Message %s cannot be replaced: %s", ts, error_code(error))
        await post.save_message(ts)
        return False
    failpoint("message-left")
    return True


async def leave_thread(request: Request, post: PostedMessages, writer: MessageWriter) -> None:
    """Say in the thread, where a run began, that its asker alone reads the rest. Safe to repeat.

    If Slack cannot do that now, the end of the run tries again.
    """
    if not request.kept_private or not (ts := await post.message()):
        return
    person = LinkGate().mrkdwn(request.author)
    await writer.name_questions()  # nobody is to answer it in the thread
    part = Part([context(words.KEPT_PRIVATE(person=person)).block], words.KEPT_PRIVATE_PLAIN())
    try:
        await writer.update(ts, part)
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("Message %s still says that its run waits: %s", ts, error_reason(error))
    else:
        await post.save_message("")
