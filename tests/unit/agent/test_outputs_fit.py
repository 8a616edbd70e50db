"""What calls return never fills the context, whatever they are and however many (D7)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from bot.agent.calls.call import Toolbox
from bot.dev.model import ModelRequest, Reply, calls, finish, text
from bot.text.token_estimate import estimated_tokens
from bot.toolkit import Reads, Tool, ToolError, tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.size import saved_handle
from bot.toolkit.tool import Services
from tests.unit.agent.harness import ANSWER, bench

WINDOWS = (8_000, 32_000, 128_000, 1_000_000)
PIECES = ("line of words\n", "1.25,3.5,77\n", "漢字かな", "สวัสดี", "дом 🧑‍🚀 ", '{"a":[]},')


def many_words() -> list[Tool]:
    """Tools of which everything that the model reads can be long."""

    @tool(group="g", summary="Says", core=True, timeout=60)
    async def say(piece: str, times: int) -> str:
        "Says something very often."
        return piece * times

    @tool(
        group="g",
        summary="Says that others said",
        core=True,
        timeout=60,
        safety=Reads(foreign=True),
    )
    async def quote(piece: str, times: int) -> str:
        "Quotes somebody."
        return piece * times

    @tool(group="g", summary="Objects", core=True)
    async def object_to(piece: str, times: int) -> str:
        "Fails at length."
        raise ToolError(piece * times)

    async def explain(services: Services) -> str:
        return "漢字" * 30_000

    @tool(group="g", summary="Comes with examples", on_acquired=explain)
    async def rare() -> str:
        "Rare."
        return ""

    return [each.tool for each in (say, quote, object_to, rare)]


SAID = st.tuples(
    st.sampled_from(["say", "say", "quote", "object_to"]),
    st.fixed_dictionaries(
        {"piece": st.sampled_from(PIECES), "times": st.sampled_from([0, 1, 40, 3_000, 100_000])}
    ),
)
OTHER = st.one_of(
    st.just(("acquire_tools", {"names": ["rare"]})),
    st.just(("acquire_tools", {"names": [f"無い{n}" * 40 for n in range(20)]})),
    st.just(("no_such_tool", {"x": "y"})),
    st.just(("say", {"piece": "x", **{f"無用{n}" * 20: 1 for n in range(30)}})),
    st.just(("complete_task", {f"無用{n}" * 40: 1 for n in range(30)})),
)
FEW = st.lists(st.one_of(SAID, SAID, SAID, OTHER), min_size=1, max_size=32)
MANY = st.lists(st.one_of(SAID, OTHER), min_size=33, max_size=120)
TURNS = st.one_of(FEW, FEW, FEW, MANY)
FINAL: tuple[str, dict[str, Any]] = ("complete_task", {"無用": 1})


@example(
    turn=[("say", {"piece": "漢字かな", "times": 100_000})] * 32,
    window=8_000,
    full=0.0,
    stateless=True,
)
@example(
    turn=[("quote", {"piece": "1.25,3.5,77\n", "times": 3_000})] * 8,
    window=8_000,
    full=0.7,
    stateless=False,
)
@example(
    turn=[("acquire_tools", {"names": ["rare"]})] * 32, window=32_000, full=0.5, stateless=False
)
@example(
    turn=[("say", {"piece": "дом 🧑‍🚀 ", "times": 3_000})] * 1_000,
    window=32_000,
    full=0.0,
    stateless=False,
)
@example(turn=[FINAL] * 1_000, window=128_000, full=0.3, stateless=True)
@example(
    turn=[("say", {"piece": "x", "times": 40})] * 40 + [FINAL] * 40,
    window=32_000,
    full=0.7,
    stateless=False,
)
@given(
    turn=TURNS,
    window=st.sampled_from(WINDOWS),
    full=st.sampled_from([0.0, 0.3, 0.7]),
    stateless=st.booleans(),
)
@settings(
    max_examples=6 if settings.get_current_profile_name() != "heavy" else 500,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
def test_the_outputs_of_a_turn_fit_together(
    turn: list[tuple[str, dict[str, Any]]], window: int, full: float, stateless: bool
) -> None:
    """D7: with half of the free context left to reason in, refusals and feedback included; what is
    left out of a call that went well can be read under its handle. A thousand calls at once, too: an
    output of two words is less than the call took."""
    asyncio.run(check(turn, window, full, stateless=stateless))


async def check(
    turn: list[tuple[str, dict[str, Any]]], window: int, full: float, *, stateless: bool
) -> None:
    replies = iter([replace(calls(*turn), disobey=True)])

    def brain(request: ModelRequest) -> Reply:
        return next(replies, finish(ANSWER)) if request.tools else text("They talked.")

    async with bench(brain, stateless=stateless, window=window) as place:
        toolbox = Toolbox(Catalogue.of(many_words()), {}, place.artifacts)
        place.parts = replace(place.parts, toolbox=toolbox)
        ended = await place.run("word" * int(min(window, 128_000) * full))
        spent = place.states[0].last_usage
        taken = spent.input_tokens + spent.output_tokens
        added = [each["output"] for each in ended.new_items if "output" in each]
        outputs = added[: len(turn)]
    assert ended.result is not None
    assert len(outputs) == len(turn)
    free = max(0, window - taken)
    not_run = outputs.count("Not run.")
    assert sum(map(estimated_tokens, outputs)) <= max(free / 2, not_run * 3 + 250) + 25
    for (name, given_), output in zip(turn, outputs, strict=True):
        whole = given_.get("piece", "") * given_.get("times", 0)
        if (
            name == "say"
            and whole not in output
            and "Not run" not in output
            and "valid" not in output
        ):
            assert await place.artifacts.read(saved_handle(output)) == whole.encode()
