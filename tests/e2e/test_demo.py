"""The page without a model key: the first minutes of the README, and its pictures."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import dev_in
from tests.e2e.steps import ADA, act_as, draw, home, say

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

README = Path(__file__).parents[2] / "README.md"
ALERTS = "U0ALERTS01"
ROWS = ["West 108,226", "Central 103,277", "North 101,181.5", "East 78,195.5", "South 72,434.5"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with dev_in(tmp_path_factory.mktemp("demo")) as started:
        yield started


def test_the_first_answer_is_the_one_that_the_readme_shows(page: Page) -> None:
    """P1, P2: what README says leads to the answer of its picture: a sentence with its figures, table,
    chart, source and evidence. The page says that this is a demo, and the answer what to set for a model."""
    expect(page.get_by_role("status").first).to_contain_text("OPENAI_API_KEY")
    heading = re.search(r"first question below \*(.+?)\*", README.read_text("utf-8"))
    assert heading is not None
    expect(page.get_by_role("heading", name=heading[1])).to_be_visible()
    page.locator("[data-examples] button").first.click()
    expect(page.get_by_test_id("composer")).to_be_focused()
    expect(page.locator("main [data-attached]")).to_contain_text("sales.csv")
    page.keyboard.press("Enter")

    thread = page.get_by_test_id("thread-panel")
    answer = thread.get_by_test_id("message").last
    expect(answer.get_by_role("button", name="Show evidence")).to_be_visible()
    sentence = "West has the highest total revenue, 108,226, and South the lowest, 72,434.5."
    expect(
        answer.get_by_text(sentence)
    ).to_be_in_viewport()  # though the answer is taller than the pane
    page.set_viewport_size({"width": 1400, "height": 1400})
    expect(answer.locator("table").first.locator("tbody tr")).to_have_text(
        [re.compile(r"\s*".join(row.split())) for row in ROWS]
    )
    chart = answer.locator("svg[role=img]").filter(visible=True)
    expect(chart.locator("rect")).to_have_count(len(ROWS))
    expect(answer).to_contain_text("OPENAI_BASE_URL")
    expect(answer.get_by_role("link", name="sales.csv")).to_be_visible()
    expect(answer).not_to_contain_text("not sure")
    expect(thread).not_to_contain_text("unsupported")
    draw(page, "answer", thread, until=answer)

    answer.get_by_role("button", name="Show evidence").click()
    modal = page.get_by_test_id("modal")
    expect(modal).to_contain_text("row West")
    draw(page, "evidence", modal)


def test_a_voice_message_is_a_question(page: Page) -> None:
    """The sample that can be attached at any time, sent without words."""
    page.get_by_test_id("dm-bot").click()
    expect(page.get_by_role("textbox", name="Message Answer Bot")).to_be_visible()
    page.get_by_test_id("samples").first.click()
    page.get_by_test_id("sample-voice.wav").click()
    expect(page.locator("main [data-attached]")).to_contain_text("voice.wav")
    page.get_by_test_id("composer").first.press("Enter")
    expect(page.get_by_test_id("message").last).to_contain_text("4,383", timeout=20_000)


def test_a_newcomer_sets_up_a_rule_and_sees_it_answer_an_app(page: Page) -> None:
    """By asking, approved by a card; then by itself, below the alert of another app. Home lists it."""
    say(page, "When the app Alerts posts an error here, summarise the thread", channel="alerts")
    page.get_by_test_id("composer").fill("")
    thread = page.get_by_test_id("thread-panel")
    expect(thread).to_contain_text("When the app Alerts posts “error” here")
    thread.get_by_role("button", name="Approve: When").click()
    expect(thread).to_contain_text("The rule is on.")
    act_as(page, ALERTS)
    page.get_by_test_id("channel-alerts").click()
    page.get_by_test_id("composer").fill("Error: the disk of billing is full")
    page.keyboard.press("Enter")
    alert = page.get_by_test_id("message").filter(has_text="disk of billing is full")
    expect(alert).to_contain_text("1 reply")
    act_as(page, ADA)
    tab = home(page)
    expect(tab).to_contain_text("When the app Alerts posts “error” in #alerts")
    tab.get_by_role("button", name="Open: summarise the thread").first.click()
    expect(page.get_by_test_id("modal")).to_contain_text("1 answer,")
