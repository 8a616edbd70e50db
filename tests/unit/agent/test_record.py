"""The record is the conversation: what is on the chain, what a lost chain is rebuilt from, and what is
shortened all tell the next question the same, and no change is forgotten."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.agent.compaction import Compaction
from bot.agent.events import RunEnded, ToolStarted, TurnStarted
from bot.agent.handover import caller_after, caller_after_failure
from bot.agent.hooks.chain import Hooks
from bot.agent.state import LoopState
from bot.agent.window import active_items, changes_in, text_of, whole_pairs
from bot.core.answers import Source
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.errors import ToolError
from bot.dev.model import ModelRequest, Reply, Script, call, calls, finish, refusal, text
from bot.model.types import ModelResponse
from bot.text.invisible_text import without_invisible
from bot.text.token_estimate import estimated_tokens
from bot.toolkit import ToolResult, tool
from bot.toolkit.catalogue import Catalogue
from tests.unit.agent.harness import ANSWER, MODELS, Bench, bench

ADD, CHANGE = call("add", {"a": 1, "b": 1}), call("change", {"name": "x"})
STOPPED = "The person stopped this"


def said(items: Iterable[Item]) -> list[tuple[str, ...]]:
    """What a model reads of the items."""
    return [
        (item["role"], text_of(item))
        if "role" in item
        else (str(item["type"]), *(str(item.get(k)) for k in ("name", "arguments", "output")))
        for item in whole_pairs(tuple(items))
        if item.get("type") != "reasoning"
    ]


async def conversations(
    place: Bench, ended: RunEnded
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """What the next question meets on the chain, and what our record holds."""
    entries = list(await place.parts.history())
    after, added = caller_after(ended, CallerState(), model=MODELS[0], bound_to=None)
    entries.append(LedgerEntry(run_id="run_1", items=added))
    if after is None:
        changes = changes_in(entries, place.parts.toolbox.is_change)
        after, entry = caller_after_failure(
            CallerState(), ["First"], "Failed.", changes, run_id="run_1", bound_to=None
        )
        entries.append(entry)
    parent = after.previous_response_id
    kept = place.api.conversation(parent) if parent else []
    return said([*kept, *after.pending]), said(active_items(entries))


ENDINGS: dict[str, dict[str, Any]] = {
    "completed": {"replies": [ADD, finish(ANSWER)]},
    "in text": {"replies": [text("Two.")]},
    "nudged": {"replies": [ADD, text("Two."), finish(ANSWER)]},
    "last turn": {"replies": [ADD, ADD, finish(ANSWER)], "limits": {"turns": 3}},
    "last turn without a result": {"replies": [ADD, text("Hm."), text("Hm.")], "limits": {"turns": 2}},
    "budget": {"replies": [CHANGE, finish(ANSWER)], "limits": {"tokens": 100}},
    "refused": {"replies": [ADD, refusal("I can't.")]},
    "refused at once": {"replies": [refusal("I can't.")]},
    "failed at once": {"replies": [], "fault": ("quota", 0)},
    "failed later": {"replies": [CHANGE], "fault": ("quota", 1)},
    "filtered": {"replies": [CHANGE], "fault": ("content_filter", 1)},
    "stopped in the stream": {"replies": [ADD], "fault": ("hang", 1), "stop": TurnStarted},
    "stopped in a call": {"replies": [calls(("add", {"a": 1}), ("wait", {"name": "w"}))], "stop": ToolStarted},
    "stopped before calls": {"replies": [calls(("add", {"a": 1}), ("change", {"name": "x"}))], "stop": "response"},
}  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
async def test_the_next_question_meets_the_same_conversation(ending: str) -> None:
    """B4 B8: for every ending, on the chain, after it expired, and where no chain is kept; what was
    demanded of one run has left with it, and what a person stopped is not open."""
    case = ENDINGS[ending]
    read = []
    for stateless in (False, True):
        script = Script([*case["replies"]])
        async with bench(script, stateless=stateless, **case.get("limits", {})) as place:
            if fault := case.get("fault"):
                place.api.faults.fail(fault[0], times=9, skip=fault[1])
            async for event in place.stream("First"):
                stop = case.get("stop")
                if stop == "response":
                    entry = getattr(event, "entry", None)
                    if entry and entry.response_id:
                        place.parts.interrupt.request()
                elif stop and isinstance(event, stop) and (turn(event) or "add" in str(event)):
                    asyncio.get_running_loop().call_later(0.2, place.parts.interrupt.request)
            ended = place.of(RunEnded)[0]
            on_chain, recorded = await conversations(place, ended)
        if not stateless:
            assert on_chain == recorded
        read.append(recorded)
        assert "Call complete_task now" not in str(recorded)
        assert ("stopped" in ending) == (STOPPED in str(recorded))
        if "failed later" in ending or ending == "filtered":
            assert "change" in str(recorded)
    assert read[0] == read[1]


def turn(event: object) -> bool:
    """Whether the event begins the second turn: the first had its response."""
    return isinstance(event, TurnStarted) and event.turn > 1


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("window", [8_000, 16_000, 64_000])
async def test_no_change_is_made_twice(window: int, stateless: bool) -> None:
    """E3 G3: a model that writes whenever its conversation names no write, and reads on and on."""
    reads = 0

    def forgetful(request: ModelRequest) -> Reply:
        nonlocal reads
        if not request.tools:
            return text("They read a lot.")
        if "report" not in request.text:
            return call("change", {"name": "report"})
        reads += 1
        return call("big", {"lines": 150}) if reads <= 45 else finish(ANSWER)

    limits: dict[str, Any] = {"turns": 80, "tokens": 100_000_000, "run_seconds": 100.0}
    async with bench(forgetful, window=window, stateless=stateless, **limits) as place:
        await place.run("Publish it.")
    assert place.gate.log.count("change report") == 1
    assert reads > 45


@pytest.mark.parametrize("characters", [2_000, 5_000, 9_000])
async def test_large_changes_one_after_the_other_are_all_named(characters: int) -> None:
    """E3: arguments of a fifth of a small window each, which have no room together."""
    names = [f"{letter}-{'x' * characters}" for letter in "abc"]

    def writer(request: ModelRequest) -> Reply:
        if not request.tools:
            return text("They wrote.")
        missing = [name for name in names if f"{name[0]}-xxx" not in request.text]
        return call("change", {"name": missing[0]}) if missing else finish(ANSWER)

    async with bench(writer, window=8_000, turns=40, tokens=100_000_000) as place:
        await place.run("Write them.")
    assert [each[:8] for each in place.gate.log] == ["change a", "change b", "change c"]


ENTRIES = st.lists(
    st.tuples(st.sampled_from(["said", "read", "wrote", "note"]), st.integers(0, 4_000)),
    min_size=1,
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    entries=ENTRIES, window=st.sampled_from([4_000, 8_000, 128_000, 1_000_000]), works=st.booleans()
)
async def test_what_leaves_is_told(
    entries: list[tuple[str, int]], window: int, works: bool
) -> None:
    """E3: each item is in the new chain or given to whom summarises; without a summary it stands in
    short lines, or is counted; the changes are named or counted whatever the summary says."""
    items: list[Item] = []
    for number, (kind, size) in enumerate(entries):
        mark = f"<{number}>{'word ' * (size // 5)}"
        if kind in ("said", "note"):
            role = "user" if kind == "said" else "developer"
            items.append({"role": role, "content": mark})
            continue
        name = "big" if kind == "read" else "change"
        made = {"type": "function_call", "call_id": f"c{number}", "name": name, "arguments": mark}
        items += [made, {"type": "function_call_output", "call_id": f"c{number}", "output": mark}]
    items = [{"role": "user", "content": "<task>"}, *items]
    told: list[str] = []

    def summariser(request: ModelRequest) -> Reply:
        told.append(request.text)
        return text("A summary.") if works else text("", disobey=True)

    async with bench(summariser) as place:
        entry = LedgerEntry(run_id="run_0", items=tuple(items))
        changes = changes_in([entry], place.parts.toolbox.is_change)
        parts, deadline = place.parts, asyncio.get_running_loop().time() + 60
        compaction = Compaction(
            parts.model, MODELS[0], place.artifacts, parts.interrupt, deadline, window
        )
        short = await compaction.compact(items, None, changes)
    if short is None:
        return
    left = str(short.items)
    sources = left + str(told) if works else left
    uncounted = "earlier entries could not be kept" not in left
    for number, (kind, _) in enumerate(entries):
        if works or uncounted:
            assert f"<{number}>" in sources
        if kind == "wrote" and "before these" not in left:
            assert f"<{number}>" in left
    counted = re.search(r"before these: change (\d+) ×", left)
    wrote = [f"<{n}>" for n, (kind, _) in enumerate(entries) if kind == "wrote"]
    assert sum(mark in left for mark in wrote) + int(counted[1] if counted else 0) >= len(wrote)
    assert all(estimated_tokens(each) < window for each in told)


class Hanging(Hooks):
    """Waits for ever, whatever it is asked, and does not heed that it is cancelled."""

    async def after_response(self, state: LoopState, response: ModelResponse) -> tuple[Item, ...]:
        await self._hang()
        return ()

    async def on_run_end(self, ended: RunEnded) -> None:
        await self._hang()

    async def _hang(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(30)


async def test_no_hook_delays_or_loses_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """H5: the response decided the run; what a hook has to say can only concern a turn that there is."""
    monkeypatch.setattr("bot.agent.hooks.chain._NOTICE_SECONDS", 0.2)
    monkeypatch.setattr("bot.agent.hooks.chain._CANCEL_SECONDS", 0.2)
    async with asyncio.timeout(10), bench(Script([finish(ANSWER)]), hooks=(Hanging(),)) as place:
        ended = await place.run()
    assert ended.result is not None


def test_half_a_surrogate_pair_does_no_harm() -> None:
    """D4: what a tool returns is cleaned where it enters; a pair in halves is one character."""
    for half in ("\ud83d", "\ude00 and \ud83d", "a\ud83db"):
        assert "\N{REPLACEMENT CHARACTER}" in without_invisible(half)
        without_invisible(half).encode()
    assert without_invisible("ok \ud83d\ude00") == "ok 😀"


async def test_a_tool_that_returns_half_a_pair_ends_no_run() -> None:
    """D4 D3: in an output, its sources, and an error."""
    broken = "half \ud83d"

    async with bench(
        Script([call("odd", {"how": "ok"}), call("odd", {"how": ""}), finish(ANSWER)])
    ) as place:

        @tool(group="math", summary="Odd", core=True)
        async def odd(how: str) -> ToolResult:
            "Odd."
            if not how:
                raise ToolError(broken)
            source = Source(title=broken, url="https://a.example/", supports=broken)
            return ToolResult(broken, sources=(source,))

        toolbox = replace(place.parts.toolbox, catalogue=Catalogue.of([odd.tool]))
        place.parts = replace(place.parts, toolbox=toolbox)
        ended = await place.run()
        for entry in await place.parts.history():
            entry.model_dump_json()
    assert ended.result is not None
