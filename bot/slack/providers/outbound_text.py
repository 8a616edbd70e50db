"""Model-written text made safe to post or store for other readers.

No image is loaded. Only addresses that the asker wrote become links, and only people whom the
asker mentioned are mentioned. That is decided when the text is written, not when it is shown. A
context line names the people who asked for a message.
"""

from __future__ import annotations

import re
from typing import Any

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.links import written_links
from bot.slack.edge.text import clean
from bot.slack.ui import words
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_markdown
from bot.slack.ui.parts import Part, context
from bot.slack.ui.parts import written as block
from bot.text.mentions import Mention
from bot.text.redaction import redacted

_LIVE_MARKDOWN = re.compile(r"\][(:\[]|<[A-Za-z/!?]|://|\bwww\.", re.IGNORECASE)
"""What links, images, tags and bare addresses have in common."""
_MAX_MARKDOWN = 200_000  # characters
_EMPTY = "The text is empty; there is nothing to write."


def message(text: str) -> dict[str, Any]:
    """Return the arguments of a message for Slack's API. Raises ToolError if the text is empty."""
    written, _ = _safe_text(text)
    if not written:
        raise ToolError(_EMPTY)
    return {
        "text": Part([], clean(text)).text,
        "blocks": [piece.block for piece in (block(written), context(_attribution()))],
        "unfurl_links": False,
        "unfurl_media": False,
    }


def mentioned_in(text: str) -> tuple[Mention, ...]:
    """Return the people and channels that the text mentions outside of code."""
    return _safe_text(text)[1]


def document(text: str) -> dict[str, str]:
    """Return the content of a canvas for Slack's API. Raises ToolError if the text is empty."""
    written = safe_markdown(clean(text), LinkGate(_links_of_request()))
    if not written:
        raise ToolError(_EMPTY)
    return {"type": "markdown", "markdown": written}


def file_content(name: str, data: bytes) -> bytes:
    """Return a file as it may be shared: text without secrets, and Markdown without images and
    made-up links.

    Takes long: call it in a thread. Raises ToolError for Markdown that is too long for that.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data
    safe = redacted(text)
    if name.lower().endswith((".md", ".markdown")) and _LIVE_MARKDOWN.search(safe):
        if len(safe) > _MAX_MARKDOWN:
            raise ToolError(
                f"The Markdown has {len(safe):,} characters and links; {_MAX_MARKDOWN:,} is the "
                "most. Share it in parts, or as .txt."
            )
        safe = safe_markdown(clean(safe), LinkGate(current_request().permitted_links))
    return data if safe == text else safe.encode()


def _safe_text(text: str) -> tuple[str, tuple[Mention, ...]]:
    gate = LinkGate(_links_of_request(), current_request().mentioned)
    written = safe_markdown(clean(text), gate)
    return written, tuple(gate.mentioned)


def _attribution() -> str:
    """Name the asker and the approver, from the request itself: they answer for the message."""
    call = current_request()
    line = words.ASKED_BY(person=call.user)
    if call.approved_by in ("", call.user):
        return line
    return f"{line} · {words.APPROVED_BY(person=call.approved_by)}"


def _links_of_request() -> frozenset[str]:
    return frozenset(written_links(*current_request().requests))
