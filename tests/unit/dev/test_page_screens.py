"""What the page shows, and to whom."""

from bot.dev.workspace import ADA, BEN, GUS
from tests.unit.dev.page_kit import GENERAL, NOTICE, SALES


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
    text = f"# Plan\n\n![](@{BEN}) ![x](https://evil.example/x.png) <script>"
    canvas = await browser.ws.write_canvas(ADA, SALES, "Q4 <plan>", text)
    address = f"/docs/{browser.ws.team_id}/{canvas}"
    for query in ({"user": BEN}, {}):
        html = await browser.text(address, **query)
        assert ">Q4 &lt;plan&gt;</h1>" in html
        assert "@Ben Okafor" in html
        assert "<img" not in html
        assert "<script" not in html
    for path in (f"{address}?user={GUS}", f"/docs/{browser.ws.team_id}/F0NOWHERE"):
        async with browser.http.get(path) as answer:
            assert answer.status == 404
