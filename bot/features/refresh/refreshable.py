"""The figures of an answer that a refresh can read again: those in cells of tables that tools showed."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from bot.library.tracing.findings import Claim, Finding, Findings, Place, Verdict, claim_key
from bot.toolkit import Tool

ToolOf = Callable[[str], Tool | None]


def figures_of(traced: Findings) -> tuple[list[tuple[Finding, Place]], int]:
    """Return the figures of an answer that come from cells, wherever it has them, and the number of its
    other figures that come from calls."""
    cells, others = list[tuple[Finding, Place]](), set[Hashable]()
    for finding in traced.of(Verdict.READ, Verdict.WORKED_OUT):
        if place := _cell_of(finding):
            cells.append((finding, place))
        elif finding.kind is Claim.FIGURE and any(place.tool for place in finding.places):
            others.add(claim_key(finding))
    return cells, len(others - {claim_key(finding) for finding, _ in cells})


def is_refreshable(traced: Findings | None, tool_of: ToolOf) -> bool:
    """Return whether a figure of the answer comes from a call that may be made again."""
    figures, _ = figures_of(traced or Findings())
    return any(may_repeat(tool_of(place.tool)) for _, place in figures)


def may_repeat(tool: Tool | None) -> bool:
    """Return whether code may make calls of a tool again by itself.

    Nothing leaves the bot: an address or a query would need the checks of a run.
    """
    return tool is not None and tool.repeatable and tool.reads and not tool.is_outward


def _cell_of(finding: Finding) -> Place | None:
    """Return the place of a figure in a table, or as the single figure of a calculation."""
    if finding.kind is not Claim.FIGURE or finding.verdict is not Verdict.READ:
        return None
    places = (place for place in finding.places if place.tool)
    return next((one for one in places if one.column or one.handle.startswith("fig_")), None)
