"""What happens to a conversation that the service lost, that grows too long, or that it never
keeps."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.calls.outputs import mark_as_data, marked_text
from bot.agent.compaction import Compaction
from bot.agent.events import Recorded, RunEnded, TextWithdrawn
from bot.agent.handover import caller_after, first_state
from bot.agent.hooks.chain import Hooks
from bot.agent.state import LoopState
from bot.agent.window import active_items, portable, whole_pairs, without_stray_reasoning
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.errors import ModelErrorKind
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import Script, call, calls, empty, finish, held, reasoning, text
from bot.dev.model.errors import parent_not_found
from bot.text.token_estimate import estimated_tokens
from bot.toolkit import Tool, tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.skill import Skill
from bot.toolkit.tool import Services
from tests.unit.agent.harness import ANSWER, MODELS, bench

EARLIER = (
    LedgerEntry(run_id="run_0", items=({"role": "user", "content": "What is the code word?"},)),
    LedgerEntry(
        run_id="run_0",
        items=(
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "add",
                "arguments": '{"a":1,"b":1}',
                "status": "completed",
            },
        ),
    ),
    LedgerEntry(
        run_id="run_0",
        items=({"type": "function_call_output", "call_id": "call_1", "output": "swordfish"},),
    ),
)


async def test_a_chain_that_the_service_lost_is_rebuilt() -> None:
    """B8: from our own ledger, without a word to the person; then the chain goes on as ever."""
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script, before=EARLIER) as place:
        ended = await place.run("And again?", LoopState(parent="resp_long_gone"))
    lost, again, rebuilt, after = (each.body for each in place.api.requests)
    assert lost["previous_response_id"] == again["previous_response_id"] == "resp_long_gone"
    assert "previous_response_id" not in rebuilt
    sent = [item.get("content") or item.get("output") or item["type"] for item in rebuilt["input"]]
    assert sent == ["What is the code word?", "function_call", "swordfish", "And again?"]
    assert after["previous_response_id"] == place.api.requests[2].response_id
    assert ended.status is RunStatus.SUCCESS


async def test_a_rebuilt_chain_is_kept_as_a_checkpoint() -> None:
    """B9: what the window is made of afterwards begins there, and holds the same words."""
    async with bench(Script([finish(ANSWER)]), before=EARLIER) as place:
        await place.run("And again?", LoopState(parent="resp_long_gone"))
        entries = await place.parts.history()
    checkpoints = [each for each in entries if each.checkpoint]
    assert len(checkpoints) == 1
    assert [item.get("content") for item in active_items(entries)][-1] is None
    assert "And again?" in str(active_items(entries))


async def test_a_chain_that_is_found_a_moment_later_goes_on() -> None:
    """B8: asked for once more under the same name, nothing is rebuilt."""
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script) as place:
        place.api.faults.fail("missing_parent_once")
        ended = await place.run()
    first, missed, found = place.api.requests
    assert missed.body == found.body
    assert found.body["previous_response_id"] == first.response_id
    assert ended.status is RunStatus.SUCCESS
    assert not any(each.entry.checkpoint for each in place.saved)


async def test_a_chain_is_asked_for_again_once_a_run() -> None:
    """B8: the second time it is rebuilt at once."""
    script = Script([*(call("add", {"a": n, "b": 1}) for n in range(2)), finish(ANSWER)])
    async with bench(script) as place:
        place.api.faults.fail("missing_parent_once")
        place.api.faults.fail("missing_parent_once", skip=1)
        ended = await place.run()
    parents = [each.body.get("previous_response_id") for each in place.api.requests]
    first, second = (place.api.requests[n].response_id for n in (0, 2))
    assert parents == [None, first, first, second, None]
    assert ended.status is RunStatus.SUCCESS


async def test_a_deadline_does_not_wait_for_a_chain_to_be_found() -> None:
    """B8 G1: the pause ends with the run's time, which leaves one last call."""
    script = Script([call("add", {"a": 1, "b": 1}), finish(ANSWER)])
    async with bench(script, run_seconds=0.5) as place:
        place.parts = replace(place.parts, parent_pause=600.0)
        place.api.faults.fail("missing_parent_once")
        ended = await place.run()
    assert ended.stop_reason is StopReason.RUN_TIMEOUT
    assert ended.status is RunStatus.PARTIAL


