"""What a model wrote for others to read, safe to keep and to post: no image is loaded, and only
addresses that the person who asked wrote are links, only whom they mentioned is mentioned in a
message. What may stand in it is decided now, whenever it is shown. Under a message stands who wanted it.
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
    """The arguments of a message. Raises ToolError for an empty one."""
    written, _ = _mentioning(text)
    if not written:
        raise ToolError(_EMPTY)
    return {
        "text": Part([], clean(text)).text,
        "blocks": [piece.block for piece in (block(written), context(_wanted_by()))],
        "unfurl_links": False,
        "unfurl_media": False,
    }


def mentioned_in(text: str) -> tuple[Mention, ...]:
    """Whom, and which channels, the message with that text mentions: a name in code does not."""
    return _mentioning(text)[1]


def document(text: str) -> dict[str, str]:
    """The content of a canvas. Raises ToolError for an empty one."""
    written = safe_markdown(clean(text), LinkGate(_links()))
    if not written:
        raise ToolError(_EMPTY)
    return {"type": "markdown", "markdown": written}


def _mentioning(text: str) -> tuple[str, tuple[Mention, ...]]:
    gate = LinkGate(_links(), current_request().mentioned)
    written = safe_markdown(clean(text), gate)
    return written, tuple(gate.mentioned)


def _wanted_by() -> str:
    """The people behind it, from the request itself: they answer for what the bot says there."""
    call = current_request()
    asked = words.ASKED_BY.format(person=call.user)
    if call.approved_by in ("", call.user):
        return asked
    return f"{asked} · {words.APPROVED_BY.format(person=call.approved_by)}"


def _links() -> frozenset[str]:
    return frozenset(written_links(*current_request().requests))
