"""The page: what it shows and to whom, what one does on it, what arrives live, and what it refuses."""

import asyncio
import json
import re

import aiohttp
import pytest

from bot.dev.page.compose import as_slack_text, as_typed
from bot.dev.page.sending import FILE_MAX
from bot.dev.workspace import ADA, BEN, CHLOE, GUS
from bot.dev.workspace.messaging.text import escape
from tests.unit.dev.page_kit import FINANCE, GENERAL, NOTICE, SALES


async def test_a_newcomer_sees_where_they_are_and_what_to_try(browser):
    html = await browser.text("/")
    assert NOTICE in html
    assert "Try one of these" in html
    assert "sales.csv" in html
    for hook in ("composer", "send", "file-input", "act-as", "dm-bot", "channel-general", "channel-sales", "shortcut-ask_about", "shortcut-ask_global", "thread-panel", "status"):  # fmt: skip
        assert f'data-testid="{hook}"' in html, hook


async def test_the_sample_spreadsheet_is_there(browser):
    lines = (await browser.text("/page/static/samples/sales.csv")).splitlines()
    assert lines[0] == "date,region,product,units,unit_price,revenue"
    assert len(lines) == 61


async def test_acting_as_somebody_else_one_stays_with_the_bot(browser):
    """Acting as somebody else shows their own direct message with the bot."""
    ada, ben = browser.ws.state.direct(ADA), browser.ws.state.direct(BEN)
    await browser.ws.say(ADA, ada.id, "only mine")
    shown = await browser.text("/page/pane", user=BEN, channel=ada.id)
    assert f'data-channel="{ben.id}"' in shown
    assert "only mine" not in shown


async def test_a_permalink_leads_to_the_message(browser):
    path = f"/archives/{GENERAL}/p1700000000000100?thread_ts=1699999999.000100"
    async with browser.http.get(path, allow_redirects=False) as answer:
        assert answer.status == 302
        assert (
            answer.headers["Location"]
            == f"/?channel={GENERAL}&ts=1700000000.000100&thread=1699999999.000100"
        )


async def test_a_canvas_opens_by_its_link(browser):
    """Members of the channel can open a canvas; it loads and runs nothing."""
    await browser.do(user=BEN, do="language", locale="de-DE")
    text = f"# Plan\n\n![](@{BEN}) ![x](https://evil.example/x.png) <script>"
    canvas = await browser.ws.write_canvas(ADA, SALES, "Q4 <plan>", text)
    address = f"/docs/{browser.ws.team_id}/{canvas}"
    for query in ({"user": BEN}, {}):
        html = await browser.text(address, **query)
        assert ("Canvas von Ada" if query else "Canvas by Ada") in html
        assert ">Q4 &lt;plan&gt;</h1>" in html
        assert "@Ben Okafor" in html
        assert "<img" not in html
        assert "<script" not in html
    for path in (f"{address}?user={GUS}", f"/docs/{browser.ws.team_id}/F0NOWHERE"):
        async with browser.http.get(path) as answer:
            assert answer.status == 404


async def test_saying_something_with_a_mention_and_a_file(browser):
    status, answer = await browser.say(
        "@Bot what is in @ben's file? a<b",
        files=[("données.csv", "a,b\n1,Köln\n".encode("cp1252"))],
    )
    assert status == 200
    message = browser.ws.store.get(GENERAL, answer["ts"])
    assert message["text"] == f"<@{browser.ws.bot_user_id}> what is in <@{BEN}>'s file? a&lt;b"
    assert [file["name"] for file in message["files"]] == ["données.csv"]
    assert "a&lt;b" in await browser.text("/page/pane", user=ADA, channel=GENERAL)


async def test_who_comes_and_goes_is_told_in_the_channel(browser):
    """Slack's own /remove and /invite work, for all who are named; lines that notify nobody tell it, and
    no picker offers an archived channel."""
    bot = browser.ws.bot_user_id
    for command in ("/remove @Bot and @ben", "/invite @Bot"):
        assert not (await browser.say(command))[1].get("error")
    assert bot in browser.ws.channels[GENERAL].members
    assert BEN not in browser.ws.channels[GENERAL].members
    assert "/invite @" in (await browser.say("/invite whom"))[1]["error"]
    assert "already in" in (await browser.say("/invite @Bot"))[1]["error"]
    await browser.do(do="language", locale="ja-JP")
    said = (await browser.say("/invite @Bot"))[1]["error"]
    assert said.endswith("はすでに #general にいます。")
    await browser.ws.archive(ADA, GENERAL)
    html = await browser.text("/page/pane", user=ADA, channel=GENERAL)
    for line in ("has left the channel", "has joined the channel", "has archived the channel"):
        assert line in html
    assert "data-typed" not in html, "nobody wrote it, so nobody edits it"
    picker = {"type": "conversations_select", "action_id": "where"}
    view = {"type": "home", "blocks": [{"type": "actions", "elements": [picker]}]}
    browser.ws.state.homes[ADA] = view | {"id": "V1"}
    home = await browser.text(
        "/page/pane", user=ADA, tab="home", channel=browser.ws.state.direct(ADA).id
    )
    assert "#sales</option>" in home
    assert "#general</option>" not in home
    assert (await browser.say("it goes on"))[1]["error"]


