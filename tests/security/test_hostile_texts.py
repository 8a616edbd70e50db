"""Texts made to cost a computer hours, in every tool that takes one: others are answered meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import count, islice
from typing import Any

import pytest

from bot.agent.limits import Limits
from bot.app.tool_loading import catalogue
from bot.dev.model import ModelRequest, Reply, call, finish, text
from bot.dev.workspace import ADA, BEN
from bot.services import given_schema
from bot.services import isolated_interpreters as interpreters
from bot.services import table_session as session
from tests.security.model import filled
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

SALES = "C0SALES001"
CSV = b"name,amount\n" + b"a" * 5_000 + b",1\n" + b"North,2\nSouth,3\n" * 2_000

SHORT = (
    "9**9**9**9**9",
    "meter**99999999*second**-(9**9**9)",
    "factorial(" * 90 + "9" + ")" * 90,
    "(m*" * 90 + "m",
    r"(a+)+$",
    r"(?:(?:a*)*)*b|(\w+\s?)*$",
    "@" + ".*[]" * 60,
    "map(&map(&map(&[@,@,@], @), @), @)",
    "SELECT count(*) FROM range(99999999999) a, range(99999999999) b",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "SELECT repeat('x', 2000000000) || repeat('y', 2000000000)",
    "*/1 * * * *" + ",*/1" * 60,
    "9999-12-31..0000-01-01" * 9,
    "https://" + "a." * 120 + "example",
    "1-999999999999999999",
    "\ufdfa" * 90,
)
LONG = (
    "[",
    "![",
    "(",
    "<",
    "> ",
    "*a_",
    "~~a",
    "|a",
    "`",
    "- a\n  ",
    "a.",
    "&#x41;",
    "\u0301",
    '"',
    "a,",
    "\n",
    " ",
    "\t",
    "\ufdfa",
    "a ",
    "0",
)
"""Pieces of which texts of `LENGTHS` are made."""

USUAL = {
    **dict.fromkeys(("handle", "left", "right", "before", "after"), "$last"),
    **dict.fromkeys(("start", "end", "day", "at"), "2026-12-30"),
    **dict.fromkeys(("across", "key", "left_key", "right_key", "label_column"), "name"),
    **dict.fromkeys(("from_zone", "to_zone"), "UTC"),
    **{"file_id": "$file", "value": "amount", "time": "10:00", "unit": "m", "to": "km"},
    **{"name": "a.md", "country": "DE", "emoji": "eyes", "quote": "North,2,South,3"},
}
"""Values that tools accept for the texts which hold no bomb."""

LENGTHS, AT_ONCE = (190, 30_000), 12
BOMBS = [*SHORT, *((piece * length)[:length] for piece in LONG for length in LENGTHS)]
EACH = len(BOMBS) if os.environ.get("BOT_ALL_BOMBS") else 2
"""Bombs for each parameter: every parameter gets some, and every bomb gets into many."""

LONGEST_STOP = 2.0
"""Seconds for which nothing else may happen in the bot's process; a freeze lasts for minutes."""


