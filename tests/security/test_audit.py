"""The audit log says who did what and holds nobody's words; what was changed in it shows (15)."""

from __future__ import annotations

import json

from redis.asyncio import Redis

from bot.core.audit import AuditEntry, AuditKind
from bot.local.workspace import ADA, BEN
from bot.operating import audit_lines, erase_lines
from bot.store import open_stores
from tests.security.model import question, won_over
from tests.support.deployment import Deployment, configured, deployed
from tests.support.runs import answer

SALES = "C0SALES001"
WORDS = "WORDS-OF-ADA"


async def log_of(bot: Deployment, redis_url: str) -> list[str]:
    settings = configured(bot.ws, bot.api, redis_url)
    return await audit_lines(settings, user="", kind="", days=1, as_json=True)


async def test_what_a_run_did_is_on_record(redis_url):
    """Who asked where, each call with a hash of its arguments, the end and its cost; nothing else.
    When the person is erased nobody knows any more who it was, and the log is whole."""
    async with deployed(won_over, redis_url) as bot:
        calls = ("calculate", {"expression": "1+1"}), ("remember", {"text": WORDS})
        ts = await bot.ask(ADA, SALES, question(*calls, say=answer(WORDS)))
        await bot.answered(SALES, ts)
        lines = await log_of(bot, redis_url)
        await erase_lines(configured(bot.ws, bot.api, redis_url), user=ADA)
        after = await log_of(bot, redis_url)
    entries = [json.loads(line) for line in lines]
    assert [(each["kind"], each["what"]) for each in entries] == [
        ("asked", "mention"),
        ("called", "calculate"),
        ("called", "remember"),
        ("ended", "completed"),
    ]
    assert {(each["who"], each["channel"]) for each in entries} == {(ADA, SALES)}
    assert all(len(each["arguments"]) == 64 for each in entries[1:3])
    assert entries[3]["cost"] > 0
    assert WORDS not in str(lines)
    assert ADA not in str(after)
    assert [json.loads(line)["what"] for line in after] == [
        *(each["what"] for each in entries),
        "erased a person",
    ]


async def test_whatever_is_changed_or_taken_out_shows(redis_url):
    """Each entry is bound to the one before; several processes may write."""
    async with open_stores(redis_url) as one, open_stores(redis_url) as other:
        for number in range(6):
            stores = (one, other)[number % 2]
            entry = AuditEntry(
                kind=AuditKind.ADMINISTERED, team="T1", who=BEN, what=f"change {number}"
            )
            await stores.audit.append([entry, entry.model_copy(update={"what": "more"})])
        kept = [each async for each in one.audit.read("T1")]
        assert len(kept) == 12
        assert all(each.whole for each in kept)
        async with Redis.from_url(redis_url) as redis:
            key = "bot:v1:audit:T1"
            sixth = [name for name, _ in (await redis.xrange(key) or [])][5]
            await redis.xdel(key, str(sixth.decode()))  # type: ignore[union-attr]
        assert [each.whole async for each in one.audit.read("T1")].count(False) == 1


async def test_what_admins_change_is_on_record(redis_url):
    async with deployed(won_over, redis_url) as bot:
        await bot.ws.command(ADA, SALES, "/ask", "admin pause")
        await bot.ws.command(ADA, SALES, "/ask", "admin resume")
        lines = [json.loads(line) for line in await log_of(bot, redis_url)]
    assert [(each["kind"], each["who"], each["what"]) for each in lines] == [
        ("administered", ADA, "paused"),
        ("administered", ADA, "resumed"),
    ]
