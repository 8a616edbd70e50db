"""A catalogue that is too long to be listed: the model searches it."""

from __future__ import annotations

from dataclasses import replace

from bot.agent.calls.call import Toolbox
from bot.dev.model import Script, call, finish
from tests.unit.agent.harness import ANSWER, Bench, bench, small_tools


def unlisted(place: Bench) -> None:
    toolbox = place.parts.toolbox
    catalogue = small_tools(place.gate).listing(0)
    long = Toolbox(catalogue, toolbox.services, toolbox.artifacts)
    place.parts = replace(place.parts, toolbox=long)


async def test_a_tool_is_found_then_acquired_then_used() -> None:
    """D1: the description names groups and how many tools each has; a search brings lines."""
    script = Script(
        [
            call("acquire_tools", {"names": [], "search": "something extra"}),
            call("acquire_tools", {"names": ["extra"], "search": None}),
            call("extra", {"what": "x"}),
            finish(ANSWER),
        ]
    )
    async with bench(script) as place:
        unlisted(place)
        await place.run()
    described = str(place.api.requests[0].body["tools"])
    assert "rare (1)" in described
    assert "Something extra" not in described
    [found] = place.outputs(1).values()
    assert found.splitlines()[1:] == ["- extra: Something extra"]
    assert list(place.outputs(3).values()) == ["extra x"]


async def test_what_is_found_nowhere_is_said() -> None:
    """D1 D3: with what to do next; a name that is wrong brings near ones, not the catalogue."""
    script = Script(
        [
            call("acquire_tools", {"names": ["extras"], "search": "weather"}),
            call("acquire_tools", {"names": [], "search": None}),
            finish(ANSWER),
        ]
    )
    async with bench(script) as place:
        unlisted(place)
        await place.run()
    [text] = place.outputs(1).values()
    assert "there is no such tool. Similar: extra" in text
    assert "No tool fits these words." in text
    [text] = place.outputs(2).values()
    assert "Give" in text
