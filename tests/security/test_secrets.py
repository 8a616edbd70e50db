"""Keys of ours stay with us: not in logs, Slack, Redis or what the terminal prints."""

from __future__ import annotations

import json
import logging
import os

import pytest
from redis.asyncio import Redis

from bot.dev.model import ResponsesServer, finish
from bot.dev.workspace import ADA
from bot.services.sql_databases import DatabaseConfig
from tests.security.model import question, won_over
from tests.support.commands import start
from tests.support.deployment import MODEL, deployed
from tests.support.runs import answer

SALES = "C0SALES001"


async def test_not_on_the_way_of_any_run(redis_url, caplog):
    """Also when calls fail: errors name no token, key or password."""
    caplog.set_level(logging.INFO)
    database = DatabaseConfig(url="postgresql+psycopg://bot:PASSWORD7@127.0.0.1:1/x")
    async with deployed(won_over, redis_url, databases={"x": database}) as bot:
        for method in ("chat.postMessage", "chat.update"):  # whichever the answer takes
            bot.ws.faults.fail(method, 500, times=1)
        bot.api.faults.fail("server_error", times=1)
        asked = question(
            ("query_database", {"database": "x", "sql": "SELECT 1", "limit": None}),
            say=answer("$output"),
        )
        ts = await bot.ask(ADA, SALES, asked)
        await bot.answered(SALES, ts, seconds=30)
        secrets = [bot.ws.bot_token, bot.ws.app_token, bot.ws.signing_secret, bot.api.api_key]
        async with Redis.from_url(redis_url) as redis:
            kept = b"".join([await redis.dump(key) or b"" async for key in redis.scan_iter()])
        shown = caplog.text + str([e.args for e in bot.ws.effects]) + str(bot.api.requests[-1].body)
    for secret in [*secrets, "PASSWORD7"]:
        assert secret not in shown
        assert secret.encode() not in kept


@pytest.mark.parametrize("wrong", [False, True])
async def test_not_in_what_ask_prints(tmp_path, wrong):
    async with ResponsesServer.open(brain=lambda _: finish(answer("Two."))) as api:
        if wrong:
            api.faults.fail("wrong_key", times=5)
        env = {
            "PATH": os.environ["PATH"],
            "OPENAI_API_KEY": api.api_key,
            "OPENAI_BASE_URL": api.url,
            "OPENAI_MODEL": MODEL,
        }
        out, err = tmp_path / "out", tmp_path / "err"
        asking = ("ask", "--json", "--stream", "How many?")
        await start(*asking, environment=env, folder=tmp_path, out=out, err=err).wait()
    said = out.read_bytes()
    assert json.loads(said)["status"] == ("failed" if wrong else "success")
    assert api.api_key.encode() not in said + err.read_bytes()
