"""What is new for somebody, until they have seen it."""

import pytest

from bot.local.workspace import ADA, BEN, GUS
from tests.unit.local.page_kit import FINANCE, GENERAL, SALES


async def test_what_calls_for_somebody_is_counted_until_they_see_it(browser):
    """A mention, and each direct message also while the agent's Home is open; the rest is unread."""
    ws = browser.ws
    direct = ws.state.direct(ADA).id
    async with browser.live(channel=direct, tab="home") as live:
        await ws.say(BEN, SALES, "over here")
        assert "data-calls" not in (await live.until("sidebar"))["html"]
        await ws.say(BEN, SALES, f"<@{ADA}> look")
        assert 'data-calls="1"' in (await live.until("sidebar"))["html"]
        await browser.slack("chat.postMessage", channel=direct, text="done")
        assert (await live.until("sidebar"))["html"].count('data-calls="1"') == 2
        assert "data-since" in await browser.text("/page/pane", user=ADA, channel=SALES)
        assert (await live.until("sidebar"))["html"].count("data-calls") == 1


async def test_only_a_message_that_one_sees_is_marked_unread(browser):
    """What the page is sent stands in no mark that every sidebar after it is drawn from."""
    _, said = await browser.say("secret", channel=FINANCE)
    for user, ts in ((GUS, said["ts"]), (ADA, ["1", "2"]), (ADA, "later")):
        assert (await browser.do(do="unread", user=user, channel=FINANCE, ts=ts))[1]["error"]
        assert "has-unread" not in await browser.text("/page/sidebar", user=user)


async def test_what_one_marks_unread_is_so_until_one_comes_back(browser):
    _, said = await browser.say("my own")
    await browser.do(do="unread", channel=GENERAL, ts=said["ts"])
    assert "has-unread" in await browser.text("/page/sidebar", user=ADA)
    since = f'data-since="{said["ts"]}"'
    assert since in await browser.text("/page/pane", user=ADA, channel=GENERAL)
    assert "has-unread" not in await browser.text("/page/sidebar", user=ADA)


@pytest.mark.parametrize("is_read_first", [True, False])
async def test_what_one_window_shows_is_read_in_all(browser, is_read_first):
    """An answer that is written before the eyes of its reader calls from no other window of theirs."""
    direct = browser.ws.state.direct(ADA).id
    _, asked = await browser.say("what is new?", channel=direct)
    places = (direct, GENERAL) if is_read_first else (GENERAL, direct)
    async with browser.live(channel=places[0]) as one, browser.live(channel=places[1]) as other:
        begun = await browser.slack("chat.startStream", channel=direct, thread_ts=asked["ts"])
        await browser.slack("chat.stopStream", channel=direct, ts=begun["ts"], markdown_text="All")
        _, said = await browser.say("and this is seen")
        shown = {direct: begun["ts"], GENERAL: said["ts"]}
        for place, live in zip(places, (one, other), strict=True):
            await live.until("message", ts=shown[place])
        assert "has-unread" not in await browser.text("/page/sidebar", user=ADA)


async def test_what_one_marks_unread_stays_so_while_more_comes(browser):
    """As in Slack, where it ends with coming back."""
    _, said = await browser.say("for later")
    async with browser.live(channel=GENERAL) as live:
        await browser.do(do="unread", channel=GENERAL, ts=said["ts"])
        await browser.ws.say(BEN, GENERAL, "by the way")
        await live.until("message")
        assert "has-unread" in await browser.text("/page/sidebar", user=ADA)
