"""Drafts of replies: shown in a block to copy, and posted as exactly the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.slack.ui.blocks import Block, rich, rich_text, text_element
from bot.slack.ui.links import Link, LinkGate
from bot.slack.ui.links import Piece as TextPiece
from bot.slack.ui.markdown import code_fence
from bot.slack.ui.parts import BLOCK_SIZE, Piece, cut_text, without_formatting
from bot.text.mentions import Mention

_BULLET = re.compile(r"^([ \t]*)[-*+] (?=\S)", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]+\]")


def has_placeholder(markdown: str) -> bool:
    """Return whether the draft leaves something for its person to fill in, as "[the date]"."""
    return bool(_PLACEHOLDER.search(_plain(markdown)))


def draft_block(markdown: str, gate: LinkGate) -> list[Piece]:
    """Return a draft as preformatted text, which Slack offers to copy."""
    texts = cut_text("".join(map(_text, gate.pieces(_plain(markdown)))), BLOCK_SIZE)
    return [
        Piece(rich_text(rich("preformatted", text_element(text))), code_fence(text))
        for text in texts
    ]


def posted_draft(markdown: str, gate: LinkGate) -> list[Piece]:
    """Return the same text as people post it: with the links and mentions that `gate` permits."""
    return [
        Piece(rich_text(rich("section", *_elements(text, gate))), text)
        for text in cut_text(_plain(markdown), BLOCK_SIZE)
    ]


def _elements(text: str, gate: LinkGate) -> Iterator[Block]:
    for piece in gate.pieces(text):
        match piece:
            case Link(url, label) if label == url:
                yield {"type": "link", "url": url}
            case Mention() if piece.is_of_a_person:
                yield {"type": "user", "user_id": piece.id}
            case Mention():
                yield {"type": "channel", "channel_id": piece.id}
            case _:
                if shown := _text(piece):
                    yield text_element(shown)


def _plain(markdown: str) -> str:
    """Return Markdown as it is typed in Slack: without marks, and with • for each item of a list."""
    return _BULLET.sub(r"\1• ", without_formatting(markdown)).strip()


def _text(piece: TextPiece) -> str:
    match piece:
        case Link(url, label):
            return url if label == url else f"{label} ({url})"
        case Mention():
            return piece.shown
        case _:
            return piece.text
