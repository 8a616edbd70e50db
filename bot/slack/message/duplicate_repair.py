"""Repair of a thread in which a worker wrote after it had lost its lease.

Slack knows nothing of leases. A process that is suspended between its lease check and its call of
Slack writes late: it posts a message that the new worker has posted too, or its old progress
overwrites the new worker's answer. The late worker repairs both, because the new worker may have
finished long ago.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence

from slack_sdk.errors import SlackApiError

from bot.core.errors import StoreError
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.message.message_writer import MessageWriter
from bot.slack.ui.buttons import AnswerButton
from bot.slack.ui.outcome import render

log = logging.getLogger(__name__)

_MAX_READS, _READ_INTERVAL = 20, 0.5  # seconds between two reads


async def repair_duplicates(
    request: Request,
    post: PostedMessages,
    writer: MessageWriter,
    buttons: Sequence[AnswerButton],
) -> None:
    """Delete duplicate messages of the run, and restore its final message if it has one,
    with the `buttons` of features.

    Safe to repeat, and safe while another worker holds the thread. A failure is logged, because no
    other process would repeat the repair.
    """
    try:
        groups = await writer.duplicates()
        saved = await _saved_message(post) if groups else None
        for late in _late_messages(groups, saved):
            log.warning("Message %s of run %s was posted twice and is deleted", late, post.run_id)
            await writer.delete(late)
        outcome = await post.decided()
        ts = await post.message()
        if outcome and ts and await writer.is_first_message(ts):
            await writer.name_questions()
            rendered = await asyncio.to_thread(render, outcome, request, buttons)
            await writer.restore(ts, rendered.parts[0])
    except (SlackApiError, StoreError, *TRANSPORT_ERRORS) as error:
        log.warning(
            "Run %s: late messages could not be repaired: %s", post.run_id, type(error).__name__
        )


async def _saved_message(post: PostedMessages) -> str | None:
    """Return the ts of the run's message; wait up to ten seconds for the other worker to save it."""
    for _ in range(_MAX_READS):
        if ts := await post.message():
            return ts
        await asyncio.sleep(_READ_INTERVAL)
    return None


def _late_messages(groups: Iterable[list[str]], saved: str | None) -> list[str]:
    """Return the messages to delete: all of each group but the saved one, or else the first."""
    late: list[str] = []
    for group in groups:
        keep = saved if saved in group else min(group)
        late += [ts for ts in group if ts != keep]
    return late
