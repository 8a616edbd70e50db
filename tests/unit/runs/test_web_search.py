"""A provider of web searches, as a deployment has it."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from bot.core.errors import ConfigurationError
from bot.dev.model import Script, call, finish
from bot.runs.policy.access import Policy
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.store import Stores
from bot.web.web_search import WebSearchConfig
from tests.support.runs import answer, bot_with
from tests.support.web_search import provider

SEARCH = {"recent": None, "site": None, "limit": None}


async def test_it_is_offered_once_a_provider_is_named(stores: Stores) -> None:
    """D1: and not before."""
    for configured in (True, False):
        async with (
            provider("searxng") as there,
            bot_with(
                stores,
                Script([finish(answer())]),
                web_search=there.config() if configured else None,
            ) as bot,
        ):
            await bot.ask("Hello?")
            assert ("search_web" in str(bot.api.requests[0].body["tools"])) is configured


@pytest.mark.parametrize(
    ("query", "open_searches", "asks"),
    [
        ("price of Redis", False, False),
        ("Redis CANARY-4711 price", False, True),
        ("Redis CANARY-4711 price", True, False),
    ],
)
async def test_words_that_may_be_private_leave_only_after_a_yes(
    stores: Stores, query: str, open_searches: bool, asks: bool
) -> None:
    """Reliability 11: once something private was read, the asker's own words alone go out unasked,
    unless the operator has said otherwise."""
    script = Script(
        [
            call("acquire_tools", {"names": ["search_web"], "search": None}),
            call("read_thread", {"limit": None, "before": None, "query": None, "compact": None}),
            call("search_web", {"query": query, **SEARCH}),
            finish(answer()),
        ]
    )
    async with (
        provider("searxng") as there,
        bot_with(
            stores,
            script,
            web_search=there.config(),
            access=Policy(open_searches=open_searches),
        ) as bot,
    ):
        with pytest.raises(AwaitingApproval) if asks else nullcontext():
            await bot.ask("What is the price of Redis?")
        assert [each.title for each in bot.board.asked] == (
            [f"Search the web: {query}"] if asks else []
        )
        assert [each["q"] for each in there.seen] == ([] if asks else [query])


async def test_a_key_that_is_missing_is_named_at_start(stores: Stores) -> None:
    config = WebSearchConfig.model_validate({"provider": "brave"})
    with pytest.raises(ConfigurationError, match="WEB_SEARCH_API_KEY"):
        async with bot_with(stores, Script([]), web_search=config):
            pass
