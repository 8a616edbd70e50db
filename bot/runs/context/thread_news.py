"""News of a thread: what people wrote there since the bot last looked, as data for the model.

When people mention the bot in a thread, it reads the messages above, once, as a person would do: they
go into the conversation before the question, in the form of `read_thread`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from bot.agent import prompts
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.errors import ToolError
from bot.core.request import FileRef, Request
from bot.text.invisible_text import without_invisible
from bot.text.redaction import redacted
from bot.text.time_zones import zone_of
from bot.toolkit import Conversation, ThreadMessage, message_line

log = logging.getLogger(__name__)

_SECONDS = 10.0  # for all calls to Slack: the answer matters more
_LOOK_BACK = 50  # messages that are considered
_MOST = 30
_MOST_CHARACTERS = 8_000
"""Messages that are quoted, the latest, and characters of all of them."""
_LONGEST = 2_000  # characters of one
_MOST_FILES = 10  # the latest


@dataclass(frozen=True, slots=True)
class ThreadNews:
    """The news of a thread that the conversation must know before a question is answered.

    `items` are messages to the model, which lack `left_out` earlier ones, `files` were attached by
    people, and `links` lead to the messages. `seen` is the new value of `CallerState.seen`.
    """

    seen: str
    items: tuple[Item, ...] = ()
    files: tuple[FileRef, ...] = ()
    links: tuple[str, ...] = ()
    left_out: int = 0


async def news_of_thread(
    request: Request,
    conversation: Conversation,
    caller: CallerState,
    entries: Sequence[LedgerEntry],
) -> ThreadNews:
    """Return what people wrote in the thread of `request` that the conversation does not have.

    `entries` is the ledger of the conversation. The thread is read only if it may have news. If it
    cannot be read, the question is answered without it, and the next question tries again.
    """
    since = caller.seen
    if not (since or caller.known) and any(entry.response_id for entry in entries):
        since = request.ts  # the thread began before `seen` was stored
    if not _may_have_news(request, since):
        return ThreadNews(seen=max(since, request.ts, key=_moment))
    try:
        async with asyncio.timeout(_SECONDS):
            found = await conversation.new_in_thread(since, before=request.ts, limit=_LOOK_BACK)
    except (ToolError, TimeoutError) as error:
        why = str(error) or "Slack took too long"
        log.warning("a question is answered without the messages of its thread: %s", why)
        return ThreadNews(seen=caller.seen)
    known = {request.ts, request.message, *caller.known}
    runs = {entry.run_id for entry in entries if entry.run_id}
    new = [each for each in found.messages if _is_new(each, since, known, runs)]
    files = {file.id: file for each in new if not each.own for file in each.files}
    asked_with = {file.id for file in request.files}
    lines = _lines(request, new, since)
    shown = new[len(new) - len(lines) :]
    left_out = found.left_out + len(new) - len(shown)
    item = prompts.thread_messages(request, lines, left_out, is_first=not since)
    return ThreadNews(
        seen=request.ts,
        items=(item,) if lines else (),
        files=tuple(file for file in files.values() if file.id not in asked_with)[-_MOST_FILES:],
        links=tuple(each.url for each in shown if each.url),
        left_out=left_out,
    )


def _may_have_news(request: Request, since: str) -> bool:
    """Return whether the thread may have messages that the conversation does not have.

    There are none above the message that opens a thread, and none in direct messages that the bot
    has read before: everything that the person writes there is a question.
    """
    if not request.thread or request.ts == request.thread or request.message == request.thread:
        return False
    is_read = request.channel.startswith("D") and bool(since)
    return not is_read and (not since or _moment(since) < _moment(request.ts))


def _is_new(
    message: ThreadMessage, since: str, known: Collection[str], runs: Collection[str]
) -> bool:
    """Return whether the conversation lacks the message. It has the bot's answers and files, unless
    another conversation posted them."""
    if message.ts in known or message.run in runs:
        return False
    return not (message.own and message.files and since) and bool(message.text or message.files)


def _lines(request: Request, messages: Sequence[ThreadMessage], since: str) -> list[str]:
    """Return the latest messages, oldest first, each as read_thread shows it."""
    zone, lines, room = zone_of(request.time_zone), list[str](), _MOST_CHARACTERS
    for each in reversed(messages[-_MOST:]):
        text = redacted(without_invisible(each.text))
        text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        was_read = bool(since) and _moment(each.ts) <= _moment(since)
        author = f"{each.author} (edited)" if was_read else each.author
        line = message_line(replace(each, text=text, author=author), zone)
        room -= len(line)
        if room < 0 and lines:
            break
        lines.append(line)
    return lines[::-1]


def _moment(ts: str) -> float:
    """Return a ts as a number; 0 for "" and for a place without times, such as a terminal."""
    try:
        return float(ts)
    except ValueError:
        return 0.0
