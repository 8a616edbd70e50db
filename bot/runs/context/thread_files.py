"""Files posted in a thread above a question: the question is often about them."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from bot.agent.prompts import IMAGE_REFERENCE, is_image
from bot.core.chain import LedgerEntry
from bot.core.errors import ToolError
from bot.core.request import FileRef, Request
from bot.toolkit import Conversation

log = logging.getLogger(__name__)

_MOST = 10  # files: the latest are named, and a tool finds the others
_LOOK_BACK = 50  # messages of the thread


async def files_of_thread(
    request: Request,
    conversation: Conversation,
    entries: Iterable[LedgerEntry],
    *,
    images: bool,
) -> tuple[FileRef, ...]:
    """Return the latest files of the thread that the model does not know yet.

    With `images`, an image counts as known only once the model has seen it. Files of the bot itself
    are left out. Empty when the thread cannot be read, and for a request that began its thread.
    """
    if request.thread == request.ts or not request.thread:
        return ()
    try:
        messages = await conversation.thread(limit=_LOOK_BACK, before=request.ts)
    except ToolError as error:
        log.info("The thread's files cannot be listed: %s", error)
        return ()
    known = {file.id for file in request.files}
    known_texts = _user_texts(entries)

    def is_new(file: FileRef) -> bool:
        shown = images and is_image(file)
        reference = f"{IMAGE_REFERENCE}{file.id}'" if shown else f"(file_id {file.id},"
        return file.id not in known and reference not in known_texts

    files = (file for message in messages if not message.own for file in message.files)
    found = {file.id: file for file in files if is_new(file)}
    return tuple(found.values())[-_MOST:]


def _user_texts(entries: Iterable[LedgerEntry]) -> str:
    """Return the content of all user messages to the model as one text."""
    items = (item for entry in entries for item in entry.items)
    return "\n".join(repr(item.get("content")) for item in items if item.get("role") == "user")
