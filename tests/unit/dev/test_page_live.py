"""The operations that an open page receives."""

import asyncio
import json

from bot.dev.workspace import ADA, BEN, GUS
from tests.unit.dev.page_kit import FINANCE, GENERAL, SALES


async def test_a_new_message_and_its_thread_arrive_live(browser):
    async with browser.live(channel=GENERAL) as live:
        _, said = await browser.say("hello")
        op = await live.until("message", ts=said["ts"])
        assert "hello" in op["in_channel"]
        assert op["in_thread"] is None
        await browser.say("a reply", thread_ts=said["ts"])
        assert "1 reply" in (await live.until("message", ts=said["ts"]))["in_channel"]


async def test_the_open_thread_gets_replies_and_changes(browser):
    _, said = await browser.say("root")
    async with browser.live(channel=GENERAL, thread=said["ts"]) as live:
        _, reply = await browser.say("first draft", thread_ts=said["ts"])
        assert "first draft" in (await live.until("message", ts=reply["ts"]))["in_thread"]
        await browser.do(do="edit", channel=GENERAL, ts=reply["ts"], text="second draft")
        assert "second draft" in (await live.until("message", ts=reply["ts"]))["in_thread"]
        await browser.do(do="delete", channel=GENERAL, ts=reply["ts"])
        await live.until("remove", ts=reply["ts"])


async def test_the_page_says_what_it_shows_and_hears_of_nothing_else(browser):
    async with browser.live(channel=GENERAL) as live:
        await live.until("connected")
        await browser.ws.say(BEN, SALES, "over here")
        await browser.say("and here")
        async with asyncio.timeout(5):
            assert "over here" not in json.dumps(await live.socket.receive_json())
        await live.socket.send_json({"channel": SALES})
        await live.until("watching")
        await browser.ws.react(BEN, SALES, browser.ws.messages(SALES)[0]["ts"], "eyes")
        assert "over here" in (await live.until("message", channel=SALES))["in_channel"]


async def test_nothing_arrives_from_places_one_cannot_see(browser):
    async with browser.live(user=GUS, channel=GENERAL) as live:
        await live.until("connected")
        await browser.ws.say(BEN, FINANCE, "secret")
        _, said = await browser.say("public")
        async with asyncio.timeout(5):
            first = await live.socket.receive_json()
        assert {op.get("channel") for op in first} == {GENERAL}
        assert said["ts"] == first[0]["ts"]


async def test_status_and_stop_arrive_live(browser):
    _, said = await browser.say("work on this")
    async with browser.live(channel=GENERAL, thread=said["ts"]) as live:
        status = browser.ws.state.status(GENERAL, said["ts"])
        status.session = "processing"
        browser.ws.changed("session", GENERAL, thread_ts=said["ts"])
        op = await live.until("status", thread=said["ts"])
        assert 'data-testid="stop"' in op["html"]
        status.session = "active"
        browser.ws.changed("session", GENERAL, thread_ts=said["ts"])
        assert (await live.until("status", thread=said["ts"]))["html"] == ""


async def test_a_malformed_frame_does_not_end_the_stream(browser):
    async with browser.live(channel=GENERAL) as live:
        for frame in ("{", "[]", '"x"', '{"channel": ["no"]}'):
            await live.socket.send_str(frame)
        await live.socket.send_json({"channel": GENERAL})
        _, said = await browser.say("still here")
        await live.until("message", ts=said["ts"])


async def test_times_are_those_of_the_device(browser):
    """The profile takes the device's time zone, so that "at 9" means the same on the page."""
    async with browser.live(zone="Asia/Tokyo"):
        assert browser.ws.people[ADA].tz_offset == 9 * 3600
    async with browser.live(zone="Nowhere/At-all"):
        assert browser.ws.people[ADA].tz == "Asia/Tokyo"


async def test_a_modal_opens_and_closes_live_and_is_gone_after_a_reload(browser):
    view = {"id": "V1", "hash": "h", "title": "Ask", "blocks": []}
    async with browser.live() as live:
        await live.until("connected")
        browser.ws.state.open_views[ADA] = [view]
        browser.ws.changed("view_opened", user=ADA)
        assert "V1" in (await live.until("modals"))["html"]
        async with browser.live() as reloaded:
            async with asyncio.timeout(5):
                assert await reloaded.socket.receive_json() == [{"op": "connected"}]
        browser.ws.state.open_views[ADA] = []
        browser.ws.changed("view_closed", user=ADA)
        assert (await live.until("modals"))["html"] == ""
