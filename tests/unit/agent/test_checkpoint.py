"""A conversation that the model itself puts away, to go on with a fresh one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bot.agent.events import Recorded
from bot.agent.handover import caller_after, first_state
from bot.agent.hooks.chain import HookChain, Hooks
from bot.agent.state import LoopState
from bot.agent.window import active_items
from bot.core.chain import CallerState, Item
from bot.core.outcome import RunStatus
from bot.dev.model import ModelRequest, Reply, Script, call, calls, finish, text
from bot.model.types import ModelResponse
from bot.text.token_estimate import estimated_tokens
from tests.unit.agent.harness import ANSWER, Bench, bench

NOTES = {
    "summary": "The lists were read.",
    "key_data": ["list 7 ends with line 799 (handle art_1)"],
    "remaining_goals": ["Read list 8."],
}
CHECKPOINT = call("checkpoint_and_restart", NOTES)
LEAPS = {
    read: calls(*[("big", {"lines": 200})] * more)
    for read, more in ((0, 9), (9, 5), (14, 3), (17, 1))
}
"""How many lists were read, and the turn that reads more: as many as fit at once, until about four
fifths of this window are full."""

WINDOW = 12_900


def offered(place: Bench) -> list[bool]:
    """In which requests that carried tools the checkpoint was among them."""
    bodies = [each.body for each in place.api.requests if each.body.get("tools")]
    return ["checkpoint_and_restart" in str(body["tools"]) for body in bodies]


def worker(request: ModelRequest) -> Reply:
    """Reads far too much at once, puts the conversation away when it can, then answers."""
    tools = [each["name"] for each in request.tools]
    if not tools:
        return text("Somebody read lists.")
    if "your own notes" in request.text or "Somebody read" in request.text:
        return finish(ANSWER)
    if "checkpoint_and_restart" in tools:
        return CHECKPOINT
    read = request.text.count("line 199")
    if read in LEAPS and "extra" in tools:
        return LEAPS[read]
    return call("add", {"a": 1, "b": 1}) if read else call("acquire_tools", {"names": ["extra"]})


@pytest.mark.parametrize("stateless", [False, True])
async def test_the_model_begins_afresh_with_what_it_wrote_down(stateless: bool) -> None:
    """E2: the request as it was asked, the notes, the acquired tools and what they say; nothing
    else."""
    async with bench(worker, window=WINDOW, stateless=stateless) as place:
        ended = await place.run("Read all lists.")
    *_, before, fresh = (each.body for each in place.api.requests)
    about, task, notes = fresh["input"]
    assert "use it for extras" in about["content"]
    assert task["content"] == "Read all lists."
    assert "previous_response_id" not in fresh
    assert [each in notes["content"] for each in ("were read", "line 799", "Read list 8")] == [
        True
    ] * 3
    assert fresh["tools"] == before["tools"][:-1]
    assert ended.status is RunStatus.SUCCESS
    assert offered(place) == [*[False] * 6, True, False]


async def test_its_call_is_answered_all_the_same() -> None:
    """B2 B4: the old chain stays valid, and the record holds every call with its output."""
    async with bench(worker, window=WINDOW) as place:
        ended = await place.run()
    made = [each["call_id"] for each in ended.new_items if each.get("type") == "function_call"]
    given = [e["call_id"] for e in ended.new_items if e.get("type") == "function_call_output"]
    assert made[:-1] == given[:-1]
    assert len(made) == len(given)


async def test_few_turns_left_are_not_spent_on_beginning_afresh() -> None:
    """E2 E3: half of them are used: the conversation is shortened instead."""
    async with bench(worker, window=WINDOW, turns=8) as place:
        ended = await place.run()
    assert not any(offered(place))
    assert "Somebody read lists." in str(place.api.requests[-1].body["input"])
    assert ended.status is RunStatus.SUCCESS


async def test_a_model_that_goes_on_without_has_its_conversation_shortened() -> None:
    """E2 E3: it has the say for one turn. All that leaves is summarised, half a window at a time."""
    added = call("add", {"a": 1, "b": 1})
    pieces = [text("They read."), text("They added.")]
    script = Script([*LEAPS.values(), added, added, *pieces, finish(ANSWER)])
    async with bench(script, window=12_600) as place:
        ended = await place.run()
    script.assert_done()
    assert offered(place)[:6] == [*[False] * 5, True]
    assert "They added." in str(place.api.requests[-1].body["input"])
    assert ended.status is RunStatus.SUCCESS


async def test_outputs_that_nobody_has_read_are_not_put_away() -> None:
    """E2 D3: beside other calls it is refused, and one that is not valid too; then it is taken."""
    both = calls(("checkpoint_and_restart", NOTES), ("add", {"a": 20, "b": 22}))
    wrong = call("checkpoint_and_restart", {"summary": "", "key_data": [], "remaining_goals": []})
    script = Script(
        [*LEAPS.values(), call("add", {"a": 1, "b": 1}), both, text("Lists."), finish(ANSWER)]
    )
    async with bench(script, window=12_600) as place:
        await place.run()
        refused, added = place.of(Recorded)[11].entry.items
    assert "Not done" in refused["output"]
    assert added["output"] == "42"
    script = Script(
        [*LEAPS.values(), call("add", {"a": 1, "b": 1}), wrong, text("Lists."), finish(ANSWER)]
    )
    async with bench(script, window=12_600) as place:
        await place.run()
        [refused] = place.of(Recorded)[11].entry.items
    assert "summary" in refused["output"]


async def test_it_is_not_there_when_it_is_not_offered() -> None:
    """D3: a call made up gets an output like any other name that does not exist."""
    script = Script([replace(CHECKPOINT, disobey=True), finish(ANSWER)])
    async with bench(script) as place:
        ended = await place.run()
    assert "There is no tool checkpoint_and_restart" in str(place.outputs())
    assert ended.status is RunStatus.SUCCESS


@pytest.mark.parametrize("stateless", [False, True])
async def test_a_run_goes_on_from_each_of_its_save_points(stateless: bool) -> None:
    """I3 E2: whoever takes it over, before the checkpoint, in its midst or after it."""
    async with bench(worker, window=WINDOW, stateless=stateless) as place:
        await place.run("Read all lists.")
        whole = list(place.saved)
        for n in range(1, len(whole)):
            place.saved[:] = whole[:n]
            place.states.append(whole[n - 1].state)
            ended = await place.resume()
            entries = await place.parts.history()
            assert ended.status is RunStatus.SUCCESS
            assert sum(each.checkpoint for each in entries) == 1
            assert active_items(entries)[1]["content"] == "Read all lists."
            assert "line 199" not in str(active_items(entries))


async def test_the_thread_goes_on_from_there() -> None:
    """B8 B9 E2: the next run is on the new chain, and what is rebuilt of it is no more than that."""
    async with bench(worker, window=WINDOW) as place:
        ended = await place.run("Read all lists.")
        after, _ = caller_after(ended, CallerState(), model="gpt-5.4-mini", bound_to=None)
        assert after is not None
        state = first_state(after, {"role": "user", "content": "And?"})
        assert state.acquired == ("extra",)
        place.api.responses[str(after.previous_response_id)].kept = False
        begun = state.model_copy(update={"pending": after.pending})
        again = await place.run("And?", begun)
    sent = str(place.api.requests[-1].body["input"])
    assert "line 199" not in sent
    assert ["Read all lists." in sent, "your own notes" in sent, "And?" in sent] == [True] * 3
    assert again.status is RunStatus.SUCCESS


async def test_what_people_said_in_between_goes_along() -> None:
    """E2 E3: none of it is summarised away."""
    state = LoopState(pending=({"role": "user", "content": "An older question."},))
    async with bench(worker, window=WINDOW) as place:
        place.parts = replace(place.parts, hooks=HookChain((Steered(),)))
        await place.run("Read all lists.", state)
    contents = [each["content"] for each in place.api.requests[-1].body["input"]]
    assert contents[1:3] == ["Read all lists.", "Only those of May."]
    assert "An older question." not in contents


class Steered(Hooks):
    """Somebody adds a word after the first response."""

    async def after_response(self, state: LoopState, response: ModelResponse) -> Sequence[Item]:
        said = "Only those of May."
        return ({"role": "user", "content": said},) if state.turn == 1 else ()


async def test_a_checkpoint_has_room_in_the_fresh_conversation() -> None:
    """D7 E2: notes that would fill it are shortened, and kept with what they end with."""
    long = NOTES | {"summary": "漢字" * 3_000}
    leaps = [*LEAPS.values(), call("add", {"a": 1, "b": 1})]
    script = Script([*leaps, call("checkpoint_and_restart", long), finish(ANSWER)])
    async with bench(script, window=12_600) as place:
        ended = await place.run()
    script.assert_done()
    fresh = place.api.requests[-1].body
    assert "previous_response_id" not in fresh
    notes = fresh["input"][-1]["content"]
    assert "漢字" in notes
    assert "Read list 8" in notes
    assert estimated_tokens(notes) < 12_600 / 4 + 100  # beside our own words
    assert ended.status is RunStatus.SUCCESS