async def test_stop_does_not_wait_for_a_chain_to_be_found() -> None:
    """B8 H1: at any await, that of the pause too."""
    script = Script([call("add", {"a": 1, "b": 1})])
    async with bench(script) as place:
        place.parts = replace(place.parts, parent_pause=600.0)
        place.api.faults.fail("missing_parent_once")
        async for event in place.stream():
            if isinstance(event, TextWithdrawn):  # the call was refused; the pause comes next
                asyncio.get_running_loop().call_soon(place.parts.interrupt.request)
    assert place.of(RunEnded)[0].stop_reason is StopReason.CANCELLED_STREAMING
    assert len(place.api.requests) == 2


async def test_a_chain_lost_for_good_ends_the_run() -> None:
    """B8: a service that misses a chain that nobody named is not asked for ever."""

    def brain(request: Any) -> Any:
        raise parent_not_found("resp_of_somebody_else")

    async with bench(brain, before=EARLIER) as place:
        ended = await place.run("And again?", LoopState(parent="resp_long_gone"))
    parents = [each.body.get("previous_response_id") for each in place.api.requests]
    assert parents == ["resp_long_gone", "resp_long_gone", None]
    assert ended.stop_reason is StopReason.MODEL_ERROR
    assert ended.error
    assert ended.error.kind is ModelErrorKind.MISSING_PARENT


async def test_stateless_sends_the_whole_conversation_every_time() -> None:
    """B1: for services that keep nothing; encrypted reasoning goes back verbatim."""
    script = Script([call("add", {"a": 1, "b": 1}), call("add", {"a": 2, "b": 2}), finish(ANSWER)])
    async with bench(script, stateless=True) as place:
        ended = await place.run()
    bodies = [each.body for each in place.api.requests]
    assert all(body["store"] is False for body in bodies)
    assert all("previous_response_id" not in body for body in bodies)
    assert [len(body["input"]) for body in bodies] == sorted(len(body["input"]) for body in bodies)
    assert bodies[1]["input"][: len(bodies[0]["input"])] == bodies[0]["input"]
    assert ended.status is RunStatus.SUCCESS


async def test_no_item_is_sent_under_the_id_of_another() -> None:
    """B1: some servers number the items of each response from the start, and refuse them so."""
    adding = [call("add", {"a": n, "b": 1}) for n in range(3)]
    numbered = [replace(reply, items=({**reply.items[0], "id": "fc_0"},)) for reply in adding]
    async with bench(Script([*numbered, finish(ANSWER)]), stateless=True) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    bodies = [each.body["input"] for each in place.api.requests]
    sent = [item["id"] for item in bodies[-1] if item.get("type") == "function_call"]
    assert len(sent) == len(set(sent)) == 3
    assert bodies[-1][: len(bodies[-2])] == bodies[-2]  # what is cached stays


async def test_a_stateless_thread_goes_on() -> None:
    """B1 B7: the next run begins with what the ledger holds."""
    async with bench(Script([finish(ANSWER), finish(ANSWER)]), stateless=True) as place:
        first = await place.run("First?")
        again = await place.run("Second?", LoopState(pending=first.state.pending))
    assert again.status is RunStatus.SUCCESS
    assert "First?" in str(place.api.requests[-1].body["input"])


def refunds(text: str) -> Skill:
    about = "Refunds and returns of customers."
    return Skill(
        name="refunds", title="Refunds", description=about, text=text, digest=text, origin="test"
    )


