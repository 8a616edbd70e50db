"""What has a good signature and not the shape that Slack documents (R13): one answer, one log line."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import logging
import random
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlencode

import aiohttp
import pytest

from bot.dev.model import finish
from bot.dev.workspace import ADA, BEN
from bot.slack.edge.http import MAX_BODY
from bot.slack.intake.press import ButtonPress
from tests.security.test_boundaries import press
from tests.security.test_forged import button, over_http, view
from tests.support.deployment import Deployment, deployed
from tests.support.mutated import ODD, mutated, places
from tests.support.runs import answer

SALES = "C0SALES001"
FORM = "application/x-www-form-urlencoded"
DEEP = '{"type":"event_callback","event":' + '{"a":' * 50_000

JUNK: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "application/json"),
    "no JSON": (b"{half", "application/json"),
    "a list": (b"[]", "application/json"),
    "a number": (b"7", "application/json"),
    "null": (b"null", "application/json"),
    "a string": (b'"x"', "application/json"),
    "deep": (DEEP.encode(), "application/json"),
    "not UTF-8": (b'{"type": "\xff\xfe"}', "application/json"),
    "an unknown charset": (b"{}", "application/json; charset=utf-99"),
    "an empty object": (b"{}", "application/json"),
    "a form without fields": (b"a=b", FORM),
    "a form with half a payload": (b"payload=%7Bhalf", FORM),
    "a form with a list for a payload": (b"payload=%5B%5D", FORM),
    "an event without anything": (b'{"type": "event_callback"}', "application/json"),
    "a picture": (b"\x89PNG\r\n", "image/png"),
    "a multipart form": (b"--x\r\n\r\n--x--", "multipart/form-data; boundary=x"),
    "a command without fields": (b"command=%2Fask", FORM),
    "an unknown type": (b'{"type": "thought", "team_id": "T0LOCAL001"}', "application/json"),
    "a type that is none": (b'{"type": 7}', "application/json"),
}


Send = Callable[[bytes, str], Any]


@asynccontextmanager
async def door(redis_url: str) -> AsyncGenerator[tuple[Deployment, Send]]:
    """A bot that takes events over HTTP, and a way to send it signed bytes."""
    async with over_http(redis_url) as (bot, url), aiohttp.ClientSession() as session:

        async def send(body: bytes, content_type: str) -> int:
            when = str(int(time.time()))
            signed = b"v0:%s:%s" % (when.encode(), body)
            digest = hmac.new(bot.ws.signing_secret.encode(), signed, hashlib.sha256).hexdigest()
            headers = {
                "Content-Type": content_type,
                "X-Slack-Request-Timestamp": when,
                "X-Slack-Signature": f"v0={digest}",
            }
            async with session.post(url, data=io.BytesIO(body), headers=headers) as response:
                return response.status

        yield bot, send


async def goes_on(bot: Deployment) -> None:
    """Others are answered as ever."""
    ts = await bot.ask(BEN, SALES, "How many are still there?")
    await bot.answered(SALES, ts, seconds=30)


def faults(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() + str(r.exc_info or "") for r in caplog.records
            if r.levelno >= logging.ERROR or r.exc_info]  # fmt: skip


def as_sent(payload: Any) -> tuple[bytes, str]:
    """As Slack sends it: events are JSON, interactions and commands are forms."""
    if isinstance(payload, dict) and "command" in payload:
        fields = {key: each for key, each in payload.items() if isinstance(each, str)}
        return urlencode(fields, errors="replace").encode(), FORM
    if isinstance(payload, dict) and ("event" in payload or "event_id" in payload):
        return json.dumps(payload).encode(), "application/json"
    return urlencode({"payload": json.dumps(payload)}).encode(), FORM


async def test_signed_junk_is_one_line_in_the_log(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R13: 400 or 200, no traceback, and nothing else is disturbed."""
    async with door(redis_url) as (bot, send):
        for name, (body, content_type) in JUNK.items():
            before = len(caplog.records)
            assert await send(body, content_type) in (200, 400), name
            said = [r for r in caplog.records[before:] if r.name.startswith("bot.slack")]
            assert len(said) <= 1, name
        assert await send(b"{" + b" " * MAX_BODY + b"}", "application/json") == 413
        assert faults(caplog) == []
        await goes_on(bot)


