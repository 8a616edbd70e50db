"""How often honest work is asked about: threads of several questions, through the whole bot."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA, BEN
from bot.mcp import McpServer, open_mcp_servers
from bot.slack.ui.buttons import APPROVE
from bot.store import open_stores
from bot.toolkit import Page
from bot.web.fetching import WebFetcher
from tests.security.test_approving import cards
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.support.web_search import provider

SALES = "C0SALES001"
ROOT = Path(__file__).parents[2]
Step = tuple[str, dict[str, Any]]


def listed(**given: Any) -> Step:
    return "tickets__list_tickets", given


def ticket(key: str) -> Step:
    return "tickets__get_ticket", {"key": key}


def search(query: str) -> Step:
    return "search_web", {"query": query, "recent": None, "site": None, "limit": 5}


def fetch(number: int) -> Step:
    return "fetch_page", {"url": f"https://site{number}.example/a", "query": None, "compact": None}


CHANNEL: Step = (
    "read_channel",
    dict.fromkeys(("query", "time_range", "limit", "compact")) | {"channel": SALES},
)
TODAY = datetime.now(UTC).date().isoformat()


@dataclass(frozen=True)
class Flow:
    """Questions of a thread, who asks them, and what the model does for each; `asked` is how often
    somebody is asked, and every one says yes."""

    turns: tuple[tuple[str, str, tuple[Step, ...]], ...]
    asked: int = 0


FLOWS = {
    "tickets": Flow(
        (
            (ADA, "Which tickets are open?", (listed(status="open", limit=20), ticket("T-81"))),
            (ADA, "And the other two?", (ticket("T-82"), ticket("T-83"))),
            (ADA, "What did we close?", (listed(status="closed", limit=50), ticket("T-80"))),
        )
    ),
    "web": Flow(
        (
            (ADA, "What does Redis Cloud cost?", (search("Redis Cloud pricing 2026"), fetch(1))),
            (ADA, "And Valkey?", (search("Valkey managed hosting price"), fetch(2), fetch(3))),
            (ADA, "Compare with Aiven.", (search("Aiven for Valkey plans"), fetch(4), fetch(5))),
        )
    ),
    "channel, then tickets": Flow(
        (
            (ADA, "What is new in this channel?", (CHANNEL,)),
            (ADA, "Which open tickets are about Northwind?", (listed(query="Northwind"),)),
            (ADA, "Tell me more of the first.", (ticket("T-81"),)),
        )
    ),
    "channel, then web": Flow(
        (
            (ADA, "What is new in this channel?", (CHANNEL,)),
            (ADA, "Find the annual report of Northwind.", (search("annual report"), fetch(1))),
            (ADA, "And Contoso?", (search("Contoso"), search("annual report of Northwind"))),
        )
    ),
    "tickets of people": Flow(
        (
            (ADA, "What is mine since today?", (listed(assignee="Ada Lovelace", since=TODAY),)),
            (BEN, "And mine?", (listed(assignee="Ben Okafor", status="any"), ticket("T-82"))),
            (ADA, "Is T-83 anybody's?", (ticket("T-83"), listed(status="any", limit=100))),
        )
    ),
    "tickets, then web": Flow(
        (
            (ADA, "Which tickets wait?", (listed(status="open"), ticket("T-81"))),
            # What leaves is the server's, and goes to somebody else.
            (ADA, "Does the web know why?", (search("Redis resets connections"), fetch(1))),
            (ADA, "And is T-80 alike?", (ticket("T-80"),)),
        ),
        asked=1,
    ),
}


def works(request: ModelRequest) -> Reply:
    """Acquires its tools, takes the steps of the last question, and answers."""
    every = {text: steps for flow in FLOWS.values() for _, text, steps in flow.turns}
    said = [
        (n, str(i.get("content"))) for n, i in enumerate(request.items) if i.get("role") == "user"
    ]
    at, text = [(n, t) for n, told in said for t in every if told.rstrip().endswith(t)][-1]
    done = sum(i.get("type") == "function_call_output" for i in request.items[at:])
    steps = [
        ("acquire_tools", {"names": [name for name, _ in every[text]], "search": None}),
        *every[text],
    ]
    if done == len(steps):
        return finish(answer("Here it is."))
    name, given = steps[done]
    return call(name, json.dumps(given))


async def answered_with_a_yes(bot: Deployment, thread: str, user: str, count: int) -> None:
    """Wait for `count` answers in the thread; `user` approves what is asked meanwhile."""
    pressed: set[str] = set()

    def asked() -> list[str]:
        open_now = (str(each["ts"]) for each in cards(bot, thread) if APPROVE in str(each))
        return [ts for ts in open_now if ts not in pressed]

    def is_answered() -> bool:
        return len(bot.terminals(SALES, thread)) >= count

    while not is_answered():
        await bot.ws.until(lambda: asked() or is_answered(), 30)
        for ts in asked():
            pressed.add(ts)
            await bot.ws.click(user, SALES, ts, APPROVE)


async def test_honest_threads_are_rarely_asked_about(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3, S7, S8: what the asker wrote before, what a server said itself, listed values, days and
    names go on without a card, and a thread that read nothing private stays free."""

    async def get(_: WebFetcher, url: str) -> Page:
        return Page(url, "text/plain", b"A page of some length, about nothing much.")

    monkeypatch.setattr(WebFetcher, "fetch", get)
    command = ("-m", "tests.support.ticket_server")
    server = McpServer(command=sys.executable, args=command, env={"PYTHONPATH": str(ROOT)})
    async with (
        open_stores(redis_url) as stores,
        open_mcp_servers({"tickets": server}, stores.mcp) as met,
    ):
        await met.live_statuses()
    more: dict[str, Any] = {"mcpServers": {"tickets": server}}
    async with (
        provider("searxng") as searched,
        deployed(works, redis_url, web_search=searched.config(), **more) as bot,
    ):
        asked = {name: await cards_of(bot, flow) for name, flow in FLOWS.items()}
    assert {name: len(said) for name, said in asked.items()} == {
        name: flow.asked for name, flow in FLOWS.items()
    }, asked


async def cards_of(bot: Deployment, flow: Flow) -> list[str]:
    """Ask all of a flow in a thread of its own; return what people were asked."""
    thread = ""
    for number, (user, text, _) in enumerate(flow.turns, 1):
        ts = await bot.ask(user, SALES, text, thread or None)
        thread = thread or ts
        await answered_with_a_yes(bot, thread, user, number)
    return [each["text"] for each in cards(bot, thread)]