def texts_of(schema: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """The parameters that are a text, or (True) a list of texts."""
    for name, of in schema.get("properties", {}).items():
        kinds = of.get("type", ())
        if "enum" not in of and ("string" in kinds or "array" in kinds):
            yield name, "array" in kinds


def plain(name: str, of: dict[str, Any]) -> Any:
    """A value that a tool accepts, if it knows what stands in it."""
    kinds = of.get("type", ())
    if "enum" in of:
        return of["enum"][0]
    if "null" in kinds or "anyOf" in of:
        return None
    if "array" in kinds:
        return {"handles": ["$last"], "zones": ["UTC", "Europe/Berlin"]}.get(name, ["amount"])
    if "string" not in kinds:
        return 2026 if name == "year" else 1
    return USUAL.get(name, "general")


def orders(tool: dict[str, Any], first: count[int]) -> list[tuple[str, dict[str, Any]]]:
    """Calls of one tool with bombs in each of its texts; `first` says with which to begin."""
    usual = {name: plain(name, of) for name, of in tool["parameters"].get("properties", {}).items()}
    step = len(BOMBS) // EACH
    return [
        (tool["name"], usual | {name: [bomb] * 3 if is_list else bomb})
        for name, is_list in texts_of(tool["parameters"])
        for bomb in BOMBS[next(first) % step :: step]
    ]


READ = ("read_file", {"file_id": "$file"} | dict.fromkeys(("sheet", "pages", "query", "compact")))
LIMITED = ((interpreters, "_LIMITS"), (given_schema, "LIMITS"), (session, "_LIMITS"))
LIMITS = Limits(turns=300, failed_turns=300, malformed=300, tokens=100_000_000, cost=None)
_NUMBERS = count()
CALLS = {tool.name: list(orders(tool.definition(), _NUMBERS)) for tool in catalogue().tools}
_ASKED = re.compile(r"try (\w+)")


@asynccontextmanager
async def heartbeat() -> AsyncGenerator[list[float]]:
    """The times between two beats of the event loop, which all that people wait for runs on."""
    gaps: list[float] = []

    async def beat() -> None:
        last = time.monotonic()
        while True:
            await asyncio.sleep(0.02)
            now = time.monotonic()
            gaps.append(now - last)
            last = now

    task = asyncio.create_task(beat())
    try:
        yield gaps
    finally:
        task.cancel()


def obeys(request: ModelRequest) -> Reply:
    """Makes the calls of the tool that was asked about, one after the other."""
    words = [str(i.get("content")) if i.get("role") == "user" else "" for i in request.items]
    asked = [(n, found[1]) for n, said in enumerate(words) if (found := _ASKED.search(said))]
    last, name = asked[-1] if asked else (0, "nothing")
    done = sum(item.get("type") == "function_call_output" for item in request.items[last:])
    calls = CALLS.get(name, ())
    reading = [READ] if any("$" in str(usual.values()) for _, usual in calls) else []
    steps = [("acquire_tools", {"names": ["read_file", name]}), *reading, *calls]
    if not request.tools:
        return text("They tried.")  # a summary of a conversation that has become too long
    if name == "nothing" or request.forced or done == len(steps):
        return finish(answer())
    tool, arguments = steps[done]
    return call(tool, filled(json.dumps(arguments), request))


@pytest.mark.timeout(3000 if EACH > 2 else 170)
async def test_a_second_person_is_answered_before_any_bomb_ends(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(reliability 26) One sentence of anybody in any text of any tool: the bot's own process goes on.
    BOT_ALL_BOMBS=1 tries every bomb in every text, which takes ten minutes."""
    for place in LIMITED:  # a bomb costs what it may cost: what that is does not matter here
        least = replace(getattr(*place), cpu=1.0, seconds=3.0)
        monkeypatch.setattr(*place, least)
    async with deployed(obeys, redis_url, limits=LIMITS) as bot, heartbeat() as gaps:
        names = filter(CALLS.get, CALLS)  # those that take a text
        while batch := list(islice(names, AT_ONCE)):
            asked = [
                await bot.ask(ADA, SALES, f"try {name}", files=[("sales.csv", CSV)])
                for name in batch
            ]
            other = await bot.ask(BEN, SALES, "try nothing")
            await bot.answered(SALES, other, seconds=20)
            for root in asked:
                await bot.ws.until(partial(ended, bot, root), 600 if EACH > 2 else 60)
        outputs = [
            str(item["output"])
            for r in bot.api.requests
            for item in r.body["input"]
            if "output" in item
        ]
    assert [each for each in outputs if " failed (" in each] == []  # an error that nobody expected
    assert max(gaps) < LONGEST_STOP


def ended(bot: Deployment, root: str) -> bool:
    """Whether the question is answered, or waits for people to approve a call."""
    own = bot.own(SALES, root)
    return bool(bot.terminals(SALES, root)) or any("card" in str(m.get("metadata")) for m in own)
