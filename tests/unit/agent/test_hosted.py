"""Tools that the model service runs itself: on by a setting, off where a channel does not allow them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pydantic import ValidationError

from bot.agent.calls import Toolbox
from bot.core.outcome import StopReason
from bot.local.model import Script, calls, finish, raw
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
        place.parts = replace(place.parts, stateless=stateless)
        ended = await place.run()
    assert ended.stop_reason is StopReason.COMPLETED
    assert ended.state.links == (FOUND,)
    first = place.api.requests[0].body
    kinds = [each["type"] for each in first["tools"] if each["type"] != "function"]
    assert kinds == ["code_interpreter", "file_search", "web_search"]
    assert "web_search_call.action.sources" in first["include"]
    assert list(place.outputs(1)) == ["call_1"]


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
