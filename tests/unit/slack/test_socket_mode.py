"""Socket Mode stays up, and gives away nothing on its way down (reliability 6)."""

import asyncio

import pytest

from bot.core.errors import ConfigurationError
from bot.dev.workspace import ADA
from bot.dev.workspace.events.http_events import HttpEvents
from bot.slack.edge.http import SlackRequests
from bot.slack.edge.socket_mode import socket_mode
from bot.telemetry.health import http_server
from tests.unit.slack.rig import wired

GENERAL = "C0GENERAL1"


async def test_a_refused_connection_is_tried_at_another_address(ws):
    """The SDK would try the same refused address for ever: its tickets are for one use."""
    async with wired(ws) as rig:
        ws.faults.refuse_connections(1)
        async with socket_mode(
            rig.app.bolt, ws.app_token, web_client=rig.clients.reads, connections=1
        ) as sockets:
            await asyncio.wait_for(sockets.wait_connected(1), 10)
            await ws.say(ADA, GENERAL, rig.mention("still there?"))
            await ws.until(lambda: rig.requests)


async def test_a_connection_that_says_nothing_is_rebuilt(ws):
    """It opens and answers pings, but Slack never greets it: no event would ever come."""
    async with wired(ws) as rig:
        ws.faults.mute_connections(1)
        async with socket_mode(
            rig.app.bolt, ws.app_token, web_client=rig.clients.reads, connections=1, patience=0.5
        ) as sockets:
            await asyncio.wait_for(sockets.wait_connected(1), 10)
            await ws.say(ADA, GENERAL, rig.mention("anybody there?"))
            await ws.until(lambda: rig.requests)


async def test_both_connections_come_up(ws):
    async with (
        wired(ws) as rig,
        socket_mode(rig.app.bolt, ws.app_token, web_client=rig.clients.reads) as sockets,
    ):
        await asyncio.wait_for(sockets.wait_connected(2), 10)


async def test_what_was_received_is_kept_and_acknowledged_before_it_closes(ws):
    async with wired(ws) as rig:
        held, release = asyncio.Event(), asyncio.Event()
        keep = rig.app.submit

        async def slowly(request, event_id):
            held.set()
            await release.wait()
            return await keep(request, event_id)

        rig.app.submit = slowly
        connection = socket_mode(
            rig.app.bolt, ws.app_token, web_client=rig.clients.reads, connections=1
        )
        await connection.__aenter__()
        await ws.say(ADA, GENERAL, rig.mention("hold on"))
        await held.wait()
        closing = asyncio.create_task(connection.__aexit__(None, None, None))
        _, waiting = await asyncio.wait({closing}, timeout=0.3)
        assert waiting
        release.set()
        await closing
        assert [r.text for r in rig.requests] == ["hold on"]
        assert ws.delivery.lost == []


async def test_what_nobody_listens_to_is_acknowledged(ws):
    """Otherwise Slack would deliver it again and again."""
    async with (
        wired(ws) as rig,
        socket_mode(rig.app.bolt, ws.app_token, web_client=rig.clients.reads),
    ):
        event = {"type": "pin_added", "user": ADA}
        payload = {"type": "event_callback", "team_id": ws.team_id, "event": event}
        assert await ws.delivery.transport.send("events_api", payload, within=2) == {}


async def test_a_wrong_app_token_is_one_clear_line(ws):
    async with wired(ws) as rig:
        with pytest.raises(ConfigurationError, match="SLACK_APP_TOKEN"):
            async with socket_mode(rig.app.bolt, "xapp-wrong", web_client=rig.clients.reads):
                pass


async def test_over_http_nothing_is_taken_before_and_after(ws):
    """While a process starts or drains, Slack is told to send it again (reliability 7)."""
    requests = SlackRequests()
    async with wired(ws) as rig, http_server([requests.route], port=0, host="127.0.0.1") as port:
        url = f"http://127.0.0.1:{port}/slack/events"
        before = await rig.clients.session.post(url, json={})
        async with requests.taken_by(rig.app.bolt, ws.signing_secret):
            meanwhile = await rig.clients.session.post(url, json={})
        after = await rig.clients.session.post(url, json={})
    assert (before.status, meanwhile.status, after.status) == (503, 401, 503)


async def test_over_http_events_are_taken_and_forgeries_are_not(ws):
    requests = SlackRequests()
    async with (
        wired(ws) as rig,
        http_server([requests.route], port=0, host="127.0.0.1") as port,
        requests.taken_by(rig.app.bolt, ws.signing_secret),
    ):
        base = f"http://127.0.0.1:{port}"
        http = HttpEvents(f"{base}/slack/events", ws.signing_secret, ws.clock, rig.clients.session)
        await http.verify("token", 3)
        ws.delivery.transport = http
        await ws.say(ADA, GENERAL, rig.mention("over http"))
        await ws.until(lambda: rig.requests)
        forged = await rig.clients.session.post(
            f"{base}/slack/events", json={"type": "event_callback", "event": {"type": "x"}}
        )
        assert forged.status == 401
        ws.delivery.retry_delays = ()
        async with rig.outage():
            await ws.say(ADA, GENERAL, rig.mention("store is down"))
            await ws.until(lambda: ws.delivery.lost)
        assert len(rig.requests) == 1