@pytest.mark.parametrize("stateless", [False, True])
async def test_what_was_acquired_stays_known(stateless: bool) -> None:
    """D2 B8 E3: the next question sees what a tool says and a skill exactly once, on the chain as it
    was, where the service has lost the chain, after compaction, where the ledger has lost it, and in
    another thread that goes on with them. It is told a skill anew that has changed."""
    names = ["extra", "refunds"]
    acquired = Script([call("acquire_tools", {"names": names}), finish(ANSWER)])
    async with bench(acquired, stateless=stateless) as place:

        def with_skill(text: str) -> None:
            toolbox = place.parts.toolbox
            catalogue = replace(toolbox.catalogue, skills=(refunds(text),))
            place.parts = replace(place.parts, toolbox=replace(toolbox, catalogue=catalogue))

        async def goes_on(state: LoopState, **faults: int) -> tuple[CallerState, list[int]]:
            for kind, number in faults.items():
                place.api.faults.fail(kind, times=number)
            ended = await place.run("And again?", state)
            assert ended.status is RunStatus.SUCCESS
            left, _ = caller_after(ended, CallerState(), model="gpt-5.4-mini", bound_to=None)
            assert left is not None
            conversation = str(place.api.conversation(str(place.api.requests[-1].response_id)))
            return left, [conversation.count(words) for words in ("use it for extras", "Half.")]

        with_skill("Half.")
        left, _ = await goes_on(LoopState())
        place.api.brain = lambda request: finish(ANSWER) if request.tools else text("Tools.")
        left, in_chain = await goes_on(begun(left))
        gone = {} if stateless else {"previous_response_id": "resp_long_gone"}
        left, rebuilt = await goes_on(begun(left, **gone))
        left, compacted = await goes_on(begun(left), context_length=1)
        del place.saved[:]  # entries of the ledger expire
        left, expired = await goes_on(begun(left, **gone))
        del place.saved[:]
        other = CallerState(acquired=left.acquired, stateless=stateless)
        left, elsewhere = await goes_on(begun(other))
        assert [in_chain, rebuilt, compacted, expired, elsewhere] == [[1, 1]] * 5
        told = place.api.requests[-1].body["input"]
        assert {"role": "developer", "content": "[Acquired: refunds]\nHalf."} in told
        with_skill("All.")
        await goes_on(begun(left))
        changed = "[Acquired: refunds; it has changed, and counts instead of the one before]\nAll."
        assert place.api.requests[-1].body["input"][-1]["content"] == changed


def begun(left: CallerState, **changes: Any) -> LoopState:
    """The state in which the next run of a thread begins, without its question."""
    state = first_state(left.model_copy(update=changes), {})
    return state.replace(pending=left.pending)


async def test_of_much_that_was_acquired_the_newest_is_told_again() -> None:
    """D2 E3: all of it takes at most a tenth of the window. The rest is named, none is cut without a
    word, and what is acquired again is told again."""

    def saying(name: str) -> Tool:
        async def about(_services: Services) -> str:
            return f"All about {name}. " + "word " * 800

        @tool(group="rare", summary="Something extra", on_acquired=about)
        async def rare() -> str:
            "Rare."
            return ""

        return replace(rare.tool, name=name)

    again = Script([call("acquire_tools", {"names": ["first"]}), finish(ANSWER)])
    async with bench(again, window=12_000) as place:
        catalogue = Catalogue.of(map(saying, ("first", "second", "third")))
        toolbox = replace(place.parts.toolbox, catalogue=catalogue)
        place.parts = replace(place.parts, toolbox=toolbox)
        acquired = ("first", "second", "third")
        ended = await place.run("Go on", LoopState(parent="resp_gone", acquired=acquired))
    rebuilt, after = (each.body["input"] for each in place.api.requests[-2:])
    named, told = (item["content"] for item in rebuilt[:2])
    assert named.startswith("[Acquired: first, second; no room")
    assert "All about third" in told
    assert "first: you can call it now. What there is to know is below." in str(after)
    assert "All about first" in after[-1]["content"]
    assert list(ended.state.noted) == ["second", "third", "first"]


class Joining(Hooks):
    """A person writes more, and names what is acquired."""

    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        return ({"role": "user", "content": "And use $extra."},)

    def named(self, state: LoopState) -> Collection[str]:
        return ["extra"]


async def test_what_had_no_room_is_told_when_a_message_that_joins_names_it() -> None:
    """D2: as when the model acquires it again, or the next question names it."""
    async with bench(Script([finish(ANSWER)]), hooks=(Joining(),)) as place:
        await place.run("Go on", LoopState(acquired=("extra",), noted={"extra": ""}))
    assert "extra tells things" in place.api.requests[0].body["input"][-1]["content"]


