"""The page over real sockets: who may reach it, what it shows to whom, and what arrives live."""

import asyncio
import json
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from bot.local.page import mount
from bot.local.page.actions import FILE_MAX
from bot.local.page.compose import as_slack_text, as_typed
from bot.local.workspace import ADA, BEN, GUS, Workspace
from bot.local.workspace.text import escape

GENERAL, SALES, FINANCE = "C0GENERAL1", "C0SALES001", "C0FINANCE1"
NOTICE = "Answers come from a stand-in model."
SHORTCUTS = [
    {"name": "Ask about this…", "type": "message", "callback_id": "ask_about", "description": "d"},
    {"name": "Ask…", "type": "global", "callback_id": "ask_global", "description": "d"},
]
COMMANDS = [{"command": "/ask", "description": "Ask a question", "usage_hint": "question"}]
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20


@dataclass
class Browser:
    """A browser's requests to the page, and the workspace behind it."""

    ws: Workspace
    http: aiohttp.ClientSession

    async def text(self, path: str, **query: str) -> str:
        async with self.http.get(path, params=query) as answer:
            assert answer.status == 200
            text: str = await answer.text()
            return text

    async def do(self, **body: Any) -> tuple[int, dict[str, Any]]:
        async with self.http.post("/page/do", json={"user": ADA, **body}) as answer:
            return answer.status, await answer.json()

    async def say(self, text: str, channel: str = GENERAL, user: str = ADA, files=(), **more: str):
        fields = {"user": user, "channel": channel, "text": text, **more}
        form = aiohttp.FormData(fields, quote_fields=False, default_to_multipart=True)
        for name, content in files:
            form.add_field("file", content, filename=name)
        async with self.http.post("/page/say", data=form) as answer:
            return answer.status, await answer.json()

    @asynccontextmanager
    async def live(self, user: str = ADA, **showing: str):
        async with self.http.ws_connect("/page/live", params={"user": user, **showing}) as socket:
            yield Live(socket)


@dataclass
class Live:
    """The operations an open page receives."""

    socket: aiohttp.ClientWebSocketResponse

    async def until(self, wanted: str, **fields: str) -> dict[str, Any]:
        """The next operation of this kind with these fields."""
        async with asyncio.timeout(5):
            while True:
                for op in await self.socket.receive_json():
                    if op["op"] == wanted and all(op.get(k) == v for k, v in fields.items()):
                        found: dict[str, Any] = op
                        return found


@pytest.fixture
async def browser():
    def mounted(app: aiohttp.web.Application, ws: Workspace) -> None:
        mount(app, ws, notice=NOTICE, shortcuts=SHORTCUTS, commands=COMMANDS)

    async with (
        Workspace.open(mount=mounted) as ws,
        aiohttp.ClientSession(ws.url) as http,
    ):
        yield Browser(ws, http)


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


async def test_everything_the_page_links_to_is_served_from_here(browser):
    """No address outside, no inline script, no inline handler or style."""
    html = await browser.text("/")
    for path in re.findall(r'(?:src|href)="(/page/static/[^"]+)"', html):
        assert await browser.text(path)
    assert not re.findall(r'(?:src|href)="(?:https?:)?//', html)
    assert not re.findall(r"<script(?![^>]*(?: src=|application/json))", html)
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
    """A site whose name was pointed at this machine (DNS rebinding) gets nothing."""
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
    """Also from another port of this machine: what a page there loads of this one it could measure."""
    search = {"user": ADA, "q": "secret"}
    for mode, status in (("no-cors", 403), ("navigate", 200)):
        headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
        async with browser.http.get("/page/search", params=search, headers=headers) as answer:
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


