"""Links of a report: only addresses that the run may link to can be clicked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from bot.core.links import PermittedLinks
from bot.library.documents.reports.blocks import (
    Block,
    Heading,
    Listing,
    Paragraph,
    Quote,
    Run,
    Table,
    Text,
)

T = TypeVar("T", bound=Text)


def with_permitted_links(blocks: Iterable[Block], links: PermittedLinks) -> tuple[Block, ...]:
    """Return the blocks with every other address as text."""
    return tuple(_gated(block, links) for block in blocks)


def _gated(block: Block, links: PermittedLinks) -> Block:
    match block:
        case Heading() | Paragraph():
            return _gated_text(block, links)
        case Quote():
            return Quote(blocks=with_permitted_links(block.blocks, links))
        case Listing():
            items = tuple(with_permitted_links(item, links) for item in block.items)
            return block.model_copy(update={"items": items})
        case Table():
            heading = tuple(_gated_text(cell, links) for cell in block.heading)
            rows = tuple(tuple(_gated_text(cell, links) for cell in row) for row in block.rows)
            return block.model_copy(update={"heading": heading, "rows": rows})
        case _:
            return block


def _gated_text(text: T, links: PermittedLinks) -> T:
    return text.model_copy(update={"runs": tuple(_gated_run(run, links) for run in text.runs)})


def _gated_run(run: Run, links: PermittedLinks) -> Run:
    if not run.is_link:
        return run
    if not links.permits(run.text):
        return run.model_copy(update={"is_link": False})
    return run.model_copy(update={"text": links.as_provided(run.text)})
