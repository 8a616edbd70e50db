"""What becomes of the calls of a turn: their order, their outputs, and what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bot.agent.events import ToolEnded, ToolsAcquired, ToolStarted
from bot.core.outcome import RunStatus
from bot.dev.model import Script, call, calls, finish, raw
from tests.unit.agent.harness import ANSWER, Cheap, bench


class Small(Cheap):
    """A model with a small window."""

    def window(self, model: str) -> int:
        return 9_000


async def test_several_calls_are_answered_in_their_order() -> None:
    """D5: read-only tools run side by side; outputs keep the order of the calls."""
    reply = calls(("wait", {"name": "a"}), ("wait", {"name": "b"}), ("add", {"a": 1, "b": 1}))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        async for event in place.stream():
            if isinstance(event, ToolEnded) and event.tool == "add":
                place.gate.open.set()
    assert place.gate.most == 2
    assert list(place.outputs().values()) == ["a", "b", "2"]


async def test_a_mutating_call_runs_alone_and_in_order() -> None:
    """D5: nothing else is under way while a change is made."""
    reply = calls(("add", {"a": 1, "b": 1}), ("change", {"name": "x"}), ("add", {"a": 2, "b": 2}))
    async with bench(Script([reply, finish(ANSWER)])) as place:
        await place.run()
    assert place.gate.log == ["add 1 1", "change x", "add 2 2"]


async def test_no_more_run_at_once_than_allowed() -> None:
    """D5: four at once by default, here two."""
    reply = calls(*(("wait", {"name": str(n)}) for n in range(5)))
    async with bench(Script([reply, finish(ANSWER)]), parallel_calls=2) as place:
        async for event in place.stream():
            if isinstance(event, ToolStarted) and len(place.of(ToolStarted)) == 2:
                while place.gate.running < 2:
                    place.gate.entered.clear()
                    await place.gate.entered.wait()
                place.gate.open.set()
    assert place.gate.most == 2


async def test_tools_are_acquired_and_stay() -> None:
    """D1 D2: the catalogue's line, then the tool with its context; kept for the thread. A tool that is
    gone brings the one that replaces it."""
    script = Script(
        [
            call("acquire_tools", {"names": ["exta", "former"]}),
            call("extra", {"what": "y"}),
            finish(ANSWER),
        ]
    )
    async with bench(script) as place:
        ended = await place.run()
    before, after = (each.body["tools"] for each in place.api.requests[:2])
    listed = next(each for each in before if each["name"] == "acquire_tools")
    assert listed["description"].endswith("rare: extra")
    assert [each["name"] for each in after] == [*(each["name"] for each in before), "extra"]
    assert "use it for extras" in place.api.requests[1].body["input"][-1]["content"]
    [acquired, *_] = place.outputs(1).values()
    assert "exta: There is no tool exta. Similar names: extra" in acquired
    assert "former: There is no tool former any more. Call extra: what it was." in acquired
    assert place.of(ToolsAcquired) == [ToolsAcquired(("extra",))]
    assert ended.state.acquired == ("extra",)


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("add", "{not json", "not JSON"),
        ("add", {"a": "one", "b": 1}, "a: Input should be a valid integer"),
        ("add", {"a": 1, "b": -1}, "b: Input should be greater than or equal to 0"),
        ("ad", {"a": 1}, "Similar names: add"),
        ("former", {"a": 1}, "There is no tool former any more. Call extra: what it was."),
        ("fail", {"how": "tool"}, "Use another column: price."),
        ("slow", {}, "stopped after 0.05 s"),
    ],
)
async def test_a_bad_call_is_answered_with_what_to_do(name: str, arguments: Any, told: str) -> None:
    """D3 D4: the model's mistakes are its call's output, and the run goes on."""
    async with bench(Script([call(name, arguments, disobey=True), finish(ANSWER)])) as place:
        ended = await place.run()
    assert told in next(iter(place.outputs().values()))
    assert ended.status is RunStatus.SUCCESS


async def test_a_bug_in_a_tool_is_logged_and_its_words_stay_inside(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """D3 D4: operators get the trace, the model a short line without internals."""
    async with bench(Script([call("fail", {"how": "bug"}), finish(ANSWER)])) as place:
        await place.run()
    output = next(iter(place.outputs().values()))
    assert "RuntimeError" in output
    assert "secret" not in output
    assert "secret internals" in caplog.text


async def test_a_call_id_given_twice_is_run_once() -> None:
    """B2: one output per id is all that the API takes."""
    twin = {
        "type": "function_call",
        "name": "add",
        "call_id": "call_same",
        "arguments": '{"a":1,"b":1}',
        "status": "completed",
    }
    items = [twin | {"id": "fc_1"}, twin | {"id": "fc_2"}]
    async with bench(Script([raw(items), finish(ANSWER)])) as place:
        ended = await place.run()
    assert len(place.gate.log) == 1
    assert ended.status is RunStatus.SUCCESS


async def test_call_ids_may_come_again_in_another_response() -> None:
    """B2 D9: some services count the calls of each response anew; both changes are made, each with
    a key of its own."""
    again = {
        "type": "function_call",
        "name": "context_of",
        "call_id": "call_0",
        "arguments": "{}",
        "status": "completed",
    }
    replies = [raw([again | {"id": f"fc_{n}"}]) for n in range(2)]
    async with bench(Script([*replies, finish(ANSWER)])) as place:
        ended = await place.run()
    keys = [next(iter(place.outputs(n).values())).split()[-1] for n in (1, 2)]
    assert ended.status is RunStatus.SUCCESS
    assert len(set(keys)) == 2
    assert all(key.startswith("run_1:resp_") and key.endswith(":call_0") for key in keys)


async def test_tools_see_the_request_even_in_threads() -> None:
    """D9: who asked, how many turns are left, the call's key."""
    async with bench(Script([call("context_of", {}), finish(ANSWER)])) as place:
        await place.run()
    assert next(iter(place.outputs().values())).startswith("U1 19 run_1:resp_")