async def test_a_long_conversation_is_shortened_before_it_is_full() -> None:
    """E3: at three quarters; the request and the last exchanges stay whole, the rest is a summary
    by the model, on a fresh chain."""
    turns = iter([*(call("add", {"a": n, "b": 1}) for n in range(6)), finish(ANSWER)])

    def brain(request: Any) -> Any:
        return next(turns) if request.body.get("tools") else text("They added numbers.")

    async with bench(brain, compact_at=0.001) as place:
        ended = await place.run("A question to keep")
    assert ended.status is RunStatus.SUCCESS
    summaries = [each.body for each in place.api.requests if not each.body.get("tools")]
    assert summaries
    fresh = place.api.requests[place.api.requests.index(received(place, summaries[0])) + 1].body
    assert "previous_response_id" not in fresh
    assert "A question to keep" in str(fresh["input"])


async def test_an_overflow_is_shortened_once() -> None:
    """E4: compact and try again, once per run; then it is said."""
    script = Script([calls(("add", {"a": 1, "b": 1})), text("summary"), finish(ANSWER)])
    async with bench(script, before=EARLIER) as place:
        place.api.faults.fail("context_length", times=1, skip=1)
        ended = await place.run("Go on", None)
    assert ended.status is RunStatus.SUCCESS
    assert any(each.entry.checkpoint for each in place.of(Recorded))


async def test_the_remedy_for_an_overflow_is_used_once_a_run() -> None:
    """E4: a second overflow later in the run ends it, though turns went well in between; the next run
    of the thread has the remedy again."""
    added = call("add", {"a": 1, "b": 1})
    script = Script([added, text("They added."), added, added, text("Sums."), finish(ANSWER)])
    async with bench(script, before=EARLIER) as place:
        place.api.faults.fail("context_length", times=1, skip=1)
        place.api.faults.fail("context_length", times=1, skip=4)
        ended = await place.run("Go on")
        assert (ended.status, ended.stop_reason) == (
            RunStatus.FAILED,
            StopReason.PROMPT_TOO_LONG,
        )
        assert len([each for each in place.of(Recorded) if each.entry.checkpoint]) == 1
        asked = len(place.api.requests)
        place.api.faults.fail("context_length", times=1)
        place.api.brain = Script([text("Sums."), finish(ANSWER)])
        left = ended.state
        again = await place.run("And now?", LoopState(parent=left.parent, pending=left.pending))
    assert len(place.api.requests) == asked + 3
    assert again.status is RunStatus.SUCCESS


async def test_an_overflow_that_stays_is_said() -> None:
    """E4 C8: prompt_too_long."""
    async with bench(Script([text("summary")]), before=EARLIER) as place:
        place.api.faults.fail("context_length", times=1)
        place.api.faults.fail("context_length", times=1, skip=1)
        ended = await place.run("Go on", None)
    assert ended.stop_reason is StopReason.PROMPT_TOO_LONG


async def test_a_summary_that_fails_is_made_mechanically() -> None:
    """E3: nothing is lost when the model cannot summarise."""
    async with bench(Script([empty(), finish(ANSWER)]), before=EARLIER) as place:
        place.api.faults.fail("context_length", times=1)
        ended = await place.run("Go on", None)
    assert ended.status is RunStatus.SUCCESS
    assert "swordfish" in str(place.api.requests[-1].body["input"])


async def test_of_very_much_the_newest_goes_along() -> None:
    """E3: a window that slides, where the model cannot summarise; never half a pair."""
    said = [({"role": "user", "content": f"No. {n}: {'x' * 180}"},) for n in range(1_000)]
    before = tuple(LedgerEntry(run_id="run_0", items=items) for items in said)
    script = Script([empty(), finish(ANSWER)])
    async with bench(script, before=before, stateless=True) as place:
        place.api.faults.fail("context_length", times=1)
        ended = await place.run("Go on", None)
    assert ended.status is RunStatus.SUCCESS
    sent = str(place.api.requests[-1].body["input"])
    assert len(sent) < 25_000
    assert "No. 999" in sent
    assert "No. 1:" not in sent
    assert "Go on" in sent


