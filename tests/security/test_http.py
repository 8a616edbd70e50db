"""Somebody on the network, against the address that Slack sends events to (reliability 11)."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from contextlib import suppress

import aiohttp
import pytest
from redis.asyncio import Redis
from slack_sdk.signature import SignatureVerifier

from bot.ops.doctor.redis import examine_refused
from bot.slack.edge import http as events
from bot.slack.edge.http import refusal_of
from bot.telemetry.log_privacy import shown
from tests.operators.test_many_workspaces import place
from tests.security.test_forged import over_http, still_answers
from tests.support.deployment import configured

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


def signed(secret: str, body: bytes, *, ahead: int = 0) -> dict[str, str]:
    """Headers as Slack sends them; `ahead` is in seconds."""
    when = str(int(time.time()) + ahead)
    signature = SignatureVerifier(secret).generate_signature(timestamp=when, body=body)
    return {"X-Slack-Request-Timestamp": when, "X-Slack-Signature": signature or ""}


async def test_refused_requests_leave_a_trace(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R5, reliability 24: counted by reason; one line a minute tells a wrong secret from a wrong
    clock, and doctor tells it later."""
    async with over_http(redis_url) as (bot, url), aiohttp.ClientSession() as session:
        secret, body = bot.ws.signing_secret, b"{}"
        for headers in (
            *(signed("another", body) for _ in range(5)),
            *(signed(secret, body, ahead=-3_600) for _ in range(3)),
            signed("another", body, ahead=9_000),
            *({} for _ in range(2)),
        ):
            async with session.post(url, data=body, headers=headers) as response:
                assert response.status == 401
        figures = await (await session.get(url.replace("/slack/events", "/metrics"))).text()
        settings = configured(bot.ws, bot.api, redis_url, slack_app_token=None)
        found = {each.text: each for each in await examine_refused(settings)}
        await still_answers(bot)
    lines = [r.msg % tuple(map(shown, r.args)) for r in caplog.records if r.args]  # as logs show it
    said = [each for each in lines if each.startswith("Refused")]
    [secrets, clocks, strangers] = said  # one of each reason, however many there are
    assert "SLACK_SIGNING_SECRET" in secrets
    assert re.search(r"360\d s ahead of", clocks)
    assert "no signature" in strangers
    for reason, count in (("signature", 6), ("age", 3), ("missing headers", 2)):
        assert f'bot_slack_requests_refused_total{{reason="{reason}"}} {count}.0' in figures
    assert len(found) == 3
    assert any("3600 s ahead of" in each for each in found)


def test_a_wrong_clock_is_told_from_a_wrong_secret() -> None:
    """R5: the signature is checked whatever its age, and never believed beyond five minutes."""
    body = b'{"type": "event_callback"}'
    for ahead, reason in ((0, None), (-290, None), (290, None), (-310, "age"), (310, "age")):
        refused = refusal_of(body, signed("ours", body, ahead=ahead), "ours")
        assert (refused.reason if refused else None) == reason
    assert "10 s" not in str(refusal_of(body, signed("other", body, ahead=-10), "ours"))
    both = refusal_of(body, signed("other", body, ahead=4_000), "ours")
    assert "SLACK_SIGNING_SECRET" in str(both)
    assert "4000 s off" in str(both)
    late = refusal_of(body, signed("ours", body, ahead=400), "ours")
    assert "400 s behind" in str(late)