async def test_the_name_of_a_channel_one_is_not_in_stays_a_word(browser):
    """Only one's own channels become links, so that guessing a name reveals no private channel."""
    _, said = await browser.say("see #finance and #finanzen", user=CHLOE)
    assert browser.ws.store.get(GENERAL, said["ts"])["text"] == "see #finance and #finanzen"
    _, said = await browser.say("see #finance and #sales")
    linked = browser.ws.store.get(GENERAL, said["ts"])
    assert linked["text"] == f"see <#{FINANCE}> and <#{SALES}>"
    await browser.do(do="edit", channel=GENERAL, ts=said["ts"], text="see #sales", user=ADA)
    assert linked["text"] == f"see <#{SALES}>"


async def test_a_reply_goes_into_its_thread(browser):
    _, root = await browser.say("root")
    await browser.say("reply", thread_ts=root["ts"])
    assert "reply" in await browser.text(
        "/page/thread", user=ADA, channel=GENERAL, thread=root["ts"]
    )
    assert "1 reply" in await browser.text("/page/pane", user=ADA, channel=GENERAL)


async def test_what_a_person_may_not_do_is_told_in_plain_words(browser):
    _, said = await browser.say("mine")
    status, answer = await browser.do(do="edit", user=BEN, channel=GENERAL, ts=said["ts"], text="x")
    assert status == 200
    assert answer["error"].endswith(".")
    assert (await browser.say("hello", channel=FINANCE, user=GUS))[1]["error"]
    assert (await browser.say("   "))[1]["error"]
    assert "no command here" in (await browser.say("/nope at all"))[1]["error"]
    assert (await browser.say(" /nope"))[0] == (await browser.say("/etc/hosts is new"))[0] == 200


async def test_no_app_listening_is_told_in_plain_words(browser):
    browser.ws.delivery.ack_timeout = 0.05
    status, answer = await browser.do(do="shortcut", callback_id="ask_global")
    assert status == 504
    assert "bot running" in answer["error"]


@pytest.mark.parametrize(
    "body", [{"do": "explode"}, {"do": "edit"}, {"do": "home", "user": "UNOBODY"}, {}]
)
async def test_a_wrong_request_is_refused(browser, body):
    assert (await browser.do(**body))[0] == 400


async def test_a_body_of_another_kind_is_refused(browser):
    async with browser.http.post("/page/say", data={"user": ADA}) as answer:
        assert answer.status == 400
    for data in (b"{", b"[]", b"\xff"):
        headers = {"Content-Type": "application/json"}
        async with browser.http.post("/page/do", data=data, headers=headers) as answer:
            assert answer.status == 400


async def test_a_file_beyond_the_limit_is_refused_with_its_name(browser, monkeypatch):
    monkeypatch.setattr("bot.dev.page.sending.FILE_MAX", 1000)
    form = aiohttp.FormData({"user": ADA, "channel": GENERAL, "text": ""})
    form.add_field("file", b"x" * 2000, filename="big.bin")
    async with browser.http.post("/page/say", data=form) as answer:
        assert answer.status == 413
        assert "big.bin" in await answer.text()
    assert FILE_MAX == 100 * 1024 * 1024


async def test_reacting_twice_takes_it_back(browser):
    _, said = await browser.say("nice")
    where = {"channel": GENERAL, "ts": said["ts"], "name": "+1"}
    for expected in (1, 0):
        assert (await browser.do(do="react", **where))[0] == 200
        assert len(browser.ws.store.get(GENERAL, said["ts"]).get("reactions", [])) == expected


