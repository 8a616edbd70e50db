"""What a person does on the page."""

import aiohttp
import pytest

from bot.dev.page.compose import as_slack_text, as_typed
from bot.dev.page.sending import FILE_MAX
from bot.dev.workspace import ADA, BEN, CHLOE, GUS
from bot.dev.workspace.messaging.text import escape
from tests.unit.dev.page_kit import FINANCE, GENERAL, SALES


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
    """Joining and leaving show as lines that notify nobody; no picker offers an archived channel."""
    bot = browser.ws.bot_user_id
    await browser.ws.remove(ADA, GENERAL, bot)
    await browser.ws.invite(ADA, GENERAL, bot)
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