@pytest.mark.parametrize("script", ["line of words", "漢字かなまじり", "1.25,3.50,99"])
@pytest.mark.parametrize("many", [2, 9])
@pytest.mark.parametrize("is_new", [False, True])
async def test_what_compaction_cuts_can_be_read_again(script: str, many: int, is_new: bool) -> None:
    """E3 D7: large outputs of earlier questions, and those of the last exchanges that do not fit, are
    there under a handle each, saved once; a preview of others' words is still marked as data."""
    whole = "\n".join(f"{n} {script}" for n in range(2_000))
    ids = [f"call_{n}" for n in range(many)]
    made = [{"type": "function_call", "call_id": i, "name": "big", "arguments": "{}"} for i in ids]
    output = mark_as_data(whole, "abcd1234")
    got = [{"type": "function_call_output", "call_id": i, "output": output} for i in ids]
    asked: Item = {"role": "user", "content": "Read them."}
    new: Item = {"role": "user", "content": "And now?"}
    items: list[Item] = [asked, *made, *got, *small_exchange(), *([new] if is_new else [])]
    async with bench(lambda _: text("They read.")) as place:
        parts, deadline = place.parts, asyncio.get_running_loop().time() + 60
        given = (parts.model, MODELS[0], place.artifacts, parts.interrupt, deadline, 8_000)
        short = await Compaction(*given).compact(items, new if is_new else asked)
    assert short
    sent = str(short.items)
    kept = {handle: data.decode() for handle, (_, data) in place.artifacts.kept.items()}
    assert estimated_tokens(sent) < 8_000
    assert set(re.findall(r"out_\w+", sent)) == kept.keys()
    assert list(kept.values()) == [whole] * many
    for item in short.items:
        if item.get("call_id") in ids and "output" in item:
            assert f"0 {script}" in marked_text(item["output"])


def small_exchange() -> tuple[Item, Item]:
    return (
        {"type": "function_call", "call_id": "call_add", "name": "add", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_add", "output": "2"},
    )


ITEMS = st.lists(
    st.one_of(
        st.builds(lambda text: {"role": "user", "content": text}, st.text(max_size=5)),
        st.builds(
            lambda n: {"type": "function_call", "call_id": f"c{n}", "name": "x", "arguments": "{}"},
            st.integers(0, 4),
        ),
        st.builds(
            lambda n: {"type": "function_call_output", "call_id": f"c{n}", "output": "o"},
            st.integers(0, 4),
        ),
        st.just({"type": "reasoning", "id": "rs_1", "encrypted_content": "x"}),
    ),
    max_size=30,
)


@given(ITEMS)
def test_a_window_is_made_of_whole_pairs(items: list[Item]) -> None:
    """B2: whatever the ledger holds after crashes and cuts."""
    kept = whole_pairs(items)
    made = [item["call_id"] for item in kept if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in kept if item.get("type") == "function_call_output"]
    assert sorted(made) == sorted(answered)
    assert all(item in items for item in kept)
    assert whole_pairs(kept) == kept
    waiting: set[str] = set()
    for item in kept:
        if item.get("type") == "function_call":
            assert item["call_id"] not in waiting
            waiting.add(item["call_id"])
        elif "output" in item:
            waiting.remove(item["call_id"])


def test_an_id_may_be_used_again_once_it_is_answered() -> None:
    """B2 B9: some services number the calls of each response from the start, and no exchange is lost
    by that; an output belongs to the last call before it."""
    first, second = called_and_answered("call_0", "1"), called_and_answered("call_0", "2")
    assert whole_pairs([*first, *second]) == (*first, *second)
    twin = {**first[0], "arguments": "{}"}
    assert whole_pairs([twin, *first, second[1]]) == first


async def test_outputs_under_one_id_are_cut_each_for_itself() -> None:
    """E3 B2: none takes the preview or the handle of another, and none is lost."""
    wholes = ["\n".join(f"{letter} {n}" for n in range(1_500)) for letter in "abc"]
    exchanges = [item for whole in wholes for item in called_and_answered("call_0", whole)]
    asked: Item = {"role": "user", "content": "Read them."}
    async with bench(lambda _: text("They read.")) as place:
        parts, deadline = place.parts, asyncio.get_running_loop().time() + 60
        given = (parts.model, MODELS[0], place.artifacts, parts.interrupt, deadline, 8_000)
        short = await Compaction(*given).compact([asked, *exchanges], asked)
    assert short
    assert sorted(data.decode() for _, data in place.artifacts.kept.values()) == wholes
    previews = [item["output"] for item in short.items if "output" in item]
    assert [next(c for c in "abc" if f"{c} 0" in each) for each in previews] == ["b", "c"]
    assert set(re.findall(r"out_\w+", str(short.items))) == place.artifacts.kept.keys()


def test_nothing_that_only_the_old_store_knows_is_sent() -> None:
    """B8: names of items mean nothing to a fresh chain; reasoning goes only if it is whole."""
    whole: Item = {"type": "reasoning", "id": "rs_2", "encrypted_content": "…", "summary": []}
    said: Item = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "content": [{"type": "output_text", "text": "Two."}],
    }
    assert portable([said]) == ({"type": "message", "role": "assistant", "content": "Two."},)
    sent = portable([*EARLIER[1].items, whole])
    assert [item["type"] for item in sent] == ["function_call", "reasoning"]
    assert ["id" in item for item in sent] == [False, True]  # the service demands it of reasoning