async def test_saying_something_with_a_mention_and_a_file(browser):
    status, answer = await browser.say(
        "@Bot what is in @ben's file? a<b", files=[("données.csv", b"a,b\n1,2\n")]
    )
    assert status == 200
    message = browser.ws.store.get(GENERAL, answer["ts"])
    assert message["text"] == f"<@{browser.ws.bot_user_id}> what is in <@{BEN}>'s file? a&lt;b"
    assert [file["name"] for file in message["files"]] == ["données.csv"]
    html = await browser.text("/page/pane", user=ADA, channel=GENERAL)
    assert "a&lt;b" in html
    assert "<td>2</td>" in html, "a CSV shows its first rows"


async def test_who_comes_and_goes_is_told_in_the_channel(browser):
    """As Slack does, in lines that call nobody; an archived channel is offered by no picker."""
    for command in ("/remove @bot", "/invite @bot", "/remove @Gus Guest", "/archive"):
        assert (await browser.say(command))[0] == 200
    html = await browser.text("/page/pane", user=ADA, channel=GENERAL)
    for line in (
        "was removed from #general by Ada Lovelace.",
        "was added to #general by Ada Lovelace.",
        "archived #general.",
    ):
        assert line in html
    assert (await browser.do(do="unarchive", channel=GENERAL, user=GUS))[1]["error"]
    assert "data-typed" not in html, "nobody wrote it, so nobody edits it"
    picker = {"type": "conversations_select", "action_id": "where"}
    view = {"type": "home", "blocks": [{"type": "actions", "elements": [picker]}]}
    browser.ws.state.homes[ADA] = view | {"id": "V1"}
    home = await browser.text(
        "/page/pane", user=ADA, tab="home", channel=browser.ws.state.direct(ADA).id
    )
    assert "#sales</option>" in home
    assert "#general</option>" not in home
    assert (await browser.do(do="unarchive", channel=GENERAL))[0] == 200
    assert (await browser.say("it goes on"))[0] == 200


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


async def test_acting_as_somebody_else_one_stays_with_the_bot(browser):
    """Where one read direct messages with it, one reads those of the other person, never theirs."""
    ada, ben = browser.ws.state.direct(ADA), browser.ws.state.direct(BEN)
    await browser.ws.say(ADA, ada.id, "only mine")
    shown = await browser.text("/page/pane", user=BEN, channel=ada.id)
    assert f'data-channel="{ben.id}"' in shown
    assert "only mine" not in shown


async def test_reacting_twice_takes_it_back(browser):
    _, said = await browser.say("nice")
    where = {"channel": GENERAL, "ts": said["ts"], "name": "+1"}
    for expected in (1, 0):
        assert (await browser.do(do="react", **where))[0] == 200
        assert len(browser.ws.store.get(GENERAL, said["ts"]).get("reactions", [])) == expected


async def test_a_message_is_forwarded_where_one_is(browser):
    """As an attachment that says whose it is and where; to no place one does not see, from none."""
    _, said = await browser.say("the <b>numbers</b>", channel=FINANCE)
    it = {"do": "forward", "channel": FINANCE, "ts": said["ts"], "note": "@bot see"}
    status, forwarded = await browser.do(**it, to=SALES)
    assert status == 200
    message = browser.ws.store.get(SALES, forwarded["ts"])
    assert message["text"] == f"<@{browser.ws.bot_user_id}> see"
    [attachment] = message["attachments"]
    assert attachment["is_share"]
    assert attachment["author_id"] == ADA
    html = await browser.text("/page/pane", user=ADA, channel=SALES)
    assert "the &lt;b&gt;numbers&lt;/b&gt;" in html
    assert "Posted in #finance" in html
    assert (await browser.do(**it, to=SALES, user=GUS))[1]["error"]
    assert (await browser.do(**it, to="D0BEN00001"))[1]["error"]


async def test_a_reply_is_also_sent_to_the_channel(browser):
    _, root = await browser.say("root")
    _, reply = await browser.say("for all", thread_ts=root["ts"], broadcast="true")
    assert browser.ws.store.get(GENERAL, reply["ts"])["subtype"] == "thread_broadcast"
    assert "for all" in await browser.text("/page/pane", user=ADA, channel=GENERAL)


