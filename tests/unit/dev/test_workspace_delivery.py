"""Events reach the app as Slack sends them: with retries, over Socket Mode and signed HTTP."""

import json

import aiohttp
import pytest
from aiohttp import web
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

from bot.dev.workspace import ADA, BEN, EVE, NotAnswered

GENERAL, RANDOM, DM = "C0GENERAL1", "C0RANDOM01", "D0ADA00001"


async def test_a_mention_comes_twice_with_one_ts(ws, app):
    said = await ws.say(ADA, GENERAL, f"<@{ws.bot_user_id}> 1 < 2 & 3")
    payloads = [await app.next(), await app.next()]
    events = [p["event"] for p in payloads]
    assert [e["type"] for e in events] == ["app_mention", "message"]
    assert {e["ts"] for e in events} == {said["ts"]}
    assert payloads[0]["event_id"] != payloads[1]["event_id"]
    assert events[1]["channel_type"] == "channel"
    assert events[0]["text"] == f"<@{ws.bot_user_id}> 1 &lt; 2 &amp; 3"
    assert payloads[0]["authorizations"][0]["is_bot"]


async def test_a_direct_message_comes_once(ws, app):
    await ws.say(ADA, DM, f"<@{ws.bot_user_id}> hi")
    await ws.say(ADA, DM, "second")
    events = [(await app.next())["event"] for _ in range(2)]
    assert [(e["type"], e["channel_type"]) for e in events] == [("message", "im")] * 2


async def test_the_app_hears_only_channels_it_is_in(ws, app):
    await ws.say(ADA, RANDOM, f"<@{ws.bot_user_id}> hello?")
    hint = ws.messages(RANDOM, viewer=ADA)[-1]
    assert "is not in this channel" in hint["text"]
    await ws.say(ADA, GENERAL, "here")
    assert (await app.next())["event"]["channel"] == GENERAL
    await ws.invite(ADA, RANDOM, ws.bot_user_id)
    joined = (await app.next())["event"]
    assert (joined["type"], joined["user"]) == ("member_joined_channel", ws.bot_user_id)


async def test_edits_and_deletions_carry_what_was_before(ws, app):
    said = await ws.say(ADA, GENERAL, "one")
    await ws.edit(ADA, GENERAL, said["ts"], "two")
    await ws.delete(ADA, GENERAL, said["ts"])
    _, edited, deleted = [(await app.next())["event"] for _ in range(3)]
    assert edited["subtype"] == "message_changed"
    assert (edited["previous_message"]["text"], edited["message"]["text"]) == ("one", "two")
    assert edited["message"]["edited"]["user"] == ADA
    assert (deleted["subtype"], deleted["deleted_ts"]) == ("message_deleted", said["ts"])


async def test_the_apps_own_messages_come_back_with_its_bot_id(ws, client, app):
    await client.chat_postMessage(
        channel=GENERAL, text="mine", metadata={"event_type": "a", "event_payload": {}}
    )
    event = (await app.next())["event"]
    assert (event["bot_id"], event["user"]) == (ws.bot_id, ws.bot_user_id)


async def test_what_is_not_acknowledged_comes_again(ws, app):
    ws.delivery.ack_timeout = 0.05
    await ws.say(ADA, GENERAL, "x")
    first = await app.envelope()
    second = await app.envelope()
    assert (first["retry_attempt"], second["retry_attempt"]) == (0, 1)
    assert second["retry_reason"] == "timeout"
    assert first["payload"]["event_id"] == second["payload"]["event_id"]
    ws.clock.advance(60)
    third = await app.envelope()
    await app.ack(third)
    ws.clock.advance(300)
    await ws.say(ADA, GENERAL, "y")
    assert (await app.next())["event"]["text"] == "y"


async def test_after_three_retries_an_event_is_only_history(ws, client):
    ws.delivery.retry_delays = (0, 0, 0)
    await ws.say(ADA, GENERAL, "anybody?")
    await ws.until(lambda: len(ws.delivery.lost) == 1)
    history = await client.conversations_history(channel=GENERAL)
    assert [m["text"] for m in history["messages"]] == ["anybody?"]


async def test_an_event_lost_with_its_connection_comes_on_the_next(ws, app, connect):
    await ws.say(ADA, GENERAL, "x")
    await app.envelope()
    other = await connect()
    ws.faults.drop_sockets()
    third = await connect()
    ws.clock.advance(60)
    assert (await third.next())["event"]["text"] == "x"
    assert other.hello["num_connections"] == 2


async def test_each_event_goes_to_one_of_the_connections(ws, app, connect):
    other = await connect()
    await ws.say(ADA, GENERAL, "1")
    await ws.say(ADA, GENERAL, "2")
    texts = {(await a.next())["event"]["text"] for a in (app, other)}
    assert texts == {"1", "2"}


async def test_a_ticket_serves_once(ws, client, session):
    url = (await client.apps_connections_open(app_token=ws.app_token))["url"]
    async with session.ws_connect(url):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_an_eleventh_connection_is_turned_away(connect):
    for _ in range(10):
        await connect()
    assert (await connect()).hello["reason"] == "too_many_websockets"


async def test_refused_handshakes_are_refused(ws, connect):
    ws.faults.refuse_connections(1)
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await connect()
    assert (await connect()).hello["type"] == "hello"


