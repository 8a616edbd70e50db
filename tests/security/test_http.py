"""Somebody on the network, against the address that Slack sends events to (reliability 11)."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress

import aiohttp
import pytest
from redis.asyncio import Redis

from bot.slack import http as events
from tests.operators.test_many_workspaces import place
from tests.security.test_forged import over_http, still_answers

DEEP = "{" + '"a":[' * 50_000
UNSIGNED: dict[str, tuple[str, dict[str, str]]] = {
    "half of a JSON": ('{"team_id":', {}),
    "deeper than a parser goes": (DEEP, {}),
    "a time that is none": ("{}", {"x-slack-request-timestamp": "now", "x-slack-signature": "v0="}),
    "a signature of other letters": (
        "{}",
        {"x-slack-request-timestamp": "9999999999", "x-slack-signature": "v0=\u00e9"},
    ),
    "an unknown charset": ("{}", {"Content-Type": "application/json; charset=utf-99"}),
}


async def test_what_nobody_signed_is_refused_before_it_is_read(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Not one of them is a fault of ours with a trace in the log, which anybody could fill."""
    async with over_http(redis_url) as (bot, url), aiohttp.ClientSession() as session:
        for name, (body, headers) in UNSIGNED.items():
            async with session.post(url, data=body.encode(), headers=headers) as response:
                assert response.status == 401, name
        await still_answers(bot)
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR] == []


async def test_strangers_cannot_make_workspaces_of_an_organisation(
    redis_url: str, redis: Redis
) -> None:
    """Which workspace an event is about is believed when Slack says it. Else anybody could have
    one made up, kept in Redis, and looked after for ever."""
    async with place(redis_url) as at:
        await at.browser.install(at.first, organisation="E0ORG00001")
        made_up = {"team_id": "T0MADEUP01", "enterprise_id": "E0ORG00001"}
        body = json.dumps({"type": "event_callback", "event": {"type": "message"}} | made_up)
        url = f"{at.browser.base}/slack/events"
        async with at.browser.session.post(url, data=body) as response:
            assert response.status == 401
        assert await redis.keys("*T0MADEUP01*") == []
        assert "T0MADEUP01" not in str(await redis.smembers("bot:v1:installed"))
        await at.answered(at.first, await at.ask(at.first))


async def test_a_body_that_never_comes_whole_is_not_waited_for(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with over_http(redis_url) as (bot, url):
        host, port = url.split("/")[2].split(":")
        with monkeypatch.context() as patch:
            patch.setattr(events, "_BODY", 0.2)
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
            await writer.drain()
            head = await reader.readline()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        assert b" 408 " in head
        await still_answers(bot)