def received(place: Any, body: dict[str, Any]) -> Any:
    """The request with this body."""
    return next(each for each in place.api.requests if each.body is body)


@pytest.mark.parametrize("entry", [EARLIER[1], EARLIER[2]])
def test_the_window_begins_with_a_message(entry: LedgerEntry) -> None:
    """B9: a ledger whose old end was cut off still makes a valid beginning."""
    assert active_items([entry, *EARLIER[:1]]) == EARLIER[0].items


def called_and_answered(call_id: str, output: str) -> tuple[Item, ...]:
    return (
        {"type": "function_call", "call_id": call_id, "name": "x", "arguments": output[:9]},
        {"type": "function_call_output", "call_id": call_id, "output": output},
    )


THOUGHT: Item = {"type": "reasoning", "id": "rs_9", "encrypted_content": "…", "summary": []}


def test_reasoning_stays_only_with_what_it_led_to() -> None:
    """B2 B8: the service takes no thought whose call is left out, or that led to nothing."""
    crashed = [EARLIER[0].items[0], THOUGHT, EARLIER[1].items[1], EARLIER[0].items[0]]
    assert whole_pairs(crashed) == (EARLIER[0].items[0], EARLIER[0].items[0])
    assert without_stray_reasoning([THOUGHT]) == ()
    assert whole_pairs([THOUGHT, EARLIER[1].items[1], *EARLIER[2].items])[0] == THOUGHT


async def test_a_stateless_thread_survives_a_response_of_thoughts_only() -> None:
    """B1: what is sent again must be what the service takes."""
    script = Script([reasoning("Hm.", empty()), finish(ANSWER)])
    async with bench(script, stateless=True) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS


async def test_where_nothing_is_kept_every_turn_is_rebuilt() -> None:
    """B8: an organisation whose data is not kept; the person sees no error."""
    script = Script([*(call("add", {"a": n, "b": 1}) for n in range(3)), finish(ANSWER)])
    async with bench(script) as place:
        place.api.chains.zero_data_retention = True
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS


async def test_stop_does_not_wait_for_a_summary() -> None:
    """H1 E3: at any await, that of the summary too."""
    turns = iter([call("add", {"a": n, "b": 1}) for n in range(9)])

    def brain(request: Any) -> Any:
        if request.body.get("tools"):
            return next(turns)
        place.parts.interrupt.request()
        return held(text("too late"), asyncio.Event())

    async with bench(brain, compact_at=0.001) as place:
        ended = await place.run()
    assert ended.stop_reason is StopReason.CANCELLED_STREAMING


async def test_the_last_exchanges_of_a_model_that_thinks_stay_whole() -> None:
    """E3: reasoning stands before calls, and stays there."""
    turns = iter([reasoning("Hm.", call("add", {"a": n, "b": 1})) for n in range(5)])

    def brain(request: Any) -> Any:
        return next(turns, finish(ANSWER)) if request.body.get("tools") else text("Sums.")

    async with bench(brain) as place:
        place.api.faults.fail("context_length", times=1, skip=4)
        ended = await place.run()
    [short] = [each.body["input"] for each in place.api.requests if "Sums." in str(each.body)]
    kinds = [item.get("type") for item in short]
    assert kinds[2:] == ["reasoning", "function_call", "function_call_output"] * 2
    assert ended.status is RunStatus.SUCCESS
