"""Model-written text made safe to post or store for other readers.

No image is loaded. Only addresses that the asker wrote become links, and only people whom the
asker mentioned are mentioned. That is decided when the text is written, not when it is shown. A
context line names the people who asked for a message.
"""

from __future__ import annotations

from typing import Any

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.text.mentions import Mention
from bot.runs.outcomes import written_links
from bot.slack.incoming.text import clean
from bot.slack.render import words
from bot.slack.render.links import LinkGate
from bot.slack.render.markdown import safe_markdown
from bot.slack.render.parts import Part, context
from bot.slack.render.parts import written as block

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


def _safe_text(text: str) -> tuple[str, tuple[Mention, ...]]:
    gate = LinkGate(_links_of_request(), current_request().mentioned)
    written = safe_markdown(clean(text), gate)
    return written, tuple(gate.mentioned)


def _attribution() -> str:
    """Name the asker and the approver, from the request itself: they answer for the message."""
    call = current_request()
    asked = words.ASKED_BY(person=call.user)
    if call.approved_by in ("", call.user):
        return asked
    return f"{asked} · {words.APPROVED_BY(person=call.approved_by)}"


def _links_of_request() -> frozenset[str]:
    return frozenset(written_links(*current_request().requests))
