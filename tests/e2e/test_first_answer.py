"""The first five minutes of a new user."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.e2e.conftest import SAMPLE

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

CITIES = b"city,people\nLisbon,575739\nPorto,248769\n"
FOOTER = re.compile(r"script(?:-large)? · \d[\d.,]* (s|min \d+ s) · \S+")


def say(page: Page, text: str, *, channel: str = "general") -> None:
    """Mention the bot in a channel."""
    page.get_by_test_id(f"channel-{channel}").click()
    expect(page.get_by_role("heading", name=f"#{channel}", level=1)).to_be_visible()
    composer = page.get_by_test_id("composer")
    composer.fill(f"@Answer Bot {text}")
    composer.press("Enter")


def reply(page: Page, text: str) -> None:
    """Write in the open thread, without a mention."""
    composer = page.get_by_test_id("thread-composer")
    composer.click()
    composer.press_sequentially(text)
    page.keyboard.press("Enter")


def last_answer(page: Page) -> Locator:
    """Return the newest message of the open thread."""
    return page.get_by_test_id("thread-panel").get_by_test_id("message").last


def finished(page: Page) -> Locator:
    """Return the newest message once it is complete: the footer comes last."""
    answer = last_answer(page)
    expect(answer).to_contain_text(FOOTER)
    return answer


def test_a_spreadsheet_is_asked_about_with_table_chart_and_source(page: Page) -> None:
    """Attach a file, ask, watch the steps, get a table, chart, source and cost, see what its figures rest
    on, and ask again."""
    page.get_by_test_id("file-input").set_input_files(SAMPLE)
    say(page, "What is the total revenue by region? Show a chart.")

    expect(last_answer(page)).to_contain_text("Read sales.csv")  # a card, while it works
    answer = finished(page)
    expect(answer.locator("table").first).to_contain_text("West")
    expect(answer.locator("table").first).to_contain_text("108,226")
    expect(answer.locator("svg[role=img]").filter(visible=True)).to_be_visible()
    expect(answer).to_contain_text("Sources")
    expect(answer.get_by_role("link", name="sales.csv")).to_be_visible()

    answer.get_by_role("button", name="Show evidence").click()
    modal = page.get_by_test_id("modal")
    expect(modal).to_contain_text("108,226")
    expect(modal).to_contain_text("row West")
    expect(modal).to_contain_text("SELECT region, sum(revenue)")
    page.keyboard.press("Escape")
    expect(modal).to_have_count(0)

    reply(page, "And by product?")
    expect(last_answer(page)).to_contain_text("Query")
    expect(finished(page).locator("table").first).to_contain_text("product")


def test_a_follow_up_button_asks_the_next_question(page: Page) -> None:
    """One click asks the suggested question."""
    page.get_by_test_id("file-input").set_input_files(SAMPLE)
    say(page, "What is the total revenue by region?")
    answer = finished(page)
    button = answer.locator("[data-action-id^=follow_up]").first
    question = button.inner_text()
    button.click()
    expect(page.get_by_test_id("thread-panel")).to_contain_text(f"asks: {question}".split(": ")[1])
    expect(page.get_by_test_id("thread-panel").get_by_text(FOOTER)).to_have_count(2)


def test_a_message_is_asked_about_with_its_shortcut(page: Page) -> None:
    """The shortcut opens a modal at once; the answer is posted in the message's thread."""
    composer = page.get_by_test_id("composer")
    composer.click()
    composer.press_sequentially("We agreed to pay 12 instalments of 89.90 each.")
    page.keyboard.press("Enter")
    message = page.get_by_test_id("message").filter(has_text="12 instalments").first
    message.hover()
    message.get_by_test_id("message-menu").click()
    page.get_by_test_id("shortcut-ask_about_message").click()
    modal = page.get_by_test_id("modal")
    modal.locator("textarea, input[type=text]").first.fill("What is 12 * 89.90?")
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    message.get_by_test_id("replies").first.click()
    expect(finished(page)).to_contain_text("1,078.8")


def test_the_global_shortcut_asks_from_anywhere(page: Page) -> None:
    """The lightning button opens it; the answer comes in a direct message by default."""
    page.get_by_test_id("shortcuts").click()
    page.get_by_test_id("shortcut-ask_anywhere").click()
    modal = page.get_by_test_id("modal")
    modal.locator("textarea, input[type=text]").first.fill("what is 6 * 7?")
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    page.get_by_test_id("dm-bot").click()
    expect(page.get_by_test_id("prompts")).to_be_visible()  # the conversation is open
    asked = page.locator("main").get_by_test_id("message").filter(has_text="what is 6 * 7?")
    asked.last.get_by_test_id("replies").click()  # other tests ask in the same direct message
    expect(finished(page)).to_contain_text("42")


def test_a_direct_message_continues_the_last_one(page: Page) -> None:
    """U1: each message opens a thread; the run knows the previous answer and table."""
    cities = FilePayload(name="cities.csv", mimeType="text/csv", buffer=CITIES)
    page.get_by_test_id("dm-bot").click()
    expect(page.get_by_test_id("prompts")).to_be_visible()
    page.get_by_test_id("file-input").set_input_files(cities)
    expect(page.locator("main")).to_contain_text("cities.csv")
    ask_directly(page, "Which cities are these?")
    expect(finished(page)).to_contain_text("Lisbon and Porto.")
    ask_directly(page, "And how many people live there?")
    expect(finished(page)).to_contain_text("575739")
    ask_directly(page, "and as a chart?")
    answer = finished(page)
    expect(answer.locator("svg[role=img]").filter(visible=True)).to_be_visible()


def ask_directly(page: Page, text: str) -> None:
    """Write a direct message to the bot, and open its thread."""
    expect(page.get_by_role("textbox", name="Message Answer Bot")).to_be_visible()
    composer = page.get_by_test_id("composer")
    composer.fill(text)
    composer.press("Enter")
    asked = page.locator("main").get_by_test_id("message").filter(has_text=text)
    asked.get_by_test_id("replies").click()


def test_a_run_is_stopped_by_its_button(page: Page) -> None:
    """Stop ends a running answer; the thread can be used afterwards."""
    page.get_by_test_id("file-input").set_input_files(SAMPLE)
    say(page, "What is the total revenue by month? Show a chart.", channel="sales")
    last_answer(page).get_by_role("button", name="Stop").click(
        delay=150
    )  # as a hand does, while it is drawn anew
    expect(last_answer(page)).to_contain_text("Stopped")
    reply(page, "what is 2 + 3?")
    expect(finished(page)).to_contain_text("5")


def test_a_guest_is_told_kindly_and_nothing_runs(page: Page) -> None:
    """Guests are refused by default, in a message that only they can see."""
    page.get_by_test_id("act-as").select_option(value=guest_id(page))
    expect(page.get_by_test_id("channel-sales")).to_have_count(0)  # the page is the guest's now
    say(page, "what is 2 + 3?")
    expect(page.get_by_text("guests of this workspace")).to_be_visible()


def guest_id(page: Page) -> str:
    """Return the id of Gus in the picker of the acting person."""
    option = page.get_by_test_id("act-as").locator("option", has_text="Gus")
    return option.get_attribute("value") or ""
