"""Pieces of an answer packed into messages that Slack takes.

Slack's limits (docs.slack.dev, block reference): 50 blocks a message, 12,000 characters of
Markdown over all its blocks, one table of 100 × 20, two charts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from bot.slack.render.links import LinkGate
from bot.slack.render.markdown import code_fence, linked, safe_blocks, safe_markdown

Block = dict[str, Any]

MAX_BLOCKS = 48
MAX_CHARTS = 2
PART_SIZE = 9_000
"""Characters of content in one message: under the 12,000 of Markdown, and low enough that tables
and cards beside it stay below what Slack was seen to refuse as msg_too_long."""
BLOCK_SIZE = 3_000
"""Characters of one Markdown block: small enough to be packed well."""
TEXT_SIZE = 3_000
"""Characters of the plain text beside the blocks, before they are escaped."""
_MAX_TEXT = 4_000  # what chat.update takes
_MARKS = re.compile(
    r"!?\[(?P<label>(?:\\.|[^\[\]\\\n])+)\]\((?P<url>(?:[^()\s]|\([^()\s]*\))+)\)|"
    r"\*\*(?=\S)(?P<bold>.+?)(?<=\S)\*\*|\\(?P<bare>[\\`*_{}\[\]()#+.!|~>-])|^#{1,6} +",
    re.MULTILINE,
)
_FENCE = re.compile(r"^ *```+\w*\n", re.MULTILINE)  # the line that opens or closes code


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that is shown whole. `plain` is all that it says, as Markdown."""

    block: Block
    plain: str

    @property
    def weight(self) -> int:
        return max(len(self.plain), 1)


@dataclass(frozen=True, slots=True)
class Part:
    """One message: what is shown, and the same as plain Markdown for clients and for fallbacks."""

    blocks: list[Block]
    plain: str

    @property
    def text(self) -> str:
        """What a notification shows, as mrkdwn in which nothing is special."""
        # As mrkdwn, Markdown's code and links would be read otherwise: no address stays one.
        plain = unmarked(_FENCE.sub("", self.plain).replace("`", ""))
        texts = (LinkGate().mrkdwn(shortened(plain, size)) for size in (TEXT_SIZE, 600))
        return next((text for text in texts if len(text) <= _MAX_TEXT), "") or "…"

    @property
    def text_is_cut(self) -> bool:
        """True when the text alone would not say all."""
        return self.text.endswith("…")


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that belongs to the message: its bytes, or the handle of the artifact with them. `alt`
    says what an image shows to people who do not see it."""

    name: str
    data: bytes = b""
    handle: str = ""
    alt: str = ""


Drawn = tuple[list[Piece], list[Upload]]
"""A result in reading order, and the files that belong to it."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A whole terminal: messages in order, then files. `document` is all of it as Markdown."""

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


def unmarked(markdown: str) -> str:
    """Markdown where nothing is formatted, as in a notification: without stars, signs of headings
    and backslashes; a link as its name, with the address behind it."""
    return _MARKS.sub(_unmarked, markdown)


def _unmarked(found: re.Match[str]) -> str:
    if not found["label"]:
        return unmarked(found["bold"] or "") or found["bare"] or ""
    label = unmarked(found["label"])
    return label if label == found["url"] else f"{label} ({found['url']})"


def packed(pieces: Iterable[Piece], size: int = PART_SIZE) -> list[Part]:
    """The pieces in their order, in as few messages as they fit into."""
    parts = [_Open()]
    for piece in pieces:
        if not parts[-1].has_room_for(piece, size):
            parts.append(_Open())
        parts[-1].pieces.append(piece)
    return [part.closed() for part in parts if part.pieces]


def markdown_pieces(text: str, gate: LinkGate) -> list[Piece]:
    """A Markdown text through the gate, as blocks that fit into a message each."""
    return joined(safe_blocks(text, gate))


def joined(blocks: list[str], *, between: str = "\n\n") -> list[Piece]:
    """Markdown that is already safe, in as few blocks as it fits into."""
    texts: list[list[str]] = [[]]
    for chunk in (chunk for block in blocks for chunk in chunks(block, BLOCK_SIZE)):
        if not _fits([*texts[-1], chunk], between):
            # A heading goes with what it stands above.
            last = texts[-1][-1]
            goes = last.startswith("#") and len(texts[-1]) > 1 and _fits([last, chunk], between)
            texts.append([texts[-1].pop()] if goes else [])
        texts[-1].append(chunk)
    return [written(between.join(each)) for each in texts if each]


def _fits(chunks: list[str], between: str) -> bool:
    return len(chunks) == 1 or len(between.join(chunks)) <= BLOCK_SIZE


def written(markdown: str) -> Piece:
    """Markdown that is already safe, as a block."""
    return Piece({"type": "markdown", "text": markdown}, markdown)


def context(mrkdwn: str, plain: str = "") -> Piece:
    """A small grey line. One that is too long ends before the code or link that it is cut in. `plain`
    is what notifications have of it, where it mentions somebody: they would show the id."""
    text = shortened(mrkdwn, 2_900)
    if text.count("`") % 2:
        text = f"{text.rpartition('`')[0]}…"
    if text.rfind("<") > text.rfind(">"):
        text = f"{text.rpartition('<')[0]}…"
    return Piece({"type": "context", "elements": [{"type": "mrkdwn", "text": text}]}, plain or text)


def shortened(text: str, limit: int) -> str:
    """`text`, or its beginning with an ellipsis."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def chunks(block: str, size: int) -> list[str]:
    """A written block in pieces of at most `size` characters, cut between lines where it can be.

    A code block stays code in every piece.
    """
    if len(block) <= size:
        return [block]
    if block.startswith("```"):
        opening, *lines = block.split("\n")
        language = opening.lstrip("`")
        bodies = _cut("\n".join(lines[:-1]), size - 2 * len(opening) - 20)
        return [code_fence(body, language) for body in bodies]
    # The end of a code span, cut off from its beginning, would be text, and its addresses links.
    gate = LinkGate(linked(block))
    return [safe_markdown(chunk, gate) for chunk in _cut(block, size)]


def _cut(text: str, size: int) -> list[str]:
    chunks = []
    while len(text) > size:
        at = max(text.rfind("\n", size // 2, size), 0) or max(text.rfind(" ", size // 2, size), 0)
        at = at or size
        chunks.append(text[:at].rstrip("\n"))
        text = text[at:].lstrip("\n")
    return [chunk for chunk in (*chunks, text) if chunk.strip()]
