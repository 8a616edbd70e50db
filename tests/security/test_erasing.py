"""What is held about a person can be erased whole, and nothing of anybody else's (reliability 15)."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import replace
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.app.run_setup import response_deleter
from bot.cli import operator
from bot.cli.operator import erase_lines, usage_lines
from bot.core import failpoints
from bot.core.background import alongside
from bot.core.budgets import Account, Budget, Spent
from bot.core.context import RequestContext, bound_request
from bot.core.schedule import Schedule
from bot.dev.model import ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA, BEN
from bot.features.memories.scoped import ScopedMemories
from bot.features.schedules.message import ScheduledMessage
from bot.features.schedules.message_store import ScheduledMessageStore
from bot.features.schedules.own import OwnSchedules
from bot.runs import erasure
from bot.settings import ModelSettings, Settings
from bot.store import Retention, open_stores
from bot.store.connection import connect
from bot.store.embedded import embedded_redis
from bot.toolkit import MemoryScope
from tests.faults.processes import environment
from tests.security.model import question, won_over
from tests.security.test_boundaries import private_question
from tests.support.commands import start
from tests.support.deployment import Deployment, configured, deployed
from tests.support.redis import asked
from tests.support.runs import answer

SALES, DIRECT = "C0SALES001", "D0ADA00001"
HERS, HIS = "ADAS-WORDS", "BENS-WORDS"
JUDGED = {"completed": True, "confidence": "high", "issues": [], "suggestion": ""}
READ = ("read_file", {"file_id": "$file", "sheet": None, "pages": None})


async def everything(redis_url: str) -> dict[str, bytes]:
    """All that Redis holds, by key; of the engine's, too."""
    reads: dict[str, tuple[Any, ...]] = {
        "string": ("GET",),
        "hash": ("HGETALL",),
        "list": ("LRANGE", 0, -1),
        "set": ("SMEMBERS",),
        "zset": ("ZRANGE", 0, -1),
        "stream": ("XRANGE", "-", "+"),
    }
    found = {}
    async with Redis.from_url(redis_url) as plain, connect(redis_url) as redis:
        async for key in plain.scan_iter("*"):
            kind = (await redis.call("TYPE", key)).decode()
            if kind == "none":  # the engine's, gone meanwhile
                continue
            command, *rest = reads[kind]
            found[key.decode()] = str(await redis.call(command, key, *rest)).encode()
    return found


def traces(kept: dict[str, bytes], *words: str) -> list[str]:
    """Keys that have one of the words in their name or value."""
    return [k for k, v in kept.items() if any(w in k or w.encode() in v for w in words)]


async def used_by(bot: Deployment, user: str, words: str, direct: str) -> str:
    """Someone asks in a channel with a file, has something remembered, says what they think of the
    answer, asks in private and directly; the ts of the first."""
    remember = ("remember", {"text": words})
    first = await bot.ask(
        user,
        SALES,
        question(READ, remember, say=answer(words, follow_ups=["?"])),
        files=[("a.csv", f"{words}\n1\n".encode())],
    )
    [said] = await bot.answered(SALES, first)
    run = said["metadata"]["event_payload"]["run"]
    await bot.ws.click(user, SALES, said["ts"], "feedback", value=f"good:{run}")
    await private_question(bot, user, first, question(say=answer(words)))
    ts = await bot.ask(user, direct, question(say=answer(words)))
    await bot.answered(direct, ts)
    return first


