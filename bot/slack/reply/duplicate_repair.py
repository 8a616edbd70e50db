"""What is put right when a worker learns that another has had its thread for a while.

A process that stood still between its look at the lease and its call of Slack writes late: Slack
knows no leases. It then posted a message that the other posted too, or its last progress covers
the other's answer. Who wrote late puts both right; the other may have gone long ago.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from slack_sdk.errors import SlackApiError

from bot.core.errors import StoreError
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.render.outcome import render
from bot.slack.reply.message_writer import MessageWriter
from bot.slack.transport.client import TRANSPORT_ERRORS

log = logging.getLogger(__name__)

_LOOKS, _LOOK_AGAIN = 20, 0.5  # times, and seconds between them


async def put_right(request: Request, post: PostedMessages, poster: MessageWriter) -> None:
    """Take back messages of the run that are there twice, and put its end up again if it has one.

    Safe to repeat, and beside the worker that holds the thread. A failure is logged: nobody else
    could do more.
    """
    try:
        doubles = await poster.doubled()
        kept = await _recorded(post) if doubles else None
        for late in _late(doubles, kept):
            log.warning("Message %s of run %s was posted late: taken back", late, post.run_id)
            await poster.take_back(late)
        outcome = await post.decided()
        ts = await post.message()
        if outcome and ts and await poster.stands(ts):
            rendered = await asyncio.to_thread(render, outcome, request)
            await poster.restore(ts, rendered.parts[0])
    except (SlackApiError, StoreError, *TRANSPORT_ERRORS) as error:
        log.warning("Run %s: what was written late stays: %s", post.run_id, type(error).__name__)


async def _recorded(post: PostedMessages) -> str | None:
    """The run's message, which the other worker may be about to record; None if it does not."""
    for _ in range(_LOOKS):
        if ts := await post.message():
            return ts
        await asyncio.sleep(_LOOK_AGAIN)
    return None


def _late(doubles: Iterable[list[str]], kept: str | None) -> list[str]:
    """Of each group of equal messages all but the one that the run goes on with: the one on
    record, or else the first."""
    late: list[str] = []
    for group in doubles:
        stays = kept if kept in group else min(group)
        late += [ts for ts in group if ts != stays]
    return late
