"""Who may reach the page, and what the page may load and run."""

import re

import pytest

from bot.dev.workspace import ADA, BEN, GUS
from tests.unit.dev.page_kit import FINANCE

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
