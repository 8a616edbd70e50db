"""A backup brings back what must not be lost, and does nothing a second time by itself."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from redis.asyncio import Redis

from bot.app import workspace_intake
from bot.app.process import bot
from bot.cli.backup import back_up, put_back, stdin_as_file
from bot.cli.operator import audit_report, open_stored
from bot.core.audit import AuditEntry, audit_keys
from bot.core.audit_kinds import AuditKind
from bot.core.background import alongside
from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.core.schedule import Schedule
from bot.dev.model import ResponsesServer, held
from bot.dev.workspace import ADA, Workspace
from bot.ops.backup import making
from bot.ops.backup.archive import Header, Sealing, new_archive, read_archive, read_header
from bot.ops.backup.restoring import check_backup, restore_backup
from bot.ops.backup.values import Item, read_keys, write_items
from bot.runs.policy.access import Policy
from bot.runs.queue.engine import EngineOptions
from bot.settings import Settings
from bot.slack.intake.catch_up import CatchUp
from bot.slack.settings import CatchUpSettings
from bot.slack.ui.buttons import APPROVE, DENY
from bot.store import Stores, data_format, open_stores
from bot.store.connection import Connection, connect
from bot.store.families import Families
from tests.faults.test_approvals import cards, posted, posts
from tests.support.commands import start
from tests.support.deployment import Deployment, configured
from tests.support.redis import asked
from tests.support.redis_process import RedisProcess, redis_process

SALES = "C0SALES001"
KEYS = SecretStr(Fernet.generate_key().decode())


@asynccontextmanager
async def workspace(redis: RedisProcess) -> AsyncGenerator[tuple[Deployment, Settings]]:
    async with Workspace.open() as ws, ResponsesServer.open(brain=posts) as api:
        yield (
            Deployment(ws, api),
            configured(
                ws, api, redis.url, bot_encryption_keys=KEYS, engine=EngineOptions(sweep=1.0)
            ),
        )


async def test_what_waited_is_asked_for_again_and_nothing_happens_twice(tmp_path: Path) -> None:
    """The approval that the backup holds was used after it: the call was made, and everything was lost
    before the answer. After the restore a person is asked about it once more, and told why; without
    their word nothing is posted again."""
    async with redis_process(tmp_path) as redis, workspace(redis) as (at, settings):
        go = asyncio.Event()
        at.api.brain = lambda request: held(posts(request), go if posted(at) else ready)
        (ready := asyncio.Event()).set()
        async with bot(settings.model_copy(update={"engine": EngineOptions(grace=0.0)})):
            thread = await at.ask(ADA, SALES, "Post it!")
            [card] = await at.ws.until(lambda: cards(at, thread), 20)
            await back_up(settings, tmp_path / "backup", with_files=False)
            await at.ws.click(ADA, SALES, str(card["ts"]), APPROVE)
            await at.ws.until(lambda: posted(at), 20)
        go.set()
        with pytest.raises(ConfigurationError, match="--replace"):
            await put_back(settings, tmp_path / "backup", replace=False)
        await no_worker(redis)
        lines = await put_back(settings, tmp_path / "backup", replace=True)
        assert "1 approval will be asked for again." in lines
        async with bot(settings):
            await at.ws.until(lambda: "restored from a backup" in str(cards(at, thread)), 20)
            [again] = cards(at, thread)
            assert DENY in str(again["blocks"])
            await at.ws.click(ADA, SALES, str(again["ts"]), DENY)
            await at.answered(SALES, thread)
        assert posted(at) == 1


async def no_worker(redis: RedisProcess) -> None:
    """As if a minute had passed since the last one was heard of."""
    async with Redis.from_url(redis.url) as client:
        await client.delete("bot:engine:workers")


async def test_a_schedule_goes_on_with_its_next_time(tmp_path: Path) -> None:
    """What was due between the backup and the restore is named and not asked; the rest is kept. The
    audit log tells of each once it is done."""
    (tmp_path / "other").mkdir()
    async with (
        redis_process(tmp_path) as redis,
        redis_process(tmp_path / "other") as other,
        workspace(redis) as (_, settings),
        open_stores(redis.url) as before,
        open_stores(other.url) as after,
    ):
        soon = {"team": "T1", "channel": "C1", "thread": "1.0", "user": "UADA", "next_at": 1_000}
        weekly = Schedule(text="Sales?", cron="0 9 * * MON", **soon)
        once = Schedule(text="Remind me", **soon)
        for each in (weekly, once):
            await before.schedules.add(each, most=10)
        await back_up(settings, tmp_path / "backup", with_files=False)
        elsewhere = settings.model_copy(update={"redis_url": other.url})
        lines = await put_back(elsewhere, tmp_path / "backup", replace=False)
        assert len([line for line in lines if "its time has passed" in line]) == 2
        [kept] = await after.schedules.of_all("T1")
        assert kept.id == weekly.id
        assert kept.next_at > time.time()
        with pytest.raises(ConfigurationError, match="exists already"):
            await back_up(settings, tmp_path / "backup", with_files=False)
        assert await noted(before) == ["backed up"]  # C8: not what was refused
        assert await noted(after) == ["restored a backup"]


async def noted(stores: Stores) -> list[str]:
    entries = [each async for each in stores.audit.read("operator")]
    return [each.entry.what.split(" of ")[0] for each in entries if each.entry]


def test_a_backup_of_others_or_a_damaged_one_is_refused_before_anything_is_written(
    tmp_path: Path,
) -> None:
    """Each line is sealed, has its number, and belongs to one backup."""
    sealing = Sealing(Fernet.generate_key().decode())
    pieces = [[{"key": "bot:v1:a"}], [{"key": "bot:v1:b"}]]
    good, other = tmp_path / "good", tmp_path / "other"
    write_archive(good, sealing, pieces)
    write_archive(other, sealing, pieces)
    assert good.stat().st_mode & 0o077 == 0
    assert list(read_archive(good, sealing)) == pieces
    lines, others = good.read_bytes().splitlines(True), other.read_bytes().splitlines(True)
    other_byte = b"B" if lines[1][40:41] == b"A" else b"A"
    damaged = {
        "cut": lines[:-1],
        "a piece is missing": [lines[0], lines[2], lines[3]],
        "in another order": [lines[0], lines[2], lines[1], lines[3]],
        "a piece of another backup": [lines[0], others[1], *lines[2:]],
        "a changed byte": [lines[0], lines[1][:40] + other_byte + lines[1][41:], *lines[2:]],
        "more than its end": [*lines, lines[1]],
        "not sealed": [lines[0].replace(b"true", b"false"), *lines[1:]],
    }
    for name, content in damaged.items():
        path = tmp_path / "damaged"
        path.write_bytes(b"".join(content))
        assert is_refused(path, sealing), name
    with pytest.raises(ConfigurationError, match=f"^The backup {path} is damaged"):
        check_backup(path, sealing, Families(), unsealed=True)
    with pytest.raises(ConfigurationError, match="other BOT_ENCRYPTION_KEYS"):
        list(read_archive(good, Sealing(Fernet.generate_key().decode())))
    with pytest.raises(ConfigurationError, match="set the BOT_ENCRYPTION_KEYS"):
        list(read_archive(good, Sealing("")))
    with pytest.raises(ConfigurationError, match="exists already"):
        write_archive(good, sealing, pieces)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ConfigurationError, match="no backup"):
        read_header(tmp_path / "text")


def write_archive(path: Path, sealing: Sealing, pieces: list[list[Item]]) -> Header:
    with new_archive(path, sealing) as archive:
        for items in pieces:
            archive.add(items)
    return archive.header


def is_refused(path: Path, sealing: Sealing) -> bool:
    try:
        list(read_archive(path, sealing))
    except ConfigurationError:
        return True
    return False


async def test_every_type_of_value_comes_back_as_it_was(redis_url: str) -> None:
    """Strings that are no text, lists and streams in their order, and how long each key lives."""
    async with connect(redis_url) as redis, Redis.from_url(redis_url) as client:
        await client.set("bot:v1:t:string", b"\xff\x00", ex=100)
        await client.hset("bot:v1:t:hash", mapping={"a": "1", "b": b"\xfe"})
        await client.rpush("bot:v1:t:list", *range(20_000))
        await client.sadd("bot:v1:t:set", "x", "y")
        await client.zadd("bot:v1:t:zset", {"m": 1.5, "n": float("inf")})
        for number in range(3):
            await client.xadd("bot:v1:t:stream", {"n": number})
        keys = sorted([key.decode() async for key in client.scan_iter("bot:v1:t:*")])
        dumps = {key: await client.dump(key) for key in keys}
        items = json.loads(json.dumps(await read_keys(redis, keys, time.time())))
        await client.delete(*keys)
        await write_items(redis, items)
        again = await read_keys(redis, keys, time.time())
        assert [{**each, "until": None} for each in again] == [
            {**each, "until": None} for each in items
        ]
        assert len(dumps) == len(items) == 6
        assert 90 < await client.ttl("bot:v1:t:string") <= 100
        await client.delete(*keys)


async def test_a_backup_of_a_busy_bot_is_of_one_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit log of a backup that was made under load verifies, and reading it takes no reply that
    grows with it. (A bot of 100,000 keys could not be backed up: Redis has seconds for a reply.)"""
    monkeypatch.setattr(making, "_PAGE", 7)
    (tmp_path / "other").mkdir()
    async with (
        redis_process(tmp_path) as redis,
        redis_process(tmp_path / "other") as other,
        workspace(redis) as (_, settings),
        open_stores(redis.url, audit_keys=audit_keys(KEYS.get_secret_value())) as stores,
    ):

        async def write() -> None:
            while True:
                await stores.audit.append(
                    [AuditEntry(kind=AuditKind.ASKED, team="T1", who="UADA", what="x")]
                )

        await stores.audit.append(
            [
                AuditEntry(kind=AuditKind.ASKED, team="T1", who="UADA", what=f"{n}")
                for n in range(50)
            ]
        )
        await fill(redis.url, 500)
        async with alongside(write(), name="load"):
            await back_up(settings, tmp_path / "backup", with_files=False)
        elsewhere = settings.model_copy(update={"redis_url": other.url})
        await put_back(elsewhere, tmp_path / "backup", replace=False)
        report = await audit_report(elsewhere)
        assert report.problems == []
        assert len([line for line in report.lines if " asked " in line]) >= 50


