"""Tools that a request does not carry: the model calls one of the list, or searches a catalogue that
is too long to be listed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.agent.calls.call import Toolbox
from bot.dev.model import Script, call, finish
from tests.unit.agent.harness import ANSWER, Bench, bench, small_tools


def unlisted(place: Bench) -> None:
    toolbox = place.parts.toolbox
    catalogue = small_tools(place.gate).listing(0)
    long = Toolbox(catalogue, toolbox.services, toolbox.artifacts)
    place.parts = replace(place.parts, toolbox=long)


@pytest.mark.parametrize("stateless", [False, True])
async def test_a_listed_tool_runs_when_it_is_called(stateless: bool) -> None:
    """D1 D2 K6: no call to acquire it first; its context follows the output, and it is offered from
    then on."""
    script = Script([call("extra", {"what": "x"}), finish(ANSWER)])
    async with bench(script, stateless=stateless) as place:
        ended = await place.run()
    first, second = (place.api.requests[n].body["tools"] for n in (0, 1))
    assert [each["name"] for each in second] == [*(each["name"] for each in first), "extra"]
    assert list(place.outputs().values()) == ["extra x"]
    assert "use it for extras" in place.api.requests[1].body["input"][-1]["content"]
    assert ended.state.acquired == ("extra",)


@pytest.mark.parametrize("arguments", ["{", {"who": "x"}], ids=str)
async def test_with_wrong_arguments_its_schema_comes_back(arguments: Any) -> None:
    """D1 D3 K6: what is wrong, and what there is to know to do it right."""
    script = Script([call("extra", arguments), call("extra", {"what": "x"}), finish(ANSWER)])
    async with bench(script) as place:
        await place.run()
    [text] = place.outputs(1).values()
    assert text.startswith("The arguments of extra are not")
    assert '"properties":{"what":{"type":"string"}}' in text
    assert "extra" in [each["name"] for each in place.api.requests[1].body["tools"]]
    assert list(place.outputs(2).values()) == ["extra x"]


@pytest.mark.parametrize("name", ["extras", "extra"])
async def test_a_name_that_the_model_guessed_is_not_run(name: str) -> None:
    """D1: neither a near one nor, where no list names it, the right one: the schema comes back."""
    script = Script([call(name, {"what": "x"}), call("extra", {"what": "y"}), finish(ANSWER)])
    async with bench(script) as place:
        if name == "extra":
            unlisted(place)
        await place.run()
    [text] = place.outputs(1).values()
    assert "extra x" not in text
    assert "Similar names: extra" in text or '"what":' in text
    assert "extra y" in next(iter(place.outputs(2).values()))


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
    assert "There is no tool extras. Similar names: extra" in text
    assert "No tool fits these words." in text
    [text] = place.outputs(2).values()
    assert "Give" in text