async def test_of_a_person_nothing_is_left(redis_url):
    """Requests, runs, conversation, files, memories, feedback, spending, states and what the model
    service stores go; another's thread goes on where it stood."""
    async with deployed(won_over, redis_url) as bot:
        await used_by(bot, ADA, HERS, DIRECT)
        direct = bot.ws.messages(DIRECT)[0]["ts"]
        his = await used_by(bot, BEN, HIS, "D0BEN00001")
        async with open_stores(redis_url) as stores:
            context = RequestContext(
                request=asked().model_copy(update={"user": ADA}), run_id="run_1"
            )
            with bound_request(context):
                await ScopedMemories.of(stores).remember(HERS, MemoryScope.WORKSPACE)
                await OwnSchedules(stores.schedules).add(HERS, at=None, cron="0 9 * * *")
        before = await everything(redis_url)
        families = {
            key.split(":")[2]
            for key, value in before.items()
            if ADA in key or HERS.encode() in value
        }
        assert {"memories", "ledger", "run", "caller-state", "request", "feedback"} <= families
        stored = len(bot.api.chains.responses)

        lines = await erase_lines(configured(bot.ws, bot.api, redis_url), user=ADA)

        after = await everything(redis_url)
        assert traces(after, ADA, DIRECT, HERS) == []
        async with open_stores(redis_url) as stores:  # or catching up would take it in again
            assert await stores.mailbox.was_taken(bot.ws.team_id, DIRECT, direct)
        kept = [node for node in bot.api.chains.responses.values() if node.kept]
        assert HERS not in str([(n.input, n.response) for n in kept])
        assert 0 < len(kept) < stored
        assert lines[0].startswith("Erased ")
        assert not any(line.startswith("!") for line in lines)
        assert "snapshots, replicas and backups" in lines[-1]
        for key, value in before.items():
            if HIS.encode() in value:
                assert after.get(key) == value, key
        await bot.ask(BEN, SALES, question(say=answer("Still here.")), his)
        await bot.answered(SALES, his, 2)
        assert bot.api.requests[-1].body["previous_response_id"]


async def test_a_direct_message_is_found_when_its_threads_are_gone(redis_url):
    """O8: accounts name its channel for two months, threads are kept for one, or were erased before
    by themselves; afterwards `bot usage` names neither the person nor the channel."""
    async with deployed(won_over, redis_url) as bot:
        ts = await bot.ask(ADA, DIRECT, question(say=answer(HERS)))
        await bot.answered(DIRECT, ts)
        settings = configured(bot.ws, bot.api, redis_url)
        assert DIRECT in str(await usage_lines(settings))
        await erase_lines(settings, thread=f"{bot.ws.team_id}:{DIRECT}:{ts}")
        assert traces(await everything(redis_url), DIRECT) != []

        await erase_lines(settings, user=ADA)

        assert traces(await everything(redis_url), ADA, DIRECT) == []
        usage = str(await usage_lines(settings))
        assert ADA not in usage
        assert DIRECT not in usage
        assert bot.ws.team_id in usage  # what the workspace spent


async def test_nothing_is_left_of_what_helpers_and_judges_were_told(redis_url):
    """Responses on no chain of the thread go as well: sub-agents' by their ids, and of a result that
    is judged the service never keeps anything."""
    report = {"summary": HERS, "findings": [], "gaps": []}
    goals = [question(say=report | {"summary": f"{HERS} {n}"}) for n in range(2)]
    dispatch = [("dispatch_subagent", {"goal": goal, "tools": []}) for goal in goals]

    def brain(request: ModelRequest) -> Reply:
        if "judge" in str(request.body.get("tool_choice")):
            return call("judge", JUDGED)
        return won_over(request)

    judged = ModelSettings(evaluation="basic")
    async with deployed(brain, redis_url, model=judged) as bot:
        ts = await bot.ask(ADA, SALES, question(*dispatch, say=answer(HERS)))
        await bot.answered(SALES, ts)
        assert len(bot.api.requests) == 7
        stored = [node for node in bot.api.chains.responses.values() if node.kept]
        assert len(stored) == 6
        thread = f"{bot.ws.team_id}:{SALES}:{ts}"
        await erase_lines(configured(bot.ws, bot.api, redis_url), thread=thread)
        assert [node for node in bot.api.chains.responses.values() if node.kept] == []