async def test_a_question_that_comes_during_a_backup_is_in_it_whole_or_not_at_all(
    tmp_path: Path, redis_url: str, stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its keys are newer than the list of keys that the backup began with. One that is restored with
    its place in line counts as asked, and is not found in Slack's history once more."""
    listed = making._keys

    async def then_asked(redis: Connection, prefix: str) -> list[str]:
        keys = await listed(redis, prefix)
        await stores.mailbox.submit(asked(), event_id="E1")
        return keys

    await stores.redis.call("SET", "bot:v1:claim:x", "1", "EX", 100)
    with monkeypatch.context() as during:
        during.setattr(making, "_keys", then_asked)
        await making.make_backup(
            stores.redis, tmp_path / "backup", Sealing(""), Families(), with_files=False
        )
    await restore_backup(stores, tmp_path / "backup", Sealing(""), Families(), replace=True)
    [thread] = await stores.mailbox.threads()
    [request] = await stores.mailbox.all_of(thread)
    assert request.restored
    assert await stores.mailbox.was_taken(request.team, request.channel, request.ts)


async def fill(url: str, count: int) -> None:
    async with Redis.from_url(url) as client:
        values = {f"bot:v1:claim:message:T1:C1:{n}": "x" * 1_000 for n in range(count)}
        await client.mset(values)


async def test_a_restore_that_breaks_off_lets_nothing_start(tmp_path: Path) -> None:
    """Half of what was kept would be answered as if it were all; a restore that is done again helps.
    A Redis that is full can be replaced."""
    async with (
        redis_process(tmp_path) as redis,
        workspace(redis) as (_, settings),
        Redis.from_url(redis.url) as client,
    ):
        empty = (await client.info("memory"))["used_memory"]
        async with bot(settings):
            await fill(redis.url, 3_000)
        await back_up(settings, tmp_path / "backup", with_files=False)
        await no_worker(redis)
        await client.config_set("maxmemory", empty + 2**20)
        with pytest.raises(StoreUnavailable, match="accepts no writes"):
            await put_back(settings, tmp_path / "backup", replace=True)
        await client.config_set("maxmemory", 0)
        assert 0 < await client.dbsize() < 3_000
        for starting in (bot(settings), open_stored(settings)):
            with pytest.raises(ConfigurationError, match="broke off"):
                async with starting:
                    pass
        await put_back(settings, tmp_path / "backup", replace=True)
        assert await client.dbsize() > 3_000
        async with bot(settings):
            pass


async def test_what_was_asked_after_the_backup_is_not_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack's history is searched after a restore: a question with an answer below it is left alone. One
    without an answer is answered, and may have been worked on: so its changes need an approval."""
    async with redis_process(tmp_path) as redis, workspace(redis) as (at, settings):
        monkeypatch.setattr(workspace_intake, "CatchUp", partial(CatchUp, pace=0.0))
        at.ws.delivery.retry_delays = ()
        free = settings.model_copy(
            update={"access": Policy(confirm="never"), "catch_up": CatchUpSettings()}
        )
        async with bot(free):
            before = await at.ask(ADA, SALES, "Post it first!")
            await at.answered(SALES, before)
            await searched(redis, at)
            await back_up(free, tmp_path / "backup", with_files=False)
            after = await at.ask(ADA, SALES, "Post it!")
            await at.answered(SALES, after)
            await at.ws.until(lambda: not at.ws.status(SALES, after).text)
        async with bot(free, work=False):
            waiting = await at.ask(ADA, SALES, "Post it too!")
            async with open_stores(redis.url) as stores:
                while not await stores.mailbox.threads():  # noqa: ASYNC110 - Redis tells nobody
                    await asyncio.sleep(0.02)
        assert posted(at) == 2
        await no_worker(redis)
        await put_back(free, tmp_path / "backup", replace=True)
        async with bot(free):
            await at.ws.until(lambda: "restored from a backup" in str(cards(at, waiting)), 20)
            await searched(redis, at)
        assert len(at.terminals(SALES, after)) == 1
        assert posted(at) == 2


async def searched(redis: RedisProcess, at: Deployment) -> None:
    """Wait until Slack's history has been searched."""
    key = f"bot:v1:catch-up:{at.ws.team_id}"
    async with asyncio.timeout(20), Redis.from_url(redis.url) as client:
        while not await client.exists(f"{key}:marks") or await client.exists(f"{key}:lock"):  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def test_a_backup_of_a_newer_version_is_refused_and_an_older_one_is_read(
    tmp_path: Path,
) -> None:
    """What it is refused for has no effect on what Redis holds."""
    async with redis_process(tmp_path) as redis, workspace(redis) as (_, settings):
        sealing = Sealing(KEYS.get_secret_value())
        for number in ("0", str(data_format.FORMAT + 1)):
            write_archive(tmp_path / number, sealing, [[stored("bot:v1:format", number)]])
        write_archive(tmp_path / "none", sealing, [[stored("bot:v1:caller", "x")]])
        with pytest.raises(ConfigurationError, match="made by a newer version"):
            await put_back(settings, tmp_path / str(data_format.FORMAT + 1), replace=False)
        async with Redis.from_url(redis.url, decode_responses=True) as client:
            assert await client.dbsize() == 0
            await put_back(settings, tmp_path / "none", replace=False)
            assert await client.get("bot:v1:format") is None
            await put_back(settings, tmp_path / "0", replace=True)
            assert await client.get("bot:v1:format") == "0"


def stored(key: str, value: str) -> Item:
    return {"key": key, "type": "string", "value": value, "until": None}


def names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


def test_a_disk_without_room_leaves_no_half_backup(tmp_path: Path) -> None:
    """One line, and nothing under the name; what another file of that name is stays untouched."""
    target, limits = tmp_path / "backup", resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
        with pytest.raises(ConfigurationError, match="cannot be written"):
            write_archive(target, Sealing(""), [[stored("bot:v1:a", token_hex(5_000))]])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names_in(tmp_path) == []


def test_large_backups_are_read_in_small_pieces(tmp_path: Path) -> None:
    """No piece is larger than what a reader takes in; no item is lost between two."""
    items = [stored(f"bot:v1:{n}", "x" * 2**20) for n in range(9)]
    write_archive(tmp_path / "backup", Sealing(""), [items, []])
    pieces = list(read_archive(tmp_path / "backup", Sealing("")))
    assert [len(each) for each in pieces] == [4, 4, 1]
    assert [item for piece in pieces for item in piece] == items


async def test_a_backup_goes_through_a_pipe(
    tmp_path: Path, redis_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from `docker compose exec` and `kubectl exec`: what the command says goes to stderr."""
    await redis.set("bot:v1:caller-state:x", "value", ex=100)
    out, err = tmp_path / "out", tmp_path / "err"
    environment = {"PATH": os.environ["PATH"], "REDIS_URL": redis_url}
    command = start(*("backup", "-"), environment=environment, folder=tmp_path, out=out, err=err)
    assert await command.wait() == 0
    assert "Wrote " in err.read_text()
    with out.open() as piped:
        monkeypatch.setattr(sys, "stdin", piped)
        with stdin_as_file() as path:
            [items] = [
                each for each in read_archive(path, Sealing("")) if "caller-state" in str(each)
            ]
    assert "value" in str(items)
