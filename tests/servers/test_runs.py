"""Whole runs against every server: each answers, remembers, and is asked no more than it must be."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import pytest

from bot.core.answers import GIVEN
from bot.core.outcome import RunStatus, StopReason
from bot.settings import ModelSettings
from bot.store import Stores
from bot.toolkit import Tool, tool
from tests.servers.dialects import DIALECTS, MODEL, Dialect, Server, server
from tests.support.redis import asked
from tests.support.runs import Bot, bot_on

dialects = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.name)
FIRST_LOST = {"LiteLLM": 1, "llama.cpp": 1, "ogx that lost its store": 2, "vLLM": 2}
"""Calls that find out, once a process, that a server keeps no responses. One that says "not found" is
asked once more (B8). Ollama and OpenRouter say it with their first response."""


def adding() -> Tool:
    @tool(group="math", summary="Adds", core=True)
    async def add(a: int, b: int) -> int:
        "Adds."
        return a + b

    return add.tool


@asynccontextmanager
async def answering(
    stores: Stores, dialect: Dialect, *, talks: bool = False, **settings: Any
) -> AsyncGenerator[tuple[Server, Bot]]:
    """A server, and a bot that answers with its model."""
    async with (
        server(dialect, talks=talks) as api,
        bot_on(stores, cast(Any, api), adding(), openai_model=MODEL, **settings) as bot,
    ):
        yield api, bot


@dialects
async def test_a_thread_goes_on_with_every_server(stores: Stores, dialect: Dialect) -> None:
    """B1 B8: the second question of a thread sees the first one, and what a server cannot do is found
    out once; a second thread pays nothing for it."""
    async with answering(stores, dialect) as (api, bot):
        summaries = []
        for question in ("Q1 please", "and Q2", "then Q3"):
            outcome = await bot.ask(question)
            assert outcome.status is RunStatus.SUCCESS, outcome
            summaries.append((outcome.result or {})["summary"])
        used = len(api.bodies)
        other = asked("Q9 elsewhere", thread="9.0")
        assert ((await bot.ask(other)).result or {})["summary"] == "Q9"
    assert summaries == ["Q1", "Q1 Q2", "Q1 Q2 Q3"]
    assert used == 6 + FIRST_LOST.get(dialect.name, 0)
    assert len(api.bodies) == used + 2
    assert {body.get("store", True) for body in api.bodies[-2:]} == {dialect.parent == "kept"}


@dialects
async def test_a_chat_gets_the_models_text(stores: Stores, dialect: Dialect) -> None:
    """C4: text is the answer, in one call, whatever the server makes of tools."""
    async with answering(stores, dialect, talks=True) as (api, bot):
        outcome = await bot.ask("Q1 please")
    assert (outcome.result or {})["summary"] == "Q1"
    assert outcome.status is RunStatus.SUCCESS
    assert len(api.bodies) == 1


@dialects
async def test_a_forced_call_is_made_in_the_servers_own_way(
    stores: Stores, dialect: Dialect
) -> None:
    """C4: by name, else required with that one tool; where neither works the first text stands. A
    server that refuses or ignores one way is not asked in it again."""
    schema = {"type": "object", "properties": {"summary": {"type": "string"}}}
    strict = {**schema, "required": ["summary"], "additionalProperties": False}
    async with answering(stores, dialect, talks=True) as (api, bot):
        details: dict[str, Any] = {"response_type": GIVEN, "response_schema": strict}
        outcome = await bot.ask("Q1 please", **details)
        forced = [str(body["tool_choice"]) for body in api.bodies if "tool_choice" in body]
        choices = list(dict.fromkeys(forced))
        again = asked("Q2 please", thread="2.0").model_copy(update=details)
        second = await bot.ask(again)
    works = dialect.forced == "followed" or dialect.is_required_followed
    for each in (outcome, second):
        expected = StopReason.COMPLETED if works else StopReason.MALFORMED_OUTPUT
        assert each.stop_reason is expected, each
    named = {"type": "function", "name": "complete_task"}
    assert choices == [str(named), "required"][: 2 - (dialect.forced == "followed")]
    later = [str(body["tool_choice"]) for body in api.bodies if "tool_choice" in body]
    assert later[len(forced) :] == choices[-1:]


@pytest.mark.parametrize(
    "dialect", [each for each in DIALECTS if each.overflow], ids=lambda each: each.name
)
async def test_an_overflow_in_the_servers_words_is_shortened(
    stores: Stores, dialect: Dialect
) -> None:
    """E4: recognised, compacted, tried again."""
    async with answering(stores, dialect) as (api, bot):
        await bot.ask("Q1 please")
        api.overflows = 1
        outcome = await bot.ask("and Q2")
    assert outcome.status is RunStatus.SUCCESS, outcome
    assert "Q2" in (outcome.result or {})["summary"]


@pytest.mark.parametrize(
    "dialect",
    [each for each in DIALECTS if each.window or each.name == "OpenAI"],
    ids=lambda each: each.name,
)
async def test_the_window_that_a_server_lists_is_used(stores: Stores, dialect: Dialect) -> None:
    """E1: unless it is set."""
    expected = 32_768 if dialect.window else 128_000
    async with answering(stores, dialect) as (_, bot):
        await bot.ask("Q1 please")  # by then the list has been read
        assert bot.runner.deps.prices.window(MODEL) == expected
    async with answering(stores, dialect, model=ModelSettings(window=8_000)) as (_, bot):
        await bot.ask("Q2 please")
        assert bot.runner.deps.prices.window(MODEL) == 8_000


async def test_a_thread_goes_on_when_the_setting_changes(stores: Stores) -> None:
    """B1 B7: from chained to stateless and back, without a call more."""
    async with server(DIALECTS[0]) as api:
        summaries = []
        for number, stateless in enumerate((False, True, True, False, False), 1):
            settings = ModelSettings(stateless=stateless)
            async with bot_on(
                stores, cast(Any, api), adding(), openai_model=MODEL, model=settings
            ) as bot:
                outcome = await bot.ask(f"Q{number}")
                summaries.append((outcome.result or {})["summary"])
    assert summaries == ["Q1", "Q1 Q2", "Q1 Q2 Q3", "Q1 Q2 Q3 Q4", "Q1 Q2 Q3 Q4 Q5"]
    assert len(api.bodies) == 10
    assert [body.get("store", True) for body in api.bodies] == [True] * 2 + [False] * 4 + [True] * 4
