"""Files that stand in a thread above a question, with which most often it is about them."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from bot.agent.prompts import IMAGE_REFERENCE, is_image
from bot.core.chain import LedgerEntry
from bot.core.errors import ToolError
from bot.core.request import FileRef, Request
from bot.toolkit import Conversation

log = logging.getLogger(__name__)

_MOST = 10  # of more the latest are named; all can be found with a tool
_LOOK_BACK = 50  # messages of the thread


async def files_of_thread(
    request: Request,
    conversation: Conversation,
    entries: Iterable[LedgerEntry],
    *,
    images: bool,
) -> tuple[FileRef, ...]:
    """Those that the model has not been told of, nor, with `images`, been shown: the latest few. What
    the bot shared itself is not among them. None when the thread cannot be read, as for a request
    that began it."""
    if request.thread == request.ts or not request.thread:
        return ()
    try:
        messages = await conversation.thread(limit=_LOOK_BACK, before=request.ts)
    except ToolError as error:
        log.info("The thread's files are not named: %s", error)
        return ()
    known = {file.id for file in request.files}
    told = _told(entries)

    def is_new(file: FileRef) -> bool:
        shown = images and is_image(file)
        told_as = f"{IMAGE_REFERENCE}{file.id}'" if shown else f"(file_id {file.id},"
        return file.id not in known and told_as not in told

    files = (file for message in messages if not message.own for file in message.files)
    found = {file.id: file for file in files if is_new(file)}
    return tuple(found.values())[-_MOST:]


def _told(entries: Iterable[LedgerEntry]) -> str:
    """What people's messages to the model said and showed."""
    items = (item for entry in entries for item in entry.items)
    return "\n".join(repr(item.get("content")) for item in items if item.get("role") == "user")