async def test_of_a_workspace_nothing_is_left(redis_url):
    """For one that took the bot out; another's on the same Redis stays."""
    async with deployed(won_over, redis_url) as bot:
        await used_by(bot, ADA, HERS, DIRECT)
        team = bot.ws.team_id
    async with open_stores(redis_url) as stores:
        other = asked(HIS).model_copy(update={"team": "T0OTHER001"})
        await stores.mailbox.submit(other, event_id="Ev1")
        await stores.erasure.workspace(team)
        after = await everything(redis_url)
        ours = {k: v for k, v in after.items() if k.startswith("bot:v1:")}
        left = [k for k, v in ours.items() if team in k or team.encode() in v or HERS.encode() in v]
        fenced = [key for key in left if ":lease:" not in key]  # leases fence, and expire
        assert fenced == [f"bot:v1:audit-head:{team}"]  # says that the entries were erased
        assert b'"who"' not in ours[fenced[0]]
        assert await stores.mailbox.head(other.thread_key) == other


async def test_a_run_under_way_is_stopped(redis_url):
    """Erased is also what is being worked on: it is taken back, and writes nothing afterwards."""
    never = asyncio.Event()

    async def waits(_request: ModelRequest) -> Reply:
        await never.wait()
        return finish(answer())

    async with deployed(waits, redis_url) as bot:
        ts = await bot.ask(ADA, SALES, question(say=answer(HERS)))
        await bot.ws.until(lambda: bot.api.requests)
        await erase_lines(configured(bot.ws, bot.api, redis_url), user=ADA)
        assert bot.own(SALES, ts) == []
    left = [k for k, v in (await everything(redis_url)).items() if ADA.encode() in v or ADA in k]
    assert left == []


async def test_a_run_that_waits_for_a_person_is_stopped(redis_url):
    """Its card goes as well: nobody can allow any more what somebody else was asked about."""
    async with deployed(won_over, redis_url) as bot:
        post = ("post_message", {"channel": "general", "text": HERS, "thread": None})
        ts = await bot.ask(ADA, SALES, question(post, say=answer(HERS)))
        await bot.ws.until(lambda: len(bot.own(SALES, ts)) == 2)
        await erase_lines(configured(bot.ws, bot.api, redis_url), user=ADA)
        [card] = bot.own(SALES, ts)
        assert "Not done: the question was deleted" in str(card["blocks"])
        assert HERS not in str(bot.ws.messages("C0GENERAL1"))


async def test_others_are_answered_first(redis_url):
    """A thread in which somebody else waits for an answer is left as it is, and said so."""
    async with open_stores(redis_url) as stores:
        mine = asked(HERS).model_copy(update={"user": ADA})
        his = asked(HIS).model_copy(update={"user": BEN})
        await stores.threads.join(mine.thread_key, ADA)
        await stores.mailbox.submit(his, event_id="Ev1")
        erased = await stores.erasure.person(ADA)
        assert erased.busy == {mine.thread_key}
        assert await stores.mailbox.head(his.thread_key) == his


async def test_ids_of_stored_responses_outlive_a_service_that_is_away(redis_url, monkeypatch):
    """(O1) While the model service deletes nothing, erase says which responses it still holds, and
    so does a second run; a running worker deletes them once the service does again."""
    monkeypatch.setattr(operator, "_DELETE_PAUSES", (0.1, 0.1))
    async with deployed(won_over, redis_url) as bot:
        ts = await bot.ask(ADA, SALES, question(say=answer(HERS)))
        await bot.answered(SALES, ts)
        stored = {key for key, node in bot.api.chains.responses.items() if node.kept}
        away = configured(bot.ws, bot.api, redis_url, openai_base_url="http://127.0.0.1:9/v1")
        first, second = [await erase_lines(away, user=ADA) for _ in range(2)]
        for lines in (first, second):
            [held] = [line for line in lines if line.startswith("!")]
            assert stored
            assert all(each in held for each in stored)
        assert second[0].startswith("Nothing is stored")
        async with open_stores(redis_url) as stores:
            deleter = response_deleter(configured(bot.ws, bot.api, redis_url), stores)
            async with alongside(replace(deleter, every=0.01).run(), name="deleter"):
                await bot.ws.until(
                    lambda: not any(node.kept for node in bot.api.chains.responses.values())
                )
            lines = await erase_lines(configured(bot.ws, bot.api, redis_url), user=ADA)
        assert not any(line.startswith("!") for line in lines)


