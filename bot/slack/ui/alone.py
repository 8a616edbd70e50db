"""The modal in which the asker of a private question sees that the bot works, and stops it.

Slack lets an app take away an ephemeral message only once somebody pressed a button in it, but replace a
modal at any time. So a private run leaves nothing behind but its answer.
"""

from __future__ import annotations

from bot.core.request import Request
from bot.slack.ui import words
from bot.slack.ui.blocks import Block, modal
from bot.slack.ui.buttons import Stops, stop_button
from bot.slack.ui.parts import context


def working_view(request: Request, link: str) -> Block:
    """Return the modal of a private question that is being answered, at the message of `link`."""
    line = words.ALONE() if request.kept_private else words.ALONE_AT(link=link)
    blocks = [
        context(line).block,
        stop_button(Stops.of(request)),
        context(words.ALONE_LEAVE()).block,
    ]
    return _modal(blocks) | {"external_id": view_name(request)}


def ended_view(request: Request, link: str) -> Block:
    """Return the modal of a private question once it has its answer."""
    line = words.ALONE_DONE_DIRECT() if request.kept_private else words.ALONE_DONE(link=link)
    return _modal([context(line).block])


def view_name(request: Request) -> str:
    """Return the name by which any process finds the modal of a private question."""
    return f"alone-{request.id}"


def _modal(blocks: list[Block]) -> Block:
    return modal(words.ALONE_TITLE(), blocks, close=words.CLOSE_ONLY())