async def test_a_refresh_announces_itself_then_closes(ws, app):
    ws.delivery.sockets.grace = 0.01
    await ws.refresh_sockets("warning")
    assert (await app.envelope())["reason"] == "warning"
    await ws.refresh_sockets()
    assert (await app.envelope())["reason"] == "refresh_requested"
    assert (await app.socket.receive()).type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)


async def test_slack_bolt_is_at_home_here(ws, client):
    """Bolt over Socket Mode answers, reconnects when asked to, and answers again."""
    app = AsyncApp(client=client)

    @app.event("app_mention")
    async def mentioned(event, say):
        await say(text=f"you said {event['text']}", thread_ts=event["ts"])

    @app.event("message")
    async def other():
        pass

    handler = AsyncSocketModeHandler(app, ws.app_token, web_client=client)
    await handler.connect_async()  # type: ignore[no-untyped-call]  # Bolt's
    try:
        said = await ws.say(ADA, GENERAL, f"<@{ws.bot_user_id}> a")
        await ws.until(lambda: len(ws.messages(GENERAL, said["ts"])) == 2)
        await ws.refresh_sockets()
        await ws.until(lambda: ws.delivery.sockets.count == 1)
        again = await ws.say(BEN, GENERAL, f"<@{ws.bot_user_id}> b")
        await ws.until(lambda: len(ws.messages(GENERAL, again["ts"])) == 2)
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]  # Bolt's


class HttpApp:
    """An app's Request URL that checks signatures, keeps requests and answers as told."""

    def __init__(self, secret: str) -> None:
        self.verifier = SignatureVerifier(secret)
        self.requests: list[web.Request] = []
        self.bodies: list[str] = []
        self.answers: list[web.Response] = []

    async def handle(self, request: web.Request) -> web.Response:
        body = await request.text()
        assert self.verifier.is_valid_request(body, dict(request.headers))
        if "url_verification" in body:
            return web.json_response({"challenge": json.loads(body)["challenge"]})
        self.requests.append(request)
        self.bodies.append(body)
        return self.answers.pop(0) if self.answers else web.Response()


@pytest.fixture
async def http_app(ws):
    app = HttpApp(ws.signing_secret)
    application = web.Application()
    application.router.add_post("/slack/events", app.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    await ws.listen_over_http(f"http://127.0.0.1:{runner.addresses[0][1]}/slack/events")
    yield app
    await runner.cleanup()


async def test_signed_requests_are_retried_with_slacks_headers(ws, http_app):
    http_app.answers = [web.Response(status=500), web.Response()]
    await ws.say(ADA, GENERAL, "x")
    await ws.until(lambda: len(http_app.requests) == 2)
    assert "x-slack-retry-num" not in http_app.requests[0].headers
    assert http_app.requests[1].headers["x-slack-retry-num"] == "1"
    assert http_app.requests[1].headers["x-slack-retry-reason"] == "http_error"


async def test_the_app_may_refuse_retries(ws, http_app):
    http_app.answers = [web.Response(status=500, headers={"X-Slack-No-Retry": "1"})]
    await ws.say(ADA, GENERAL, "x")
    await ws.until(lambda: len(ws.delivery.lost) == 1)
    assert len(http_app.requests) == 1


async def test_commands_and_interactions_are_forms(ws, http_app):
    http_app.answers = [web.json_response({"text": "only you"})]
    await ws.command(ADA, GENERAL, "/ask", "what is ☕?")
    assert "command=%2Fask" in http_app.bodies[0]
    assert [m["text"] for m in ws.messages(GENERAL, viewer=ADA)] == ["only you"]
    await ws.shortcut(ADA, "ask")
    assert http_app.bodies[1].startswith("payload=%7B")


async def test_a_url_that_does_not_echo_is_not_taken(ws):
    with pytest.raises(NotAnswered):
        await ws.listen_over_http(ws.url + "nowhere")


@pytest.mark.parametrize(
    "text", ["nul \x00 here", "\u202eright to left", "half \ud83d of an emoji", "x" * 100_000]
)
async def test_strange_text_arrives_as_it_was_typed(ws, client, app, text):
    await ws.say(ADA, GENERAL, text)
    assert (await app.next())["event"]["text"] == text
    await client.chat_postMessage(channel=GENERAL, text=text)
    assert ws.messages(GENERAL)[-1]["text"] == text[:40_000]


async def test_strange_text_arrives_over_http_too(ws, http_app):
    await ws.say(ADA, GENERAL, "half \ud83d of an emoji \x00")
    await ws.until(lambda: http_app.bodies)
    assert json.loads(http_app.bodies[0])["event"]["text"] == "half \ud83d of an emoji \x00"
    await ws.command(ADA, GENERAL, "/ask", "half \ud83d")


async def test_the_app_learns_what_a_person_looks_at(ws, app):
    await ws.look_at(ADA, GENERAL)
    event = (await app.next())["event"]
    assert event["type"] == "app_context_changed"
    assert event["context"]["entities"][0]["value"] == GENERAL


async def test_reactions_are_told(ws, app):
    said = await ws.say(ADA, GENERAL, "x")
    await ws.react(BEN, GENERAL, said["ts"], "eyes")
    await app.next()
    event = (await app.next())["event"]
    assert (event["type"], event["reaction"], event["item"]["ts"]) == (
        "reaction_added",
        "eyes",
        said["ts"],
    )


async def test_a_shared_channel_says_so(ws, app):
    await ws.say(EVE, "C0PARTNER1", "from outside")
    payload = await app.next()
    assert payload["is_ext_shared_channel"]
    assert payload["event"]["team"] == ws.people[EVE].team_id
