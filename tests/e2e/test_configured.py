"""A bot with its own settings: MCP servers, queued messages and model choices."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import dev_in, scripted
from tests.e2e.test_first_answer import FOOTER, last_answer, reply, say
from tests.e2e.test_home import home
from tests.e2e.test_live import ask_of_sample
from tests.e2e.test_shortcuts import BEN, act_as

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

SETTINGS = """
[channels.C0SALES001]
during_run = "queue"

[[model.choices]]
name = "large"
model = "script-large"
effort = "high"

[mcpServers.told]
command = "{python}"
args = ["-m", "tests.support.mcp_server", "{orders}"]
env = {{ PYTHONPATH = "{root}" }}

[mcpServers.away]
command = "{python}"
args = ["-c", ""]
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    folder = tmp_path_factory.mktemp("configured")
    orders, root = folder / "orders.json", Path(__file__).parents[2]
    orders.write_text(json.dumps({}), "utf-8")
    settings = SETTINGS.format(python=sys.executable, orders=orders, root=root)
    (folder / "bot.toml").write_text(settings, "utf-8")
    with dev_in(folder, *scripted(folder)) as started:
        yield started


def test_a_tool_of_an_mcp_server_waits_for_a_yes_and_home_says_who_is_down(page: Page) -> None:
    """The server declares that the tool makes changes; only the asker may decide."""
    # Its tools are known a while after the start, and Home tells them when it is opened.
    while "told: 2 tools" not in home(page).inner_text():
        page.get_by_test_id("channel-general").click()
        page.wait_for_timeout(500)
    say(page, 'move something to "the hills"')
    panel = page.get_by_test_id("thread-panel")
    card = panel.get_by_test_id("message").filter(has_text="approve this?")
    expect(card).to_contain_text("the hills")
    act_as(page, BEN)
    page.get_by_test_id("replies").last.click()
    card.get_by_role("button", name=re.compile("^Approve:")).click()
    expect(panel).to_contain_text("can decide about this")
    act_as(page, "U0ADA00001")
    page.get_by_test_id("replies").last.click()
    card.get_by_role("button", name=re.compile("^Approve:")).click()
    expect(panel).to_contain_text("Approved by")
    expect(panel).to_contain_text("Moved.")

    tab = home(page)
    expect(tab).to_contain_text("told: 2 tools")
    expect(tab).to_contain_text("away: cannot be reached")


def test_messages_queue_where_they_are_to_and_each_has_its_answer(page: Page) -> None:
    """In other channels, the second message would join the first run. The queued run can be
    stopped like any other, with the only Stop button."""
    ask_of_sample(page, "What is the total revenue by region? Show a chart.", channel="sales")
    panel = page.get_by_test_id("thread-panel")
    expect(panel.locator(".plan")).to_be_visible()
    reply(page, "What is the total revenue by month? Show a chart.")
    expect(panel.get_by_text(FOOTER)).to_have_count(1)
    panel.get_by_role("button", name="Stop").click()
    expect(panel.get_by_text("Stopped")).to_be_visible()
    expect(panel.get_by_test_id("message")).to_have_count(4)


def test_somebody_chooses_a_model_and_opens_the_details_of_its_answer(page: Page) -> None:
    """Chosen in Home; the answer's footer names the model, and one click shows the details."""
    tab = home(page)
    expect(tab).to_contain_text("Which model answers you: The channel's model")
    tab.get_by_role("button", name="Change").click()
    modal = page.get_by_test_id("modal")
    large = "large (script-large, effort high)"
    modal.get_by_text(large).click()
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    expect(tab).to_contain_text(large)

    say(page, "what is 9 * 9?")
    answer = last_answer(page)
    expect(answer).to_contain_text(re.compile(r"script-large · \d[\d.]* s · "))
    expect(answer).not_to_contain_text("tokens")
    answer.get_by_role("button", name="Details").click()
    for fact in ("script-large", "high", "Turns", "Tool calls", "Tokens", "calculate"):
        expect(modal).to_contain_text(fact)