async def test_a_large_output_becomes_a_preview_and_a_handle() -> None:
    """D7 D8: its size, the first and last lines, how to ask for less, where the whole is."""
    async with bench(Script([call("big", {"lines": 20_000}), finish(ANSWER)])) as place:
        ended = await place.run()
    output = next(iter(place.outputs().values()))
    [(artifact, data)] = place.artifacts.kept.values()
    assert artifact.handle in output
    assert "line 0\n" in output
    assert "line 19999" in output
    assert "Ask for less with lines." in output
    assert len(output) < 0.1 * len(data)
    assert data.decode().count("\n") == 19_999
    assert ended.state.links == ("https://big.example/x",)


async def test_asking_for_less_gets_through() -> None:
    """D7: the model reads which arguments make the output smaller, and uses one."""
    script = Script([call("big", {"lines": 9_000}), call("big", {"lines": 3}), finish(ANSWER)])
    async with bench(script) as place:
        await place.run()
    assert "Ask for less with lines." in next(iter(place.outputs(1).values()))
    assert list(place.outputs(2).values()) == ["line 0\nline 1\nline 2"]


async def test_outputs_have_less_room_as_the_context_fills() -> None:
    """D7 D9: a quarter of what is left, and tools can see how much that is."""
    script = Script([call("big", {"lines": 1_500}), call("room", {}), finish(ANSWER)])
    async with bench(script) as place:
        place.parts = replace(place.parts, prices=Small())
        await place.run()
    allowed = int(next(iter(place.outputs(2).values())))
    assert 500 < allowed < 20_000
    [large] = place.outputs(1).values()
    assert large.startswith("The output is too large: 13,")


async def test_more_calls_than_allowed_are_answered_all_the_same() -> None:
    """B2 D7: 300 calls at once get 300 outputs, most of them two words."""
    reply = calls(*(("add", {"a": n, "b": 1}) for n in range(300)))
    async with bench(Script([reply, finish(ANSWER)]), calls_per_turn=8) as place:
        ended = await place.run()
    assert len(place.gate.log) == 8
    assert len(place.outputs()) == 300
    assert list(place.outputs().values()).count("Not run.") == 291
    assert ended.status is RunStatus.SUCCESS


async def test_a_sensitive_call_is_not_made_without_a_yes() -> None:
    """D6: nothing that needs a person's approval runs without one."""
    async with bench(Script([call("launch", {}), finish(ANSWER)])) as place:
        await place.run()
    assert place.gate.log == []
    assert "approval" in next(iter(place.outputs().values()))
