"""Messages for `DraftReply`: the draft as a quotation to copy, then what to check in it."""

from __future__ import annotations

from bot.core.answers import DraftReply
from bot.core.outcome import Outcome
from bot.slack.ui import words
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_blocks
from bot.slack.ui.parts import BLOCK_SIZE, Piece, RenderedResult, chunks, context, joined
from bot.slack.ui.results.sections import opening, points, sources, titled


def draft_pieces(
    reply: DraftReply, outcome: Outcome, gate: LinkGate, _locale: str
) -> RenderedResult:
    """Return the draft and what supports it, with a note that nothing was posted."""
    quoted = _quoted(reply.draft, gate)
    pieces = [
        *([context(words.DRAFT())] if quoted else []),
        *(quoted or opening("", gate, otherwise=words.NO_TEXT())),
        *titled(words.ASSUMPTIONS(), points(reply.assumptions, gate)),
        *titled(words.GAPS(), points(reply.gaps, gate)),
        *titled(words.SOURCES(), sources(reply.sources, outcome, gate)),
    ]
    tone = " ".join(reply.tone.split())
    if tone:
        pieces.append(context(gate.mrkdwn(words.TONE(tone=tone))))
    return pieces, []


def _quoted(markdown: str, gate: LinkGate) -> list[Piece]:
    """Return the text as a quotation. Long blocks are split first, so that each piece has its marks."""
    blocks = [
        each for block in safe_blocks(markdown, gate) for each in chunks(block, _MAX_UNQUOTED)
    ]
    quoted = ["\n".join(f"> {line}".rstrip() for line in each.split("\n")) for each in blocks]
    return joined(quoted, between="\n>\n")


_MAX_UNQUOTED = BLOCK_SIZE // 3
"""Characters per piece: with the marks added, even a text of line feeds alone fits into a block."""
