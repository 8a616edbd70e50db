"""What a model wrote for others to read, safe to keep and to post: no image is loaded, and only
addresses that the person who asked wrote are links, only whom they mentioned is mentioned in a
message. What may stand in it is decided now, whenever
it is shown. Under a message stands who wanted it.
"""

from __future__ import annotations

from typing import Any

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.mentions import mentioned_in
from bot.runs.outcomes import written_links
from bot.slack.render import words
from bot.slack.render.links import LinkGate
from bot.slack.render.markdown import safe_markdown
from bot.slack.render.parts import Part, context, markdown_pieces
from bot.slack.text import clean

_EMPTY = "The text is empty; there is nothing to write."


def message(text: str) -> dict[str, Any]:
    """The arguments of a message. Raises ToolError for an empty one."""
    call, said = current_request(), clean(text)
    gate = LinkGate(_links(), mentioned_in(said, call.mentioned))
    part = Part([piece.block for piece in markdown_pieces(said, gate)], said)
    if not part.blocks:
        raise ToolError(_EMPTY)
    return {
        "text": part.text,
        "blocks": [*part.blocks, context(_wanted_by()).block],
        "unfurl_links": False,
        "unfurl_media": False,
    }


def document(text: str) -> dict[str, str]:
    """The content of a canvas. Raises ToolError for an empty one."""
    written = safe_markdown(clean(text), LinkGate(_links()))
    if not written:
        raise ToolError(_EMPTY)
    return {"type": "markdown", "markdown": written}


def _wanted_by() -> str:
    """The people behind it, from the request itself: they answer for what the bot says there."""
    call = current_request()
    asked = words.ASKED_BY.format(person=call.user)
    if call.approved_by in ("", call.user):
        return asked
    return f"{asked} · {words.APPROVED_BY.format(person=call.approved_by)}"


def _links() -> frozenset[str]:
    return frozenset(written_links(*current_request().requests))
