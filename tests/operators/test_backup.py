"""A backup brings back what must not be lost, and does nothing a second time by itself."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from redis.asyncio import Redis

from bot.app.process import bot
from bot.cli.backup import back_up, put_back
from bot.core.errors import ConfigurationError
from bot.core.schedule import Schedule
from bot.dev.model import ResponsesServer
from bot.dev.workspace import ADA, Workspace
from bot.ops.backup.archive import Sealing, read_archive, read_header, write_archive
from bot.ops.backup.values import read_items, write_item
from bot.runs.queue.engine import EngineOptions
from bot.settings import Settings
from bot.slack.render.buttons import APPROVE, DENY
from bot.store import open_stores
from bot.store.connection import connect
from tests.faults.test_approvals import cards, posted, posts
from tests.support.deployment import Deployment, configured
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
    """The approval that the backup holds was used after it: the call was made. After the restore a
    person is asked about it once more, and told why; without their word nothing is posted again."""
    async with redis_process(tmp_path) as redis, workspace(redis) as (at, settings):
        async with bot(settings):
            thread = await at.ask(ADA, SALES, "Post it!")
            [card] = await at.ws.until(lambda: cards(at, thread), 20)
            await back_up(settings, tmp_path / "backup", with_files=False)
            await at.ws.click(ADA, SALES, str(card["ts"]), APPROVE)
            await at.answered(SALES, thread)
        assert posted(at) == 1
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
    """What was due between the backup and the restore is named and not asked; the rest is kept: here
    what the bot remembers and the audit log, which tells of both."""
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
        entries = [each async for each in after.audit.read("operator")]
        assert [each.entry.what.split(" of ")[0] for each in entries if each.entry] == [
            "backed up",
            "restored a backup",
        ]


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
    damaged = {
        "cut": lines[:-1],
        "a piece is missing": [lines[0], lines[2], lines[3]],
        "in another order": [lines[0], lines[2], lines[1], lines[3]],
        "a piece of another backup": [lines[0], others[1], *lines[2:]],
        "a changed byte": [lines[0], lines[1][:40] + b"A" + lines[1][41:], *lines[2:]],
        "more than its end": [*lines, lines[1]],
        "not sealed": [lines[0].replace(b"true", b"false"), *lines[1:]],
    }
    for name, content in damaged.items():
        path = tmp_path / "damaged"
        path.write_bytes(b"".join(content))
        assert is_refused(path, sealing), name
    with pytest.raises(ConfigurationError, match="other BOT_ENCRYPTION_KEYS"):
        list(read_archive(good, Sealing(Fernet.generate_key().decode())))
    with pytest.raises(ConfigurationError, match="set the BOT_ENCRYPTION_KEYS"):
        list(read_archive(good, Sealing("")))
    with pytest.raises(ConfigurationError, match="exists already"):
        write_archive(good, sealing, pieces)
    (tmp_path / "text").write_text("hello")
    with pytest.raises(ConfigurationError, match="no backup"):
        read_header(tmp_path / "text")


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
        items = json.loads(json.dumps(await read_items(redis, keys, time.time())))
        await client.delete(*keys)
        for item in items:
            assert await write_item(redis, item, time.time())
        again = await read_items(redis, keys, time.time())
        assert [{**each, "until": None} for each in again] == [
            {**each, "until": None} for each in items
        ]
        assert len(dumps) == len(items) == 6
        assert 90 < await client.ttl("bot:v1:t:string") <= 100
        expired = {**items[0], "until": time.time() - 1}
        assert not await write_item(redis, expired, time.time())
        await client.delete(*keys)
