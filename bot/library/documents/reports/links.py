"""Links of a report: only addresses that the caller permits can be clicked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

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
LinkOf = Callable[[str], str | None]
"""Gives the address to link to for one that a report names, None where it may not be a link."""


def with_permitted_links(blocks: Iterable[Block], link_of: LinkOf) -> tuple[Block, ...]:
    """Return the blocks with the addresses that `link_of` gives; others are text."""
    return tuple(_gated(block, link_of) for block in blocks)


def _gated(block: Block, link_of: LinkOf) -> Block:
    match block:
        case Heading() | Paragraph():
            return _gated_text(block, link_of)
        case Quote():
            return Quote(blocks=with_permitted_links(block.blocks, link_of))
        case Listing():
            items = tuple(with_permitted_links(item, link_of) for item in block.items)
            return block.model_copy(update={"items": items})
        case Table():
            heading = tuple(_gated_text(cell, link_of) for cell in block.heading)
            rows = tuple(tuple(_gated_text(cell, link_of) for cell in row) for row in block.rows)
            return block.model_copy(update={"heading": heading, "rows": rows})
        case _:
            return block


def _gated_text(text: T, link_of: LinkOf) -> T:
    return text.model_copy(update={"runs": tuple(_gated_run(run, link_of) for run in text.runs)})


def _gated_run(run: Run, link_of: LinkOf) -> Run:
    if not run.is_link:
        return run
    if (address := link_of(run.text)) is None:
        return run.model_copy(update={"is_link": False})
    return run.model_copy(update={"text": address})