async def test_the_threads_one_takes_part_in_are_listed(browser):
    """Wherever they are, and nobody else's; a conversation is found by its name too."""
    _, root = await browser.say("@bot who is in?")
    await browser.ws.say(BEN, GENERAL, "me", root["ts"])
    link = re.compile(r'class="side-link has-unread[^>]*data-do="threads"')
    assert link.search(await browser.text("/page/sidebar", user=ADA))
    for user, part in ((ADA, True), (BEN, True), (GUS, False)):
        html = await browser.text("/page/pane", user=user, channel=GENERAL, tab="threads")
        assert ("who is in?" in html) is part
        assert not link.search(await browser.text("/page/sidebar", user=user))
    found = await browser.text("/page/search", user=ADA, q="bot")
    assert f'data-channel-link="{browser.ws.state.direct(ADA).id}"' in found
    assert "who is in?" in found


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


async def test_editing_and_deleting(browser):
    _, said = await browser.say("frist")
    await browser.do(do="edit", channel=GENERAL, ts=said["ts"], text="first @Ben Okafor")
    html = await browser.text("/page/pane", user=ADA, channel=GENERAL)
    assert "(edited)" in html
    assert "@Ben Okafor" in html
    await browser.do(do="delete", channel=GENERAL, ts=said["ts"])
    assert "first" not in await browser.text("/page/pane", user=ADA, channel=GENERAL)


async def test_files_are_shown_or_downloaded_never_run(browser):
    """Images inline, an HTML or SVG file only as a download, and nothing for people who cannot see it."""
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


async def test_a_file_beyond_the_limit_is_refused_with_its_name(browser, monkeypatch):
    monkeypatch.setattr("bot.local.page.actions.FILE_MAX", 1000)
    form = aiohttp.FormData({"user": ADA, "channel": GENERAL, "text": ""})
    form.add_field("file", b"x" * 2000, filename="big.bin")
    async with browser.http.post("/page/say", data=form) as answer:
        assert answer.status == 413
        assert "big.bin" in await answer.text()
    assert FILE_MAX == 100 * 1024 * 1024


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


async def test_the_page_says_what_it_shows_and_other_places_are_only_marked(browser):
    async with browser.live(channel=GENERAL) as live:
        await browser.ws.say(BEN, SALES, "over here")
        op = await live.until("sidebar")
        assert "over here" not in json.dumps(op)
        assert "has-unread" in op["html"]
        await live.socket.send_json({"channel": SALES})
        await browser.ws.react(BEN, SALES, browser.ws.messages(SALES)[0]["ts"], "eyes")
        assert "over here" in (await live.until("message", channel=SALES))["in_channel"]


async def test_what_calls_for_somebody_is_counted_until_they_see_it(browser):
    """A mention, and each direct message also while the agent's Home is open; the rest is unread."""
    ws = browser.ws
    direct = ws.state.direct(ADA).id
    async with browser.live(channel=direct, tab="home") as live:
        await ws.say(BEN, SALES, "over here")
        assert "data-calls" not in (await live.until("sidebar"))["html"]
        await ws.say(BEN, SALES, f"<@{ADA}> look")
        assert 'data-calls="1"' in (await live.until("sidebar"))["html"]
        async with browser.http.post(
            "/api/chat.postMessage",
            json={"channel": direct, "text": "done"},
            headers={"Authorization": f"Bearer {ws.bot_token}"},
        ) as answer:
            assert (await answer.json())["ok"]
        assert (await live.until("sidebar"))["html"].count('data-calls="1"') == 2
        assert "data-since" in await browser.text("/page/pane", user=ADA, channel=SALES)
        assert (await live.until("sidebar"))["html"].count("data-calls") == 1


