"""Defects of the libraries, met by ours: each test fails when its workaround is taken away.

`libraries.py` names them all, and the tests of those that are tested elsewhere.
"""

from __future__ import annotations

import asyncio
import gc
import io
import logging
import weakref
from pathlib import Path

import pytest

from bot.core.chain import LedgerEntry
from bot.core.errors import ModelError
from bot.core.request import Request
from bot.dev.model import ResponsesServer, Script
from bot.dev.workspace import ADA, Workspace
from bot.model.client import ResponsesModel, sdk_client
from bot.model.types import ModelRequest
from bot.runs.queue.engine import EngineOptions, open_engine
from bot.slack.edge.client import DeadlineClient
from bot.slack.edge.socket_mode import socket_mode
from bot.store import Stores
from bot.store.connection import connect
from bot.telemetry.logs import Handler
from tests.faults.libraries import DEFECTS
from tests.support.redis import asked
from tests.unit.slack.rig import wired

pytestmark = pytest.mark.usefixtures("redis_url")

GENERAL = "C0GENERAL1"
TESTS = Path(__file__).parents[1]


def test_every_defect_has_a_test_that_is_there() -> None:
    """The page is written from this table."""
    for defects in DEFECTS.values():
        for _, _, test in defects:
            file, name = test.split("::")
            assert f"def {name}(" in (TESTS / file).read_text("utf-8"), test


async def test_an_event_is_taken_in_though_slack_will_not_say_who_we_are() -> None:
    """bolt: when auth.test fails, the event is acknowledged and no listener runs."""
    async with (
        Workspace.open() as ws,
        wired(ws) as rig,
        socket_mode(rig.app.bolt, ws.app_token, web_client=rig.clients.reads),
    ):
        ws.faults.fail("auth.test", "internal_error", times=50)
        await ws.say(ADA, GENERAL, rig.mention("who am I?"))
        await ws.until(lambda: rig.requests)


async def test_an_event_that_is_worked_on_is_not_collected() -> None:
    """slack_sdk keeps no reference to the task that handles an event: Python may collect it while
    it waits for something that nobody else refers to either."""
    async with Workspace.open() as ws, wired(ws) as rig:
        waiting: list[weakref.ref[asyncio.Future[bool]]] = []

        async def wait_once(_request: Request, _event_id: str) -> bool:
            if waiting:  # Slack sends a mention twice
                return False
            reply: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            waiting.append(weakref.ref(reply))
            return await reply

        rig.app.submit = wait_once
        async with socket_mode(rig.app.bolt, ws.app_token, web_client=rig.clients.reads):
            await ws.say(ADA, GENERAL, rig.mention("hold on"))
            await ws.until(lambda: waiting)
            gc.collect()
            reply = waiting[0]()
            assert reply is not None
            reply.set_result(True)
            await ws.until(lambda: not ws.delivery.under_way)
            assert ws.delivery.lost == []


