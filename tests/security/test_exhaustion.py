"""One person who asks for much leaves room for others."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.dev.model import finish
from bot.dev.workspace import ADA
from bot.library.isolated import Busy
from bot.library.isolated.pool import Share, Slots
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.policy.access import Policy
from bot.runs.policy.egress_guard import EgressGuard
from bot.services import isolated_interpreters as interpreters
from bot.services.artifact_tables import ArtifactTables
from bot.services.isolated_interpreters import IsolatedInterpreters
from bot.store import Stores
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import Artifact, ToolResult
from tests.support.deployment import deployed
from tests.support.redis import asked
from tests.support.runs import answer
from tools.texts import compare_texts, edit_file, extract_matches
from tools.web import fetch_page


async def test_one_person_does_not_fill_redis(stores: Stores) -> None:
    artifacts = ThreadArtifacts(stores.artifacts, per_day=100)

    async def save(user: str, thread: str) -> Artifact:
        request = asked(thread=thread).model_copy(update={"user": user})
        with bound_request(RequestContext(request=request, run_id="run_1")):
            return await artifacts.save(b"x" * 60, name="a.txt", media_type="text/plain")

    await save("U0GREEDY01", "1.0")
    with pytest.raises(ToolError, match="as much as one may"):
        await save("U0GREEDY01", "2.0")
    await save("U0OTHER001", "2.0")


async def test_one_message_does_not_use_up_what_slack_allows(redis_url: str) -> None:
    """Slack gives some hundred look-ups of people a minute, for everybody; a message has room for
    thousands of made-up ones, and whoever is not known may not ask."""
    crowd = " ".join(f"<@U{number:09}>" for number in range(2_000))
    async with deployed(lambda _: finish(answer()), redis_url) as bot:
        ts = await bot.ask(ADA, "C0SALES001", crowd)
        await bot.answered("C0SALES001", ts)
        assert len([e for e in bot.ws.effects if e.method == "users.info"]) < 50


async def test_words_of_a_million_letters_take_no_time() -> None:
    """What a tool shows is looked through for addresses, on the event loop that everybody shares."""
    guard = EgressGuard(lambda: [asked("x" * 40_000)], Policy())
    page = fetch_page.tool
    began = time.thread_time()
    with bound_request(RequestContext(asked(), "run_1", idempotency_key="run_1:1")):
        await guard.after_tool(
            page, page.arguments(url="https://a.example"), ToolResult("x" * 300_000)
        )
    guard.may_leak(page, page.arguments(url="https://b.example"))
    assert time.thread_time() - began < 5


async def test_no_tool_on_texts_goes_on_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing ends a thread; what is slow is bounded, and not done on the event loop."""
    artifacts = MemoryArtifacts()

    async def kept(text: str) -> str:
        return (await artifacts.save(text.encode(), name="a", media_type="text/plain")).handle

    limits = "bot.services.isolated_interpreters._LIMITS"
    usual = interpreters._LIMITS
    monkeypatch.setattr(limits, replace(usual, cpu=0.5))
    lines = await kept("\n".join(["a" * 24 + "!"] * 100_000))
    for slow in ("(a|aa)+$", "(a|aa){,6}$"):  # each line slow, or only all of them
        with pytest.raises(ToolError, match="too long"):
            await extract_matches(
                lines, slow, artifacts, ArtifactTables(artifacts), IsolatedInterpreters()
            )
    monkeypatch.setattr(limits, usual)
    with pytest.raises(ToolError, match="20,000 matches"):
        await extract_matches(
            await kept("a" * 1_000_000),
            "a?",
            artifacts,
            ArtifactTables(artifacts),
            IsolatedInterpreters(),
        )
    one, other = ("\n".join(str(n * k % 97) for n in range(20_000)) for k in (3, 5))
    with pytest.raises(ToolError, match="differ over more than"):
        await compare_texts(await kept(one), await kept(other), artifacts)
    began = time.thread_time()
    with pytest.raises(ToolError, match="nearest line"):
        await edit_file(
            await kept("lorem ipsum dolor sit amet 1\n" * 200_000),
            "lorem ipsum dolor sit amet 2",
            "",
            artifacts,
        )
    assert time.thread_time() - began < 5


async def test_one_person_does_not_take_all_places() -> None:
    """Files are read, and tables asked, a few at a time for each; what somebody else asks is next."""
    slots, holders = Slots(total=3), list[str]()

    async def take(user: str, until: asyncio.Event) -> None:
        async with slots.hold(user, Share(per_owner=2)):
            holders.append(user)
            await until.wait()

    go = asyncio.Event()
    async with AsyncExitStack() as stack:
        group = await stack.enter_async_context(asyncio.TaskGroup())
        stack.callback(go.set)
        for user in ("U0GREEDY01", "U0GREEDY01", "U0GREEDY01", "U0OTHER001"):
            group.create_task(take(user, go))
        async with asyncio.timeout(30):
            while len(holders) < 3:  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(0)
        assert sorted(holders) == ["U0GREEDY01", "U0GREEDY01", "U0OTHER001"]
    assert len(holders) == 4


async def test_who_waits_for_a_place_too_long_is_told_so() -> None:
    """Forty questions at once on a small machine: some are done, the others read what to do."""
    slots, said = Slots(total=1), list[str]()
    async with slots.hold():
        with pytest.raises(Busy, match="Try again in a minute"):
            async with slots.hold("U2", Share(wait=0.05), lambda: said.append("waits")):
                pass
    async with slots.hold():  # and nobody's place is lost
        pass
    assert said == ["waits"]


async def test_a_large_job_is_not_passed_by_small_ones_for_ever() -> None:
    """One line for all: a program waits for two places, and what comes later waits behind it; but
    what its own kind keeps waiting holds up nobody."""
    slots, order = Slots(total=2), list[str]()
    program = Share("programs", total=1, places=2)

    async def take(name: str, share: Share) -> None:
        async with slots.hold(name, share):
            order.append(name)

    async with asyncio.TaskGroup() as group, slots.hold("first"):
        group.create_task(take("program", program))
        await asyncio.sleep(0)
        group.create_task(take("later", Share()))
        await asyncio.sleep(0)
        assert order == []
    assert order == ["program", "later"]
    order.clear()
    small = Share("programs", total=1)
    async with asyncio.TaskGroup() as group, slots.hold("first", small):
        group.create_task(take("program", program))  # which lacks a place besides
        await asyncio.sleep(0)
        group.create_task(take("later", Share()))
        await asyncio.sleep(0.01)
        assert order == ["later"]
    assert order == ["later", "program"]
