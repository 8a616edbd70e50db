"""What a first request carries of tool definitions, against showing all (D1): bytes as they are sent,
the same on every machine."""

from __future__ import annotations

import json
from collections.abc import Iterable
from time import process_time
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from bot.app.tool_loading import catalogue
from bot.runs.run_deps import ToolsetCache
from bot.toolkit import Tool, tool

SERVICES = ("crm", "tickets", "calendar", "wiki")
ACTIONS = (
    *("find", "list", "read", "count", "export"),
    *("create", "update", "assign", "comment", "close"),
)
QUESTION = "Which region sold most last month? Draw a chart and post it in #sales."


MANY = [f"service{n}" for n in range(50)]
"""With the actions, 500 tools: what a few MCP servers bring."""


def synthetic(service: str, action: str) -> Tool:
    """A tool of ordinary size: four described arguments, a docstring of a few lines."""

    async def act(
        query: Annotated[str, Field(description="Words, or field:value pairs; all must match.")],
        state: Annotated[
            Literal["open", "closed", "any"], Field(description="Which to look at.")
        ] = "any",
        since: Annotated[
            str | None, Field(description="Only those changed since then; ISO 8601.")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=200, description="At most so many.")] = 20,
    ) -> str:
        """Placeholder."""
        return f"{query} {state} {since} {limit}"

    act.__name__ = f"{service}_{action}"
    act.__doc__ = (
        f"{action.capitalize()} items of the {service}. Items come newest first, with id, title, "
        "state, owner and the time of the last change. Narrow the query when there are too many."
    )
    return tool(group=service, summary=f"{action.capitalize()} items of the {service}")(act).tool


def size(definitions: Iterable[dict[str, Any]]) -> int:
    """As the SDK writes JSON."""
    written = (json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in definitions)
    return sum(len(each.encode()) for each in written)


@pytest.mark.parametrize(("services", "goal"), [((), 0.21), (SERVICES, 0.16)])
def test_a_first_request_is_small(
    services: tuple[str, ...], goal: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """D1: a line for each of the shipped tools, alone and with 40 more, is a fifth of all
    definitions at most; groups and the note of tools that may fit the question are a tenth."""
    tools = catalogue().joined_by(
        synthetic(each, action) for each in services for action in ACTIONS
    )
    first, everything = size(tools.always), size(each.definition() for each in tools.tools)
    grouped = tools.listing(0)
    note = len("\n".join(each.line for each in grouped.hints(QUESTION)))
    with capsys.disabled():
        share = f"{first:,} of {everything:,} bytes ({first / everything:.1%})"
        print(f"\nDefinitions at first, {len(tools.tools)} tools: {share}, note {note}")
    assert first <= goal * everything
    assert size(grouped.always) + note <= everything / 8
    assert note <= 400


def test_one_more_tool_costs_its_line() -> None:
    """What grows with the catalogue is its list, not the definitions."""
    before = catalogue()
    after = before.joined_by([synthetic("crm", "find")])
    assert size(after.always) - size(before.always) < 50


def test_five_hundred_tools_cost_little_more_than_fifty(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """D1: where there are too many for a line of each, a first request stays small. Seconds are of this process's CPU, to
    be seen."""
    many = [synthetic(service, action) for service in MANY for action in ACTIONS]
    began = process_time()
    tools = catalogue().joined_by(many)
    first = size(tools.always)
    built = process_time() - began
    acquired = [each.name for each in tools.search("export the tickets of service7", 10)]
    ranked = process_time() - began - built
    for _ in range(100):
        offered = (*tools.always, *tools.acquired(acquired))
    each_request = (process_time() - began - built - ranked) / 100
    offers, own = ToolsetCache(), catalogue()
    offers.catalogue(own, many, None, 100)
    again = process_time()
    for _ in range(100):
        known = offers.catalogue(own, list(many), None, 100)
    each_run = (process_time() - again) / 100
    everything = size(each.definition() for each in tools.tools)
    with capsys.disabled():
        share = f"{first:,} of {everything:,} bytes ({first / everything:.1%})"
        print(f"\nDefinitions in a first request, {len(tools.tools)} tools: {share}; CPU:")
        print(
            f"catalogue {built:.3f} s, first search {ranked:.3f} s, "
            f"definitions of a request {each_request * 1e6:.0f} µs, of a run {each_run * 1e6:.0f} µs"
        )
    assert first <= 0.05 * everything
    assert acquired[0] == "service7_export"
    assert known is offers.catalogue(own, many, None, 100)
    assert offers.catalogue(own, many[1:], None, 100).get(many[0].name) is None
    assert len(offered) == len(tools.core) + 1 + len(acquired)
