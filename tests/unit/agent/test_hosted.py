"""Tools that the model service runs itself: on by a setting, off where a channel does not allow them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from bot.agent.calls.call import Toolbox
from bot.agent.events import ToolEnded, ToolStarted
from bot.core.outcome import StopReason
from bot.dev.model import Script, calls, finish, raw
from bot.model import PriceList, ServerTraits
from bot.toolkit.hosted import HostedTools
from tests.unit.agent.harness import ANSWER, Bench, bench, small_tools

FOUND = "https://example.com/found"
SEARCHED = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "x", "sources": [{"type": "url", "url": FOUND}]},
}
ALL = HostedTools(web_search=True, code_interpreter=True, file_search=("vs_1",))


def hosting(place: Bench, *allowed: str) -> None:
    box = place.parts.toolbox
    catalogue = small_tools(place.gate).with_hosted(ALL.definitions()).only(allowed or None)
    place.parts = replace(place.parts, toolbox=Toolbox(catalogue, box.services, box.artifacts))


@pytest.mark.parametrize("stateless", [False, True])
async def test_the_service_searches_and_what_it_found_may_be_a_link(stateless: bool) -> None:
    """Calls of ours beside its own are answered as ever; its own want no output (B2)."""
    ours = calls(("add", {"a": 1, "b": 1})).items[0]
    called = {**ours, "call_id": "call_1", "status": "completed"}
    script = Script([raw([SEARCHED, called]), finish(ANSWER)])
    async with bench(script) as place:
        hosting(place)
        place.parts = replace(place.parts, traits=ServerTraits(stateless=stateless))
        ended = await place.run()
    assert ended.stop_reason is StopReason.COMPLETED
    assert ended.state.links == (FOUND,)
    first = place.api.requests[0].body
    kinds = [each["type"] for each in first["tools"] if each["type"] != "function"]
    assert kinds == ["code_interpreter", "file_search", "web_search"]
    assert "web_search_call.action.sources" in first["include"]
    assert list(place.outputs(1)) == ["call_1"]


RAN = {
    "type": "code_interpreter_call",
    "id": "ci_1",
    "status": "completed",
    "container_id": "cntr_1",
    "code": "import math\nprint(math.pi)",
    "outputs": None,
}
LOOKED = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["a", "b"]}
OPENED = {
    "type": "web_search_call",
    "id": "ws_2",
    "status": "completed",
    "action": {"type": "open_page", "url": FOUND},
}


def again(item: dict[str, Any], item_id: str) -> dict[str, Any]:
    return {**item, "id": item_id}


@pytest.mark.parametrize("stream", [False, True])
async def test_its_steps_are_seen_and_its_fees_are_counted(stream: bool) -> None:
    """G6 I4: two searches, a file search and one container however often it is used: 0.0525 dollars
    beside the tokens. A card each, with what was searched for or run."""
    answered = {"call_id": "c2", "status": "completed"}
    ours = {**calls(("add", {"a": 1, "b": 1})).items[0], **answered, "call_id": "c1"}
    first = raw([SEARCHED, again(SEARCHED, "ws_3"), OPENED, LOOKED, RAN, ours])
    # A result beside them: the container is the same.
    last = raw([again(RAN, "ci_2"), {**finish(ANSWER).items[0], **answered}])
    async with bench(Script([first, last]), stream=stream) as place:
        hosting(place)
        place.parts = replace(place.parts, prices=PriceList())
        ended = await place.run()
    tokens = ended.state.usage.model_copy(
        update={"web_searches": 0, "file_searches": 0, "containers": ()}
    )
    without = PriceList().cost("gpt-5.4-mini", tokens)
    assert without is not None
    assert ended.state.cost == pytest.approx(without + 2 * 0.01 + 0.0025 + 0.03)
    assert ended.state.tool_calls == 7
    over = {each.call_id: each for each in place.of(ToolEnded)}
    assert [each.call_id for each in place.of(ToolStarted)] == [
        "ws_1",
        "ws_3",
        "ws_2",
        "fs_1",
        "ci_1",
        "c1",
        "ci_2",
    ]
    assert over["ws_1"].title == "Search the web: x"
    assert over["ws_1"].detail == "1 found"
    assert over["ws_2"].title == f"Read a page: {FOUND}"
    assert over["fs_1"].title == "Search the vector stores: a, b"
    assert over["ci_1"].title == "Run a program: print(math.pi)"
    assert "Search the web: x" in ended.done


async def test_a_step_that_breaks_off_does_not_stay_open() -> None:
    """H2 I4: the stream breaks behind a search; the card of the first try is closed, and the call
    is made again."""
    async with bench(Script([finish(ANSWER)])) as place:
        place.api.faults.fail("clean_eof", saying=raw([SEARCHED]))
        hosting(place)
        ended = await place.run()
    assert ended.stop_reason is StopReason.COMPLETED
    assert [each.call_id for each in place.of(ToolStarted)] == ["ws_1"]
    assert [(each.call_id, each.ok) for each in place.of(ToolEnded)] == [("ws_1", False)]


async def test_a_channel_allows_them_by_name_or_group() -> None:
    """Reliability 9: what the list of a channel leaves out is not sent."""
    for allowed, sent in [(("math",), []), (("web_*",), ["web_search"]), (("hosted",), 3)]:
        async with bench(Script([finish(ANSWER)])) as place:
            hosting(place, *allowed)
            await place.run()
        kinds = [t["type"] for t in place.api.requests[0].body["tools"] if t["type"] != "function"]
        assert (len(kinds) if isinstance(sent, int) else kinds) == sent


def test_they_are_off_by_default_and_a_slip_in_the_settings_is_found() -> None:
    assert HostedTools().definitions() == ()
    with pytest.raises(ValidationError):
        HostedTools.model_validate({"websearch": True})
