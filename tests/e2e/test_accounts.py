"""A personal account, from the question over the browser's pages to the answer."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

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
    server = f'[mcpServers.notes]\nurl = "{notes.mcp}"\naccount = "person"\n'
    (folder / "bot.toml").write_text(server, "utf-8")
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
    with page.context.expect_page() as opened:
        panel.get_by_role("link", name="Connect Notes").click()
    before = opened.value
    expect(before.locator("body")).to_contain_text("Connect Notes for Ada Lovelace (@ada)")
    before.get_by_role("button", name="Continue").click()
    code = before.locator("output")
    expect(code).to_be_visible()
    digits = code.inner_text()
    before.close()
    page.locator("main").get_by_role("button", name="Type the code").click()
    modal = page.get_by_test_id("modal")
    modal.get_by_role("textbox").fill(digits)
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    expect(panel).to_contain_text("Connected")
    expect(panel).to_contain_text("Anna's secret plan")
    expect(panel).to_contain_text("with your own Notes")
