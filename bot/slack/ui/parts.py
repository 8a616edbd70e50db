"""Packing of an answer's pieces into messages within Slack's limits.

The limits (docs.slack.dev, block reference): per message 50 blocks, 12,000 characters of Markdown
in all blocks together, one table of 100 × 20, two charts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.slack.ui.blocks import Block, shortened
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import code_fence, linked, safe_blocks, safe_markdown

MAX_BLOCKS = 48
MAX_CHARTS = 2
PART_SIZE = 9_000
"""Characters of content in one message.

Below the 12,000 of Markdown, so that tables and cards in the same message do not exceed the size
at which Slack answers msg_too_long.
"""
BLOCK_SIZE = 3_000
"""Characters of one Markdown block: small enough to be packed well."""
TEXT_SIZE = 3_000
"""Characters of a message's plain text before escaping."""
_MAX_TEXT = 4_000  # characters, limit of chat.update
_MARKS = re.compile(
    r"!?\[(?P<label>(?:\\.|[^\[\]\\\n])+)\]\((?P<url>(?:[^()\s]|\([^()\s]*\))+)\)|"
    r"\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*|\\(?P<bare>[\\`*_{}\[\]()#+.!|~>-])|^#{1,6} +",
    re.MULTILINE,
)
_FENCE = re.compile(r"^ *(?:```+|~~~+)\w*\n", re.MULTILINE)  # the line that opens or closes code


@dataclass(frozen=True, slots=True)
class Piece:
    """A block that is never split. `plain` is its content as Markdown."""

    block: Block
    plain: str

    @property
    def weight(self) -> int:
        return max(len(self.plain), 1)