@pytest.mark.timeout(120)
async def test_an_erase_that_is_killed_is_finished_by_the_next(redis_url, tmp_path):
    """(O1) Killed -9 in any of its windows, running `bot erase` again leaves nothing, here and at the
    model service, and says so with its exit code."""
    orders, log = tmp_path / "orders", tmp_path / "log"
    orders.mkdir()
    async with deployed(won_over, redis_url) as bot:
        settings = environment(bot.ws, bot.api, tmp_path, redis_url=redis_url)

        async def erased(**more: str) -> int:
            return await start(
                *("erase", "--user", ADA),
                environment={"PATH": os.environ["PATH"], **settings, **more},
                folder=tmp_path,
                out=log,
                err=log,
            ).wait()

        for place in (each for each, windows in failpoints.FAILPOINTS.items() if 23 in windows):
            ts = await bot.ask(ADA, SALES, question(say=answer(HERS)))
            await bot.answered(SALES, ts)
            (orders / place).write_text("kill")
            assert await erased(BOT_FAILPOINTS=str(orders)) == -signal.SIGKILL, place
            assert await erased() == 0, log.read_text()
            assert not any(node.kept for node in bot.api.chains.responses.values()), place
            assert traces(await everything(redis_url), ADA, HERS) == [], place


async def test_a_busy_thread_is_said_to_be_kept_or_waited_for(redis_url, monkeypatch):
    """(O7) While others are answered there, a line says that nothing was erased; with `wait` the
    thread is erased as soon as they are."""
    monkeypatch.setattr(erasure, "_WAIT_SECONDS", 1.0)
    asked_now, go_on = asyncio.Event(), asyncio.Event()

    async def waits(_request: ModelRequest) -> Reply:
        asked_now.set()
        await go_on.wait()
        return finish(answer(HIS))

    async with deployed(waits, redis_url) as bot:
        settings = configured(bot.ws, bot.api, redis_url)
        ts = await bot.ask(BEN, SALES, "How many?")
        await asked_now.wait()
        thread = f"{bot.ws.team_id}:{SALES}:{ts}"
        async with open_stores(redis_url) as stores:
            await stores.threads.join(thread, ADA)
        lines = await erase_lines(settings, user=ADA)
        assert [thread in line for line in lines if line.startswith("!")] == [True]
        erasing = asyncio.create_task(erase_lines(settings, user=ADA, wait=30))
        await asyncio.sleep(0.1)
        go_on.set()
        assert not any(line.startswith("!") for line in await erasing)
    assert traces(await everything(redis_url), ADA, HIS) == []


async def test_erased_words_leave_the_file_of_our_own_redis(tmp_path):
    """(O5) The append-only file holds them no more once `erase` returns."""
    settings = Settings(bot_data_dir=tmp_path)
    folder = tmp_path / "redis"

    def holds() -> bool:
        files = [each for each in folder.rglob("*") if each.is_file()]
        return any(HERS.encode() in each.read_bytes() for each in files)

    async with embedded_redis(folder) as url, open_stores(url) as stores:
        mine = asked(HERS).model_copy(update={"user": ADA})
        await stores.threads.join(mine.thread_key, ADA)
        await stores.mailbox.submit(mine, event_id="Ev1")
        await stores.mailbox.pop(mine.thread_key, mine.id)
        await stores.redis.call("WAITAOF", 1, 0, 2000)
        assert holds()
        lines = await erase_lines(settings, user=ADA)
        assert not holds()
    assert [line[:6] for line in lines] == ["Erased"]


