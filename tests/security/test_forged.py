"""What does not come from Slack, or not as Slack sends it: no effect, and the bot goes on."""

from __future__ import annotations

import io
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest
from slack_sdk.signature import SignatureVerifier

from bot.dev.model import finish
from bot.dev.workspace import ADA, BEN, NotAnswered
from tests.security.test_boundaries import press
from tests.support.deployment import Deployment, deployed
from tests.support.ports import free_port
from tests.support.runs import answer

SALES, RANDOM = "C0SALES001", "C0RANDOM01"


def button(action: str, value: Any) -> dict[str, Any]:
    return {
        "type": "button",
        "action_id": action,
        "value": value,
        "text": {"type": "plain_text", "text": "x"},
    }


def view(**changes: Any) -> dict[str, Any]:
    state = {
        "question": {"question": {"type": "plain_text_input", "value": "x?"}},
        "where": {"where": {"selected_option": {"value": "thread"}}},
    }
    base = {"id": "V1", "type": "modal", "callback_id": "ask_about_message", "hash": "1"}
    about = {"channel": RANDOM, "thread": "1.5", "quoted": "", "files": []}
    return base | {"state": {"values": state}, "private_metadata": json.dumps(about)} | changes


PRESSES = {
    "stop of nowhere": button("stop_run", "T0LOCAL001:C0NOWHERE1:1.5"),
    "stop without a value": {"type": "button", "action_id": "stop_run"},
    "stop with a list": button("stop_run", ["x"]),
    "retry of nothing": button("retry_request", "req_unknown"),
    "retry of a key": button("retry_request", "../../bot:v1:*"),
    "follow-up that is no JSON": button("follow_up_0", "{half"),
    "follow-up of null": button("follow_up_0", None),
    "follow-up elsewhere": button("follow_up_0", json.dumps({"question": "", "thread": "9.9"})),
    "feedback of nothing": button("feedback", "x\nERROR forged line"),
    "unknown": button("transfer_money", "1"),
}
VIEWS = {
    "channel the bot is not in": view(),
    "metadata of nobody": view(private_metadata="{half"),
    "no state": view(state={}),
    "no question": view(state={"values": {"where": {"where": {}}}}),
    "unknown": view(callback_id="transfer_money"),
}


async def still_answers(bot: Deployment) -> None:
    ts = await bot.ask(ADA, SALES, "How many?")
    await bot.answered(SALES, ts)
    assert len(bot.api.requests) == 1


async def test_presses_of_what_nobody_was_shown(redis_url, caplog):
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        bot.ws.delivery.ack_timeout = 1.0
        for forged in PRESSES.values():
            await sent(bot, press(bot, ADA, SALES, "1.5", forged))
        for user in ("U0NOBODY01", "USLACKBOT", bot.ws.bot_user_id):
            follow = button("follow_up_0", json.dumps({"question": "x?", "thread": "1.5"}))
            await sent(bot, press(bot, user, SALES, "1.5", follow))
        posted = [e for e in bot.ws.effects if e.ok and e.method == "chat.postMessage"]
        assert posted == []
        await still_answers(bot)
    assert not any(line.startswith("ERROR forged") for line in caplog.text.splitlines())


async def test_modals_that_nobody_opened(redis_url):
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        bot.ws.delivery.ack_timeout = 1.0
        for forged in VIEWS.values():
            payload = press(bot, ADA, SALES, "1.5", {}) | {
                "type": "view_submission",
                "view": forged,
            }
            del payload["actions"], payload["container"], payload["channel"], payload["message"]
            await sent(bot, payload)
        posted = [e for e in bot.ws.effects if e.ok and e.method == "chat.postMessage"]
        assert posted == []
        await still_answers(bot)


async def test_a_modal_submitted_twice_asks_once(redis_url):
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        about = json.dumps({"channel": SALES, "thread": "", "quoted": "", "files": []})
        root = (await bot.ws.say(ADA, SALES, "a message"))["ts"]
        form = view(private_metadata=about.replace('"thread": ""', f'"thread": "{root}"'))
        payload = press(bot, ADA, SALES, root, {}) | {"type": "view_submission", "view": form}
        for _ in range(3):
            await sent(bot, payload)
        await bot.answered(SALES, root)
        await still_answers_beside(bot)
        assert len(bot.terminals(SALES, root)) == 1


async def test_a_modal_brings_no_file_along_that_the_asker_may_not_see(redis_url):
    """S14: what a modal carries is not Slack's word; each file is checked when the form comes back."""
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        bot.ws.channels["C0FINANCE1"].members[:] = [BEN, bot.ws.bot_user_id]
        pay = await bot.ws.say(BEN, "C0FINANCE1", "pay", files=[("pay.csv", b"name,pay\nAda,1\n")])
        root = await bot.ws.say(BEN, SALES, "see", files=[("sales.csv", b"name,sales\nAda,1\n")])
        files = [
            {"id": each["id"], "name": each["name"], "media_type": "text/csv", "size": 9}
            for each in (*pay["files"], *root["files"])
        ]
        about = {"channel": SALES, "thread": root["ts"], "quoted": "", "files": files}
        form = view(private_metadata=json.dumps(about))
        await sent(
            bot, press(bot, ADA, SALES, root["ts"], {}) | {"type": "view_submission", "view": form}
        )
        await bot.answered(SALES, root["ts"])
        heard = json.dumps(bot.api.requests[0].body["input"])
        assert "sales.csv" in heard
        assert "pay.csv" not in heard


async def still_answers_beside(bot: Deployment) -> None:
    ts = await bot.ask(ADA, SALES, "How many?")
    await bot.answered(SALES, ts)


async def sent(bot: Deployment, payload: dict[str, Any]) -> None:
    """Sent as an interaction; whether it is acknowledged does not matter."""
    with suppress(NotAnswered):
        await bot.ws.delivery.ask("interactive", payload)


@asynccontextmanager
async def over_http(redis_url: str) -> AsyncGenerator[tuple[Deployment, str]]:
    """A bot that takes events over HTTP, and where."""
    port = free_port()
    async with deployed(
        lambda _: finish(answer("Two.")), redis_url, slack_app_token=None, port=port
    ) as bot:
        url = f"http://127.0.0.1:{port}/slack/events"
        await bot.ws.listen_over_http(url)
        yield bot, url


AGES = {"unsigned": None, "wrong secret": 0, "old": -3600, "from the future": 3600}


@pytest.mark.parametrize("age", AGES)
async def test_events_that_slack_did_not_sign(redis_url, age):
    """No signature, another secret's, or a recording played back: refused, and nothing is done."""
    async with over_http(redis_url) as (bot, url):
        event = {"type": "app_mention", "user": ADA, "ts": "1.5", "channel": SALES, "text": "x?"}
        wrapped = {"type": "event_callback", "event_id": "E1", "team_id": bot.ws.team_id}
        body = json.dumps(wrapped | {"event": event, "api_app_id": bot.ws.app_id})
        secret = "another" if age == "wrong secret" else bot.ws.signing_secret
        when = str(int(time.time()) + (AGES[age] or 0))
        signature = SignatureVerifier(secret).generate_signature(timestamp=when, body=body)
        headers = {"Content-Type": "application/json"}
        if age != "unsigned":
            headers |= {"x-slack-signature": signature or "", "x-slack-request-timestamp": when}
        async with aiohttp.ClientSession() as session:
            async with session.post(url, data=body, headers=headers) as response:
                assert response.status == 401
            async with session.post(url, data=io.BytesIO(b"x" * 5_000_000)) as response:
                assert response.status in (401, 413)
        await still_answers(bot)
