"""A personal account, from the question over the browser's pages to the answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import SCRIPTED, dev_in
from tests.e2e.steps import ask_directly
from tests.support.accounts import KEY
from tests.support.notes_server import Notes, notes_server
from tests.support.ports import free_port

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def notes() -> Generator[Notes]:
    """A protected server, in a thread with a loop of its own."""
    started: list[Notes] = []
    ready, over = threading.Event(), threading.Event()

    async def serve() -> None:
        async with notes_server() as server:
            started.append(server)
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    assert ready.wait(30)
    yield started[0]
    over.set()
    thread.join(10)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, notes: Notes) -> Generator[str]:
    folder: Path = tmp_path_factory.mktemp("accounts")
    kinds = {"notes": "person", "wiki": "workspace"}
    servers = (
        f'[mcpServers.{name}]\nurl = "{notes.mcp}"\naccount = "{kind}"\n'
        for name, kind in kinds.items()
    )
    (folder / "bot.toml").write_text("".join(servers), "utf-8")
    secrets = f"BOT_ENCRYPTION_KEYS={KEY}\nBOT_PUBLIC_URL=http://127.0.0.1:{free_port()}\n"
    (folder / ".env").write_text(secrets, "utf-8")
    with dev_in(folder, *SCRIPTED) as started:
        yield started


def test_an_account_is_connected_and_the_question_goes_on(page: Page) -> None:
    """R3: the page before leaving names the person; the digits of the last page are typed in Slack;
    the card says what happened, and the answer has what the account sees."""
    page.get_by_test_id("dm-bot").click()
    ask_directly(page, "What is in my notes?")
    panel = page.locator("main")
    expect(panel).to_contain_text("Waiting for Ada Lovelace to connect Notes")
    digits = allow(page, panel.get_by_role("link", name="Connect Notes"), "for Ada Lovelace (@ada)")
    type_code(page, "Type the code", digits)
    expect(panel).to_contain_text("Connected")
    expect(panel).to_contain_text("Anna's secret plan")
    expect(panel).to_contain_text("with your own Notes")


def allow(page: Page, link: Locator, whom: str) -> str:
    """Go the way of the browser from a link, whose page says `whom` it is for. Return the digits."""
    with page.context.expect_page() as opened:
        link.click()
    before = opened.value
    expect(before.locator("body")).to_contain_text(whom)
    before.get_by_role("button", name="Continue").click()
    code = before.locator("output")
    expect(code).to_be_visible()
    digits = code.inner_text()
    before.close()
    return digits


def type_code(page: Page, button: str, digits: str) -> None:
    """Type the digits in Slack."""
    page.locator("main").get_by_role("button", name=button).last.click()
    modal = page.get_by_test_id("modal")
    modal.get_by_role("textbox").fill(digits)
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)


def test_an_admin_connects_an_account_for_everybody(page: Page) -> None:
    """From Home: the form and the page say that it is for everybody, and Home then by whom."""
    page.get_by_test_id("dm-bot").click()
    page.get_by_test_id("home-tab").click()
    home = page.get_by_test_id("home")
    expect(home).to_contain_text("not connected: an admin has to connect it")
    home.get_by_role("button", name="Connect: Wiki").click()
    modal = page.get_by_test_id("modal")
    expect(modal).to_contain_text("Everybody who may ask me can then read what this account sees")
    digits = allow(page, modal.get_by_role("link", name="Connect Wiki"), "for everybody in")
    page.keyboard.press("Escape")
    page.get_by_test_id("messages-tab").click()
    type_code(page, "Type the code", digits)
    page.get_by_test_id("home-tab").click()
    expect(home).to_contain_text("connected by @Ada Lovelace since")
    expect(home.get_by_role("button", name="Disconnect: Wiki")).to_be_visible()
