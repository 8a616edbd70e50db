"""What the page shows, and to whom."""

import re

from bot.dev.workspace import ADA, BEN, GUS
from tests.unit.local.page_kit import GENERAL, NOTICE, SALES


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
    """Where one read direct messages with it, one reads those of the other person, never theirs."""
    ada, ben = browser.ws.state.direct(ADA), browser.ws.state.direct(BEN)
    await browser.ws.say(ADA, ada.id, "only mine")
    shown = await browser.text("/page/pane", user=BEN, channel=ada.id)
    assert f'data-channel="{ben.id}"' in shown
    assert "only mine" not in shown


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


async def test_what_people_wrote_is_found_before_what_repeats_it(browser):
    """With the words marked, also far down in a table, and by the name of a file."""
    await browser.say("R&D costs 20,000, see #sales", files=[("costs.csv", b"a\n1\n")])
    table = "\n".join(f"| 2026-{n:02} | **{n}** |" for n in range(1, 40))
    text = f"R&D costs, told again:\n\n| month | n |\n| --- | --- |\n{table}\n| cedar | 9 |"
    await browser.slack("chat.postMessage", channel=GENERAL, text=text)
    for query, authors in (
        ("r&d COSTS", ["Ada Lovelace", "Bot"]),
        ("#sales costs.csv", ["Ada Lovelace"]),
        ("cedar", ["Bot"]),
    ):
        html = await browser.text("/page/search", user=ADA, q=query)
        assert re.findall("<b>(.*?)</b>", html) == authors
        assert "<mark>" in html
    assert "39 <mark>cedar</mark> 9" in html


async def test_who_has_left_is_offered_no_more(browser):
    """At once in every window, and the one of who left shows somebody else."""
    async with browser.live(user=ADA) as live, browser.live(user=BEN) as gone:
        assert not (await browser.say("/deactivate @Ben Okafor"))[1].get("error")
        assert "Ben Okafor" not in (await live.until("sidebar"))["html"].partition("act-as")[2]
        await gone.until("leave")


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