async def everything_real(bot: Deployment) -> list[dict[str, Any]]:
    """What Slack sends, by doing it: at least one of each that a listener takes."""
    sent: list[dict[str, Any]] = []
    transport, real = bot.ws.delivery.transport, bot.ws.delivery.transport.send

    async def send(kind: str, payload: dict[str, Any], **more: Any) -> Any:
        sent.append(payload)
        return await real(kind, payload, **more)

    transport.send = send  # type: ignore[method-assign]
    root = await bot.ask(ADA, SALES, "How many?", files=[("a.csv", b"a,b\n1,2")])
    [said] = await bot.answered(SALES, root)
    await bot.ws.edit(ADA, SALES, root, f"<@{bot.ws.bot_user_id}> How few?")
    await bot.ws.react(ADA, SALES, said["ts"], "x")
    await bot.ws.open_home(ADA)
    await bot.ws.open_home(ADA, "messages")
    await bot.ws.look_at(ADA, SALES)
    await bot.ws.stop_session(ADA, SALES, root)
    await bot.ws.command(ADA, SALES, "/ask", "How many sales?")
    await bot.ws.shortcut(ADA, "ask_about_message", channel=SALES, ts=root)
    about = json.dumps({"channel": SALES, "thread": root, "quoted": "", "files": []})
    base = {key: each for key, each in press(bot, ADA, SALES, root, {}).items()
            if key not in ("actions", "container", "channel", "message")}  # fmt: skip
    sent.append({**base, "type": "view_submission", "view": view(private_metadata=about)})
    for action in ("stop_run", "retry_request", "follow_up_0", "feedback", "approve_call",
                   "share_answer", "forget_memory", "change_settings", "admin_resume",
                   "raise_budget_2", "channel_reset", "admin_channel"):  # fmt: skip
        sent.append(press(bot, ADA, SALES, root, button(action, "x:y:z")))
    gone = await bot.ask(ADA, SALES, "Never mind?")
    await bot.ws.delete(ADA, SALES, gone)
    await bot.ws.until(lambda: not bot.ws.delivery.under_way)
    transport.send = real  # type: ignore[method-assign]
    return list({_kind(each): each for each in sent}.values())


def _kind(payload: dict[str, Any]) -> str:
    event = payload.get("event") or {}
    acted = (payload.get("actions") or [{}])[0].get("action_id")
    called = payload.get("command"), payload.get("callback_id")
    return str((payload.get("type"), event.get("type"), event.get("subtype"), acted, *called))


async def test_real_payloads_with_something_else_in_one_place(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R13, for every listener: each of them may get any value anywhere; 400 or 200, and no trace."""
    chance = random.Random(1)
    async with door(redis_url) as (bot, send):
        real = await everything_real(bot)
        assert len(real) >= 20
        caplog.clear()
        for payload in real:
            for path in chance.sample(found := places(payload), min(len(found), 24)):
                odd = chance.choice(ODD)
                status = await send(*as_sent(mutated(payload, path, odd)))
                where = (_kind(payload), path, odd)
                assert status in (200, 400), where
                assert faults(caplog) == [], where
        await goes_on(bot)


async def test_junk_over_socket_mode_is_acknowledged(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """R13: Slack would send it again and again otherwise."""
    chance = random.Random(3)
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        mention = {"type": "app_mention", "user": ADA, "ts": "1.5", "channel": SALES, "text": "x?"}
        event = {"type": "event_callback", "event_id": "E1", "team_id": bot.ws.team_id}
        pressed = press(bot, ADA, SALES, "1.5", {"type": "button", "action_id": "stop_run"})
        transport = bot.ws.delivery.transport
        for kind, payload in (
            ("events_api", {**event, "event": {**mention, "channel": 7}}),
            ("events_api", {**event, "event": {"type": "app_mention"}}),
            ("events_api", {**event, "event_id": None, "event": mention}),
            ("interactive", pressed),
            ("interactive", {**pressed, "actions": []}),
            ("interactive", {"type": "view_submission", "user": {"id": ADA}, "view": {}}),
            ("slash_commands", {"command": "/ask"}),
            *(("interactive", mutated(pressed, path, chance.choice(ODD)))
              for path in places(pressed)[1:]),
        ):  # fmt: skip
            await transport.send(kind, payload, within=3.0)
        assert faults(caplog) == []
        await goes_on(bot)


async def test_a_bug_of_ours_still_fails_loudly(
    redis_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R13: the door checks shapes; it hides no exception of a listener."""

    def broken(*_: object) -> ButtonPress:
        raise KeyError("ours")

    monkeypatch.setattr(ButtonPress, "of", broken)
    async with door(redis_url) as (bot, send):
        good = press(bot, ADA, SALES, "1.5", button("stop_run", f"T:{SALES}:1.5"))
        assert await send(*as_sent(good)) == 500
    assert any(r.exc_info for r in caplog.records if r.levelno >= logging.ERROR)
