"""People edit and delete questions while workers die: each question gets one answer, to its last version.

A worker is killed at one place of a run; then somebody edits, deletes, stops or adds to what they
asked, and another worker goes on. Real processes, Redis, and a model that answers exactly what it
was asked since the last end of a run.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.agent.prompts import STOPPED
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.model.request import item_text
from bot.dev.workspace import ADA, BEN, NotAnswered, Workspace
from bot.slack.ui.buttons import STOP
from bot.store import Stores, open_stores
from tests.faults.conversation import answered_by, since_result, tags_in
from tests.faults.fleet import RETRIES
from tests.faults.processes import environment, started
from tests.support.commands import Command
from tests.support.deployment import A_MOMENT, Deployment, is_terminal
from tests.support.runs import answer

SALES = "C0SALES001"
DIRECT = "D0ADA00001"
PATIENCE = 30.0  # seconds, on a busy machine
PLACES = (
    "ticket-taken",  # no run
    "run-started",  # no message
    "stream-started",  # a message that nobody knows
    "model-answered",  # one message, and another that waits
    "messages-joined",  # both in one run
    "run-finishing",  # an answer to both was accepted
    "run-finished",  # and waits to be posted
    "message-updated",  # and is up
    "run-delivered",
)
"""Failpoints at which the worker dies, in the order in which a run reaches them."""


class Model:
    """A model that calculates once, so that a second message can join, then answers after `go`."""

    def __init__(self) -> None:
        self.go = asyncio.Event()
        self.asked = 0

    async def __call__(self, request: ModelRequest) -> Reply:
        self.asked += 1
        if self.asked == 1:
            await asyncio.sleep(A_MOMENT)
        await self.go.wait()
        items = since_result(request.items)
        stops = [n for n, item in enumerate(items) if STOPPED in item_text(item)]
        items = items[stops[-1] + 1 :] if stops else items
        if not any(item.get("type") == "function_call_output" for item in items):
            return call("calculate", {"expression": "1+1"})
        tags = list[str]()
        for item in items:
            named = tags_in(item_text(item).split("Before the edit")[0])
            if item.get("role") == "user":
                tags += [tag for tag in named if tag not in tags]
            elif "These are left" in item_text(item):
                tags = [tag for tag in tags if tag in named]
            elif "took this message back" in item_text(item):
                tags = [tag for tag in tags if tag not in named]
        return finish(answer(f"This is for {' '.join(f'[{tag}]' for tag in tags)}."))


_PLACES = {4: 1, 6: 1, 5: 2}
"""The place of the answer to an edit: that of the edited question."""


@dataclass
class Scene:
    """A thread in which Ada asks 1 and 2 and Ben 3; an edit of 1 is 4 and one of 2 is 5. `wanted` are
    the questions that are to have one answer, `optional` those that may have one as well."""

    bot: Deployment
    tag: str
    root: str = ""
    ts: dict[int, str] = field(default_factory=dict)
    wanted: set[int] = field(default_factory=lambda: {1, 2, 3})
    optional: set[int] = field(default_factory=set)

    def words(self, number: int) -> str:
        return f"[{self.tag}-{number}] how many?"

    async def say(self, number: int, user: str = ADA) -> None:
        self.ts[number] = await self.bot.ask(user, SALES, self.words(number), self.root)

    async def edit(self, number: int, to: int) -> None:
        mention = f"<@{self.bot.ws.bot_user_id}>"
        await self.bot.ws.edit(ADA, SALES, self.ts[number], f"{mention} {self.words(to)}")

    async def delete(self, number: int) -> None:
        await self.bot.ws.delete(ADA, SALES, self.ts[number])

    async def taken_in(self) -> None:
        """Wait until every Slack event has reached the bot."""
        await self.bot.ws.until(lambda: not self.bot.ws.delivery.under_way, PATIENCE)

    @property
    def finals(self) -> list[dict[str, Any]]:
        return [m for m in self.bot.own(SALES, self.root) if is_terminal(m)]

    def wrong(self) -> str:
        """Return what is wrong with the thread; "" if nothing is."""
        own, ends = self.bot.own(SALES, self.root), self.finals
        said = [int(tag.split("-")[1]) for m in ends for tag in answered_by(m)]
        found = [
            "left over" if len(own) != len(ends) else "",
            "doubled" if len(said) != len(set(said)) else "",
            "lost" if not self.wanted <= set(said) else "",
            "not wanted" if not set(said) <= self.wanted | self.optional else "",
        ]
        places = [_PLACES.get(number, number) for number in said]
        found.append("disordered" if places != sorted(places) else "")
        shown = [(m.get("text"), answered_by(m)) for m in own]
        return f"{', '.join(filter(None, found))}: {shown}" if any(found) else ""


Change = Callable[[Scene], Awaitable[None]]


async def edits_the_first(scene: Scene) -> None:
    await scene.edit(1, 4)
    scene.wanted = {4, 2, 3}


async def edits_the_first_twice(scene: Scene) -> None:
    await scene.edit(1, 6)
    await scene.taken_in()
    await edits_the_first(scene)


async def edits_the_second(scene: Scene) -> None:
    await scene.edit(2, 5)
    scene.wanted = {1, 5, 3}


async def edits_both(scene: Scene) -> None:
    await scene.edit(1, 4)
    await scene.taken_in()
    await scene.edit(2, 5)
    scene.wanted = {4, 5, 3}


async def deletes_the_first(scene: Scene) -> None:
    await scene.delete(1)
    scene.wanted, scene.optional = {2, 3}, {1}


async def edits_and_deletes_the_first(scene: Scene) -> None:
    await scene.edit(1, 4)
    await scene.taken_in()
    await scene.delete(1)
    scene.wanted, scene.optional = {2, 3}, {1}


async def deletes_the_second(scene: Scene) -> None:
    await scene.delete(2)
    scene.wanted, scene.optional = {1, 3}, {2}


async def deletes_both(scene: Scene) -> None:
    await scene.delete(1)
    await scene.delete(2)
    scene.wanted, scene.optional = {3}, {1, 2}


async def stops(scene: Scene) -> None:
    shown = [m for m in scene.bot.own(SALES, scene.root) if STOP in str(m.get("blocks"))]
    with suppress(NotAnswered):
        for each in shown:
            await scene.bot.ws.click(ADA, SALES, each["ts"], STOP)
    scene.wanted, scene.optional = {3}, {1, 2}


async def edits_and_stops(scene: Scene) -> None:
    await scene.edit(1, 4)
    await scene.taken_in()
    await scene.bot.ws.say(ADA, SALES, "stop", scene.root)
    scene.wanted, scene.optional = {3}, {4, 2}


async def says_more(scene: Scene) -> None:
    await scene.say(7)
    scene.wanted = {1, 2, 3, 7}


CHANGES: tuple[Change, ...] = (
    edits_the_first,
    edits_the_first_twice,
    edits_the_second,
    edits_both,
    deletes_the_first,
    edits_and_deletes_the_first,
    deletes_the_second,
    deletes_both,
    stops,
    edits_and_stops,
    says_more,
)


@dataclass
class Stage:
    """A web process that keeps running, while workers are started and killed."""

    bot: Deployment
    stores: Stores
    model: Model
    orders: Path
    worker: Callable[[], Any]
    process: Command | None = None


@asynccontextmanager
async def stage(redis_url: str, folder: Path) -> AsyncGenerator[Stage]:
    orders, model = folder / "orders", Model()
    orders.mkdir()
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=model) as api,
        open_stores(redis_url) as stores,
    ):
        ws.delivery.ack_timeout, ws.delivery.retry_delays = 2.0, RETRIES
        settings = environment(ws, api, folder, redis_url=redis_url, port="0")
        deadly = settings | {"BOT_FAILPOINTS": str(orders)}
        async with started("web", settings, folder / "web"):
            yield Stage(
                Deployment(ws, api),
                stores,
                model,
                orders,
                lambda: started("worker", deadly, folder / "worker"),
            )


async def played(stage: Stage, place: str, change: Change, number: int) -> str:
    """Run one order of events. Return what is wrong at the end."""
    scene, model = Scene(stage.bot, f"c{number}"), stage.model
    model.go.clear()
    model.asked = 0
    scene.root = str((await stage.bot.ws.say(ADA, SALES, f"Thread {number}."))["ts"])
    order = stage.orders / place
    order.write_text("kill")
    async with stage.worker() as process:
        await scene.say(1)
        if PLACES.index(place) >= PLACES.index("model-answered"):
            await stage.bot.ws.until(lambda: model.asked, PATIENCE)
        await scene.taken_in()
        await scene.say(2)
        await scene.say(3, BEN)
        await scene.taken_in()
        model.go.set()
        await process.wait()
    await change(scene)
    await scene.taken_in()
    async with stage.worker():
        with suppress(TimeoutError):
            await _settled(stage, scene)
    return scene.wrong()


async def _settled(stage: Stage, scene: Scene) -> None:
    """Wait until nothing is left to do in the thread."""
    key = f"{stage.bot.ws.people[ADA].team_id}:{SALES}:{scene.root}"
    async with asyncio.timeout(PATIENCE):
        while await stage.stores.mailbox.waiting(key) or scene.wrong():  # noqa: ASYNC110 - of two systems
            await asyncio.sleep(0.1)


SHORT = (
    ("run-finishing", edits_the_first),
    ("run-finishing", edits_the_second),
    ("model-answered", edits_and_deletes_the_first),
    ("run-finished", deletes_the_first),
    ("stream-started", deletes_the_first),
)
"""Orders of events that each showed a defect."""


async def _all_wrong(redis_url: str, folder: Path, cases: Any) -> list[str]:
    found = list[str]()
    async with stage(redis_url, folder) as made:
        for number, (place, change) in enumerate(cases):
            if wrong := await played(made, place, change, number):
                found.append(f"{place}, {change.__name__}: {wrong}")
    return found


@pytest.mark.timeout(170)
async def test_a_question_changed_while_its_worker_is_dead_has_one_answer(
    redis_url: str, tmp_path: Path
) -> None:
    """(R1, reliability, promise) Answer each question's last version, and no deleted question. Nothing
    unfinished stays in the thread."""
    assert await _all_wrong(redis_url, tmp_path, SHORT) == []


@pytest.mark.heavy
@pytest.mark.timeout(3_000)
async def test_whatever_people_change_wherever_a_worker_dies(
    redis_url: str, tmp_path: Path
) -> None:
    """(R1, reliability, promise) Every change, with the worker dying at every failpoint."""
    every = [(place, change) for place in PLACES for change in CHANGES]
    assert await _all_wrong(redis_url, tmp_path, every) == []


async def _archived(bot: Deployment, channel: str) -> None:
    await bot.ws.archive(ADA, channel)


async def _without_the_bot(bot: Deployment, channel: str) -> None:
    await bot.ws.remove(ADA, channel, bot.ws.bot_user_id)


@pytest.mark.parametrize(
    ("place", "goes"), [("stream-started", _archived), ("run-finished", _without_the_bot)]
)
async def test_a_place_that_goes_while_its_worker_is_dead_holds_nothing_up(
    redis_url: str, tmp_path: Path, place: str, goes: Callable[[Deployment, str], Awaitable[None]]
) -> None:
    """(R3, reliability, promise) The run ends, and the asker is told once, in a direct message."""
    async with stage(redis_url, tmp_path) as made:
        bot, scene = made.bot, Scene(made.bot, "c0")
        scene.root = str((await bot.ws.say(ADA, SALES, "A thread."))["ts"])
        (made.orders / place).write_text("kill")
        made.model.go.set()
        async with made.worker() as process:
            await scene.say(1)
            await process.wait()
        await goes(bot, SALES)
        async with made.worker():
            async with asyncio.timeout(PATIENCE):
                while await made.stores.mailbox.waiting_anywhere():  # noqa: ASYNC110 - Redis tells nobody
                    await asyncio.sleep(0.1)
        [told] = [each for each in bot.ws.messages(DIRECT) if each["user"] == bot.ws.bot_user_id]
        assert "<#C0SALES001>" in told["text"]