async def test_nothing_arrives_from_places_one_cannot_see(browser):
    async with browser.live(user=GUS, channel=GENERAL) as live:
        await live.until("watched")
        await browser.ws.say(BEN, FINANCE, "secret")
        _, said = await browser.say("public")
        async with asyncio.timeout(5):
            first = await live.socket.receive_json()
        assert {op.get("channel") for op in first} == {GENERAL}
        assert said["ts"] == first[0]["ts"]


async def test_what_changed_before_the_server_watched_can_be_told(browser):
    """A page knows up to which change it was drawn, and the server says from which on it watches."""
    _, said = await browser.say("first")
    async with browser.http.get("/page/pane", params={"channel": GENERAL}) as answer:
        drawn = int(answer.headers["X-Changes"])
    assert f'data-changes="{drawn}"' in await browser.text("/", channel=GENERAL)
    async with browser.live(channel=GENERAL) as live:
        assert (await live.until("watched"))["changes"] == drawn
        await browser.say("second")
        await live.until("message")
        await live.socket.send_json({"channel": GENERAL, "thread": said["ts"], "anew": "true"})
        assert (await live.until("watched"))["changes"] > drawn


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


async def test_a_permalink_leads_to_the_message(browser):
    path = f"/archives/{GENERAL}/p1700000000000100?thread_ts=1699999999.000100"
    async with browser.http.get(path, allow_redirects=False) as answer:
        assert answer.status == 302
        assert (
            answer.headers["Location"]
            == f"/?channel={GENERAL}&ts=1700000000.000100&thread=1699999999.000100"
        )


async def test_canvases_and_pins_stand_in_the_header_and_open(browser):
    """For those who are in the channel; nothing in a canvas is loaded from elsewhere or run."""
    said = await browser.ws.say(ADA, SALES, "Be kind")
    text = f"# Plan\n\n![](@{BEN}) ![x](https://evil.example/x.png) <script>"
    async with browser.live(channel=SALES) as live:
        canvas = await browser.ws.write_canvas(ADA, SALES, "Q4 <plan>", text)
        assert "Q4 &lt;plan&gt;" in (await live.until("kept", channel=SALES))["html"]
        status, _ = await browser.do(do="pin", channel=SALES, ts=said["ts"])
        assert status == 200
        assert "Be kind" in (await live.until("kept", channel=SALES))["html"]
        assert "pin-note" in await browser.text("/page/pane", channel=SALES)
        assert (await browser.do(do="pin", channel=SALES, ts=said["ts"]))[1]["error"]
        await browser.do(do="unpin", channel=SALES, ts=said["ts"])
        assert "pin-note" not in (await live.until("message", ts=said["ts"]))["in_channel"]
    address = f"/docs/{browser.ws.team_id}/{canvas}"
    assert f'href="{address}?user={BEN}"' in await browser.text("/", user=BEN, channel=SALES)
    for query in ({"user": BEN}, {}):
        html = await browser.text(address, **query)
        assert ">Q4 &lt;plan&gt;</h1>" in html
        assert "@Ben Okafor" in html
        assert "<img" not in html
        assert "<script" not in html
    for path in (f"{address}?user={GUS}", f"/docs/{browser.ws.team_id}/F0NOWHERE"):
        async with browser.http.get(path) as answer:
            assert answer.status == 404


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
    """Marks, mentions and links: nothing of it is lost by saving it as it is."""
    typed = "*so* @Ada Lovelace, see #general & `<b>`,\n@here https://x.example/?a=1&b=2."
    sent = escape(as_slack_text(typed, {"Ada Lovelace": "U1"}, {"general": "C1"}))
    assert as_typed(sent, {"U1": "Ada Lovelace"}, {"C1": "general"}) == typed


async def test_times_are_those_of_the_device(browser):
    """The profile follows it, so that "at 9" and the page's own times are the same."""
    async with browser.live(zone="Asia/Tokyo"):
        assert browser.ws.people[ADA].tz_offset == 9 * 3600
    async with browser.live(zone="Nowhere/At-all"):
        assert browser.ws.people[ADA].tz == "Asia/Tokyo"