@dataclass(frozen=True, slots=True)
class Part:
    """One message: its blocks, and the same content as Markdown for fallbacks."""

    blocks: list[Block]
    plain: str

    @property
    def text(self) -> str:
        """Return the text of the notification, as mrkdwn without any markup."""
        # mrkdwn reads Markdown's code and links differently, so no address may remain a link.
        plain = without_formatting(self.plain)
        texts = (LinkGate().mrkdwn(shortened(plain, size)) for size in (TEXT_SIZE, 600))
        return next((text for text in texts if len(text) <= _MAX_TEXT), "") or "…"

    @property
    def text_is_cut(self) -> bool:
        """Return whether the text alone is incomplete."""
        return self.text.endswith("…")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of the message: its bytes, or the handle of its artifact.

    `alt` is the alt text of an image.
    """

    name: str
    data: bytes = b""
    handle: str = ""
    alt: str = ""


RenderedResult = tuple[list[Piece], list[Upload]]
"""The pieces of a result in reading order, and its files."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """All final messages of a run in order, then its files. `document` is the whole as Markdown."""

    parts: list[Part]
    uploads: list[Upload]
    document: str


@dataclass(slots=True)
class _Open:
    """A part that is being filled."""

    pieces: list[Piece] = field(default_factory=list)

    def has_room_for(self, piece: Piece, size: int) -> bool:
        kinds = [p.block["type"] for p in (*self.pieces, piece)]
        return not self.pieces or (
            len(kinds) <= MAX_BLOCKS
            and kinds.count("table") <= 1
            and kinds.count("data_visualization") <= MAX_CHARTS
            and sum(p.weight for p in self.pieces) + piece.weight <= size
        )

    def closed(self) -> Part:
        plain = "\n\n".join(piece.plain for piece in self.pieces if piece.plain)
        return Part([piece.block for piece in self.pieces], plain)


def without_formatting(markdown: str) -> str:
    """Remove formatting and marks of code from Markdown."""
    return unmarked(_FENCE.sub("", markdown).replace("`", ""))


def unmarked(markdown: str) -> str:
    """Remove formatting from Markdown, for notifications.

    Emphasis, heading marks and backslashes are removed; a link becomes its label and its address.
    """
    return _MARKS.sub(_unmarked, markdown)


def _unmarked(found: re.Match[str]) -> str:
    if not found["label"]:
        return unmarked(found["bold"] or "") or found["bare"] or ""
    label = unmarked(found["label"])
    return label if label == found["url"] else f"{label} ({found['url']})"


def packed(pieces: Iterable[Piece], size: int = PART_SIZE) -> list[Part]:
    """Distribute the pieces, in order, over as few messages as possible."""
    parts = [_Open()]
    for piece in pieces:
        if not parts[-1].has_room_for(piece, size):
            parts.append(_Open())
        parts[-1].pieces.append(piece)
    return [part.closed() for part in parts if part.pieces]


def markdown_pieces(text: str, gate: LinkGate) -> list[Piece]:
    """Pass a Markdown text through the gate and return it as blocks."""
    return joined(safe_blocks(text, gate))


def joined(blocks: list[str], *, between: str = "\n\n") -> list[Piece]:
    """Join safe Markdown into as few blocks as possible."""
    texts: list[list[str]] = [[]]
    for chunk in (chunk for block in blocks for chunk in chunks(block, BLOCK_SIZE)):
        if not _fits([*texts[-1], chunk], between):
            # A heading moves to the block of the text below it.
            last = texts[-1][-1]
            moves = last.startswith("#") and len(texts[-1]) > 1 and _fits([last, chunk], between)
            texts.append([texts[-1].pop()] if moves else [])
        texts[-1].append(chunk)
    return [written(between.join(text)) for text in texts if text]


def _fits(chunks: list[str], between: str) -> bool:
    return len(chunks) == 1 or len(between.join(chunks)) <= BLOCK_SIZE


def written(markdown: str) -> Piece:
    """Return safe Markdown as a block."""
    return Piece({"type": "markdown", "text": markdown}, markdown)


def context(mrkdwn: str, plain: str = "") -> Piece:
    """Return a small grey line, shortened if necessary.

    A cut inside code or a link removes that code or link. `plain` replaces the text in
    notifications, which show ids instead of names.
    """
    text = shortened(mrkdwn, 2_900)
    if text.count("`") % 2:
        text = f"{text.rpartition('`')[0]}…"
    if text.rfind("<") > text.rfind(">"):
        text = f"{text.rpartition('<')[0]}…"
    return Piece({"type": "context", "elements": [{"type": "mrkdwn", "text": text}]}, plain or text)


def chunks(block: str, size: int) -> list[str]:
    """Split a safe block into pieces of at most `size` characters, between lines if possible.

    A code block stays code in every piece.
    """
    if len(block) <= size:
        return [block]
    if block.startswith("```"):
        opening, *lines = block.split("\n")
        language = opening.lstrip("`")
        bodies = cut_text("\n".join(lines[:-1]), size - 2 * len(opening) - 20)
        return [code_fence(body, language) for body in bodies]
    # Rewrite each piece: a split code span would turn into text, and its addresses into links.
    gate = LinkGate(linked(block))
    return [safe_markdown(chunk, gate) for chunk in cut_text(block, size)]


def cut_text(text: str, size: int) -> list[str]:
    """Split a text into pieces of at most `size` characters, between lines or words if possible."""
    chunks = []
    while len(text) > size:
        at = max(text.rfind("\n", size // 2, size), 0) or max(text.rfind(" ", size // 2, size), 0)
        at = at or size
        chunks.append(text[:at].rstrip("\n"))
        text = text[at:].lstrip("\n")
    return [chunk for chunk in (*chunks, text) if chunk.strip()]


_FORMAT = "{date_short_pretty}, {time}"


def local_time(epoch: int) -> str:
    """Return a date and time as mrkdwn, with UTC as the fallback for older clients."""
    return f"<!date^{epoch}^{_FORMAT}|{universal_time(epoch)}>"


def local_day(epoch: int) -> str:
    """Return a date as mrkdwn."""
    return f"<!date^{epoch}^{{date_short}}|{universal_time(epoch)[:10]}>"


def local_time_element(epoch: int) -> Block:
    """Return a date and time as an element of rich text."""
    return {
        "type": "date",
        "timestamp": epoch,
        "format": _FORMAT,
        "fallback": universal_time(epoch),
    }


def universal_time(epoch: int) -> str:
    """Return a date and time in UTC, for places in which Slack formats nothing."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M UTC")