async def test_editing_and_deleting(browser):
    _, said = await browser.say("frist")
    await browser.do(do="edit", channel=GENERAL, ts=said["ts"], text="first @Ben Okafor")
    html = await browser.text("/page/pane", user=ADA, channel=GENERAL)
    assert "(edited)" in html
    assert "@Ben Okafor" in html
    await browser.do(do="delete", channel=GENERAL, ts=said["ts"])
    assert "first" not in await browser.text("/page/pane", user=ADA, channel=GENERAL)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("hi @Ada Lovelace, hi @ada", "hi <@U1>, hi <@U1>"),
        ("mail a@ada.example", "mail a@ada.example"),
        ("@adam is not @ada", "@adam is not <@U1>"),
        ("see #general and @here", "see <#C1> and <!here>"),
        ("https://x.example/@ada?q=1.", "<https://x.example/@ada?q=1>."),
        ("<script> & co", "<script> & co"),
    ],
)
def test_typed_text_becomes_slack_text(typed, expected):
    people = {"Ada Lovelace": "U1", "ada": "U1"}
    assert as_slack_text(typed, people, {"general": "C1"}) == expected


def test_a_message_is_edited_as_it_was_typed():
    """Saving an unchanged message loses no marks, mentions or links."""
    typed = "*so* @Ada Lovelace, see #general & `<b>`,\n@here https://x.example/?a=1&b=2."
    sent = escape(as_slack_text(typed, {"Ada Lovelace": "U1"}, {"general": "C1"}))
    assert as_typed(sent, {"U1": "Ada Lovelace"}, {"C1": "general"}) == typed


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


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


async def test_everything_the_page_links_to_is_served_from_here(browser):
    """The page has no outside address, inline script, inline handler or style."""
    html = await browser.text("/")
    for path in re.findall(r'(?:src|href)="(/page/static/[^"]+)"', html):
        assert await browser.text(path)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', html)
    assert not re.findall(r"<script(?![^>]* src=)", html)
    assert not re.findall(r"\s(?:on\w+|style)=", html)


async def test_answers_carry_a_content_policy(browser):
    async with browser.http.get("/") as answer:
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:3000", "127.0.0.1.evil.example", ""]
)
async def test_another_host_name_is_refused(browser, host):
    """A site whose name points at this machine (DNS rebinding) gets nothing."""
    for path in ("/", "/page/pane", "/page/static/app.js", "/page/live"):
        async with browser.http.get(path, headers={"Host": host}) as answer:
            assert answer.status in (400, 403)


async def test_another_sites_requests_are_refused(browser):
    foreign = {"Origin": "https://evil.example"}
    body = {"do": "home", "user": ADA, "tab": "home"}
    async with browser.http.post("/page/do", json=body, headers=foreign) as answer:
        assert answer.status == 403
    async with browser.http.get("/page/live", headers=foreign) as answer:
        assert answer.status == 403
    async with browser.http.post(
        "/page/do", json=body, headers={"Origin": browser.ws.url.rstrip("/")}
    ) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_only_a_link_leads_here_from_another_site(browser, site):
    """A foreign page may link here, but it cannot load anything, not even to measure its time."""
    for mode, status in (("no-cors", 403), ("navigate", 200)):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        async with browser.http.get("/page/pane", params={"user": ADA}, headers=headers) as answer:
            assert answer.status == status


async def test_static_files_are_only_those_of_the_page(browser):
    for path in (
        "/page/static/../routes.py",
        "/page/static/%2e%2e/routes.py",
        "/page/static/none.js",
    ):
        async with browser.http.get(path) as answer:
            assert answer.status == 404


async def test_people_see_their_own_conversations_only(browser):
    await browser.ws.say(BEN, FINANCE, "secret plans")
    assert "secret plans" in await browser.text("/page/pane", user=BEN, channel=FINANCE)
    as_guest = await browser.text("/", user=GUS, channel=FINANCE)
    assert "secret plans" not in as_guest
    assert "channel-finance" not in as_guest
    assert "#general" in as_guest


async def test_files_are_shown_or_downloaded_never_run(browser):
    """Images are inline, HTML and SVG are downloads, and other people's files are not found."""
    files = [("p.png", PNG), ("x.html", b"<script>1</script>"), ("x.svg", b"<svg onload='1'/>")]
    _, said = await browser.say("", files=files, channel=FINANCE)
    shown = [f["id"] for f in browser.ws.store.get(FINANCE, said["ts"])["files"]]
    expected = [("image/png", "inline"), *[("application/octet-stream", "attachment")] * 2]
    for file_id, (kind, disposition) in zip(shown, expected, strict=True):
        async with browser.http.get(f"/page/files/{file_id}/x", params={"user": ADA}) as answer:
            assert answer.content_type == kind
            assert answer.headers["Content-Disposition"].startswith(disposition)
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
        async with browser.http.get(f"/page/files/{file_id}/x", params={"user": GUS}) as answer:
            assert answer.status == 404