async def test_a_thread_leaves_no_budget_key(stores, redis):
    """O13: what a thread spent, may spend and holds has its key behind the name of the budget."""
    thread = Account(budget=Budget.THREAD, period="", holder="T1:D1:1.0")
    others = thread.model_copy(update={"holder": "T1:D1:2.0"})
    for account in (thread, others):
        await stores.budgets.settle((account,), Spent(tokens=1), f"call_{account.holder[-3:]}")
    await stores.erasure.thread(thread.holder)
    left = await redis.keys("*")
    assert [key for key in left if thread.holder in key] == []
    assert f"bot:v1:spent:thread:{others.holder}" in left, left


async def test_leases_that_a_killed_erase_left_go_with_the_next(stores, redis):
    """O13: the channel of a direct message names its person, also where only a lease is left of a
    thread. A thread whose question waits keeps its lease."""
    request = asked(thread="2.0", user="U1").model_copy(update={"channel": "D1"})
    await redis.sadd("bot:v1:participants:T1:D1", "U1")
    await stores.leases.take("T1:D1:1.0")
    await stores.leases.take("T1:D2:1.0")
    await stores.mailbox.submit(request, event_id="Ev1")
    await stores.leases.take(request.thread_key)
    await stores.erasure.person("U1")
    left = set(await redis.keys("*:lease:*"))
    assert left == {"bot:v1:lease:T1:D2:1.0", f"bot:v1:lease:{request.thread_key}"}


async def test_what_people_made_for_later_outlasts_the_retention_of_settings(redis_url, redis):
    """O15: schedules and messages for later expire after the latest of them, in whatever order they
    came and moved, also with a retention of a day."""
    year, day = 366 * 86_400, 86_400
    async with open_stores(redis_url, Retention(settings_days=1)) as stores:
        later = Schedule(
            team="T1", channel="C1", user="U1", text="x", thread="1.0", cron="0 9 1 1 *",
            next_at=int(time.time()) + year,
        )  # fmt: skip
        soon = later.model_copy(update={"id": "sch_soon", "next_at": int(time.time()) + 60})
        for schedule in (later, soon):
            assert await stores.schedules.add(schedule, most=10)
        await stores.schedules.move(soon.model_copy(update={"next_at": int(time.time()) + day}))
        await stores.schedules.ended("T1", later.id, "run_1", failed=True)
        message = ScheduledMessage(
            team="T1", user="U1", channel="C1", text="x", post_at=int(time.time()) + 100 * day
        )
        for each in (message, message.model_copy(update={"id": "m2", "post_at": 1})):
            await ScheduledMessageStore.of(stores).save(each)
    terms = {key: await redis.ttl(key) for key in await redis.keys("*schedule*")}
    assert len(terms) == 4
    assert min(terms.values()) > 100 * day
    assert min(term for key, term in terms.items() if "messages" not in key) > year


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("SET", ()),
        ("HSET", ("1",)),
        ("SADD", ()),
        ("ZADD", (1,)),
        ("RPUSH", ()),
        ("XADD", ("*", "entry")),
    ],
)
async def test_a_person_is_erased_from_every_kind_of_value_of_a_feature(
    redis_url: str, command: str, more: tuple[object, ...]
) -> None:
    """docs/features.md: if their id is in an entry. What others said stays."""
    async with open_stores(redis_url) as stores:
        redis = stores.redis
        keys = [redis.key("house-style", "T1", name) for name in ("log", "other")]
        for key, person in zip(keys, (ADA, BEN), strict=True):
            await redis.call(command, key, *more, f'{{"user":"{person}","text":"private"}}')
            await redis.call("EXPIRE", key, 60)
        await stores.erasure.person(ADA)
        first, second = keys
        length = await redis.call("XLEN", first) if command == "XADD" else 0
        assert command == "XADD" or not await redis.call("EXISTS", first)
        assert not length
        assert await redis.call("EXISTS", second)