@pytest.mark.parametrize("words", [True, False])
async def test_a_socket_modes_address_is_not_logged(
    words: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """slack_sdk logs the address with its ticket, which opens a connection in our name; it is gone
    also from logs that may hold people's words."""
    caplog.set_level(logging.DEBUG if words else logging.NOTSET, "bot.words")
    written = io.StringIO()
    handler = Handler(written)
    logging.getLogger().addHandler(handler)
    try:
        async with Workspace.open() as ws, wired(ws) as rig:
            ws.faults.refuse_connections(1)
            async with socket_mode(
                rig.app.bolt,
                ws.app_token,
                web_client=rig.clients.reads,
                connections=1,
                patience=0.5,
            ) as sockets:
                await asyncio.wait_for(sockets.wait_connected(1), 10)
    finally:
        logging.getLogger().removeHandler(handler)
    assert "ticket=" not in written.getvalue().replace("ticket=[redacted", "")
    assert ("Failed to connect" in written.getvalue()) == words
    assert ("slack_bolt logged something" in written.getvalue()) != words


async def test_a_call_of_slack_ends_by_its_deadline() -> None:
    """slack_sdk ignores its timeout once it is given a session, and retries take their own time."""
    async with Workspace.open() as ws, wired(ws) as rig:
        client = DeadlineClient(
            deadline=0.2, token=ws.bot_token, base_url=ws.api_url, session=rig.clients.session
        )
        ws.faults.delay("users.info", 5)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(3) as test:
                await client.users_info(user=ADA)
        assert not test.expired()


async def test_a_call_that_slack_puts_off_is_made_again() -> None:
    """slack_sdk raises on the first 429."""
    async with Workspace.open() as ws, wired(ws) as rig:
        for client in (rig.clients.reads, rig.clients.writes, rig.clients.updates):
            ws.faults.fail("users.info", 429, retry_after=0)
            assert (await client.users_info(user=ADA))["ok"]


async def test_a_quota_that_is_used_up_is_asked_for_once() -> None:
    """The SDK takes every 429 for one that passes, and would ask twice more."""
    question = {"role": "user", "content": "How many?"}
    asking = ModelRequest(
        model="gpt-5.4-mini", instructions="Be brief.", input=(question,), tools=()
    )
    async with (
        ResponsesServer.open(Script([])) as api,
        sdk_client(api.api_key, api.url) as client,
    ):
        api.faults.fail("quota", times=9)
        with pytest.raises(ModelError):
            await anext(ResponsesModel(client).respond(asking))
    assert len(api.requests) == 1


async def test_more_commands_than_connections_wait_their_turn(redis_url: str) -> None:
    """redis-py's pool refuses at once when it is full."""
    async with connect(redis_url) as redis:
        replies = await asyncio.gather(*(redis.call("PING") for _ in range(300)))
    assert all(replies)


async def test_more_than_a_hundred_tickets_at_once(redis_url: str, stores: Stores) -> None:
    """docket's pool stops at 100 connections."""
    async with open_engine(redis_url, stores.mailbox) as engine:
        requests = [asked(thread=f"{number}.0") for number in range(120)]
        taken = await asyncio.gather(*(engine.submit(each, each.id) for each in requests))
    assert all(taken)


async def test_every_request_of_a_thread_has_a_ticket(redis_url: str, stores: Stores) -> None:
    """docket drops a job whose key it knows: no sweep comes to the rescue here."""
    begun: asyncio.Queue[str] = asyncio.Queue()
    go = asyncio.Event()

    async def wait(request: Request, _deaths: int) -> None:
        begun.put_nowait(request.text)
        await go.wait()

    async with open_engine(redis_url, stores.mailbox) as engine, engine.work(wait):
        for text in ("one", "two", "three"):
            await engine.submit(asked(text), f"Ev {text}")
        async with asyncio.timeout(10):
            assert await begun.get() == "one"
            go.set()
            assert [await begun.get(), await begun.get()] == ["two", "three"]


async def test_a_drain_longer_than_the_lease_loses_none(redis_url: str, stores: Stores) -> None:
    """docket renews no lease while it stops: others would begin what runs still."""
    options = EngineOptions(lease=0.5, sweep=0.2)
    begun: list[str] = []
    go = asyncio.Event()

    async def slow(request: Request, _deaths: int) -> None:
        begun.append(request.text)
        await go.wait()

    async with (
        open_engine(redis_url, stores.mailbox, options) as one,
        open_engine(redis_url, stores.mailbox, options) as two,
        one.work(slow),
    ):
        await one.submit(asked("slow"), "Ev1")
        async with asyncio.timeout(10):
            while not begun:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        async with two.work(slow):
            draining = asyncio.create_task(one.drain(10))
            await asyncio.sleep(4 * options.lease)  # longer than any lease
            assert begun == ["slow"]
            go.set()
            await draining


@pytest.mark.parametrize("steps", [0, 2, 4, 6, 8, 12, 20])
async def test_a_save_point_that_is_cancelled_is_whole_or_nothing(
    stores: Stores, steps: int
) -> None:
    """redis-py: a command that was cancelled may be carried out all the same."""
    request = asked()
    lease, _ = await stores.runs.start(request, "run_1")
    entry = LedgerEntry(run_id="run_1", items=({"type": "message"},))
    saving = asyncio.create_task(stores.runs.save_point("run_1", "{}", lease, [entry]))
    for _ in range(steps):
        await asyncio.sleep(0)
    saving.cancel()
    await asyncio.wait({saving})
    state = await stores.runs.state("run_1")
    assert (state is None) == (await stores.ledger.entries(request.thread_key) == [])
