"""What is new for somebody, until they have seen it."""

import re

import pytest

from bot.dev.workspace import ADA, BEN, GUS
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


async def test_an_apps_message_calls_whom_its_blocks_mention(browser):
    """Not whom it names with a backslash before, which Slack shows as it is written."""
    for said, calls in ((rf"\<@{ADA}> look", 0), (f"**<@{ADA}>** look", 1)):
        blocks = [{"type": "markdown", "text": said}]
        await browser.slack("chat.postMessage", channel=GENERAL, text="look", blocks=blocks)
        sidebar = await browser.text("/page/sidebar", user=ADA)
        assert sidebar.count('data-calls="1"') == calls


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
    chat, room = {"channel": direct, "thread": asked["ts"]}, {"channel": GENERAL}
    places = (chat, room) if is_read_first else (room, chat)
    async with browser.live(**places[0]) as one, browser.live(**places[1]) as other:
        begun = await browser.slack("chat.startStream", channel=direct, thread_ts=asked["ts"])
        await browser.slack("chat.stopStream", channel=direct, ts=begun["ts"], markdown_text="All")
        _, said = await browser.say("and this is seen")
        shown = {direct: begun["ts"], GENERAL: said["ts"]}
        for place, live in zip(places, (one, other), strict=True):
            await live.until("message", ts=shown[place["channel"]])
        assert "has-unread" not in await browser.text("/page/sidebar", user=ADA)


async def test_what_one_marks_unread_stays_so_while_more_comes(browser):
    """As in Slack, where it ends with coming back."""
    _, said = await browser.say("for later")
    async with browser.live(channel=GENERAL) as live:
        await browser.do(do="unread", channel=GENERAL, ts=said["ts"])
        await browser.ws.say(BEN, GENERAL, "by the way")
        await live.until("message")
        assert "has-unread" in await browser.text("/page/sidebar", user=ADA)


async def test_a_reply_is_read_with_its_thread_and_not_with_the_channel(browser):
    """As in Slack: the thread says that it has news, and so does "Threads", in which a mention calls;
    neither does to who has no part in it."""
    _, root = await browser.say("who is in?")
    marker = "badge new"
    async with browser.live(channel=GENERAL) as live:
        await browser.ws.say(BEN, GENERAL, f"<@{ADA}> me", root["ts"])
        assert marker in (await live.until("message", ts=root["ts"]))["in_channel"]
        sidebar = await browser.text("/page/sidebar")
        assert re.findall(r'has-unread[^>]*data-testid="([^"]+)"', sidebar) == ["threads-link"]
        assert sidebar.count('data-calls="1"') == 1
        assert marker in await browser.text("/page/pane", channel=GENERAL)
        assert marker in await browser.text("/page/pane", channel=GENERAL, tab="threads")
        assert marker not in await browser.text("/page/pane", channel=GENERAL, user=GUS)
        await browser.text("/page/thread", channel=GENERAL, thread=root["ts"])
        assert marker not in (await live.until("message", ts=root["ts"]))["in_channel"]
        await live.socket.send_json({"channel": GENERAL, "thread": root["ts"], "anew": "true"})
        await live.until("watched")
        await browser.ws.say(BEN, GENERAL, "and you?", root["ts"])
        assert marker not in (await live.until("message", ts=root["ts"]))["in_channel"]
        assert "has-unread" not in await browser.text("/page/sidebar")


async def test_who_is_called_into_a_thread_finds_it_under_threads(browser):
    """Where they wrote nothing themselves."""
    _, root = await browser.say("who is in?")
    await browser.ws.say(BEN, GENERAL, f"let us ask <@{GUS}>", root["ts"])
    assert "who is in?" in await browser.text(
        "/page/pane", user=GUS, channel=GENERAL, tab="threads"
    )


async def test_a_card_calls_who_is_asked(browser):
    """Its text for notifications names nobody, and its small print calls nobody."""
    _, root = await browser.say("post it")
    headline = {"type": "section", "text": {"type": "mrkdwn", "text": f"<@{BEN}>, may I?"}}
    terms = {"type": "context", "elements": [{"type": "mrkdwn", "text": f"<@{GUS}> may not."}]}
    card = {"text": "Approval needed", "blocks": [headline, terms], "thread_ts": root["ts"]}
    await browser.slack("chat.postMessage", channel=GENERAL, **card)
    for user, is_called in ((BEN, True), (GUS, False)):
        assert ("data-calls" in await browser.text("/page/sidebar", user=user)) is is_called


async def test_a_thread_says_where_it_went_on(browser):
    """From the first reply that came since one read it; of the first ones it says nothing."""
    _, root = await browser.say("who is in?")
    at = {"channel": GENERAL, "thread": root["ts"]}
    since = []
    for said in ("me", "and I", "me too"):
        reply = await browser.ws.say(BEN, GENERAL, said, root["ts"])
        since.append(f'data-since="{reply["ts"]}"' in await browser.text("/page/thread", **at))
    assert since == [False, True, True]
    assert 'data-since=""' in await browser.text("/page/thread", **at)


async def test_a_reply_that_one_marks_unread_is_so_until_its_thread_is_opened(browser):
    _, root = await browser.say("who is in?")
    reply = await browser.ws.say(BEN, GENERAL, "me", root["ts"])
    at = {"channel": GENERAL, "thread": root["ts"]}
    await browser.text("/page/thread", **at)
    await browser.do(do="unread", channel=GENERAL, ts=reply["ts"])
    for place, is_new in (("pane", True), ("thread", True), ("pane", False)):
        assert ("badge new" in await browser.text("/page/pane", channel=GENERAL)) is is_new
        await browser.text(f"/page/{place}", **at)
