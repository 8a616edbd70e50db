"""Answers: asked for, watched, stopped, approved, edited, repeated, rated and refreshed."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import SAMPLE
from tests.e2e.steps import (
    BEN,
    FOOTER,
    act_as,
    ask_of_sample,
    choose,
    draw,
    finished,
    last_answer,
    question,
    reply,
    say,
)

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

WRITTEN = """() => {
  window.written = false;
  const isWritten = (message) => message.querySelector(".plan")
    && message.textContent.includes("has the highest total revenue");
  const look = () => {
    if (written || ![...document.querySelectorAll("[data-testid=message]")].some(isWritten)) return;
    written = true;
    window.selected = getSelection().toString();
  };
  new MutationObserver(look).observe(
    document.body, { childList: true, subtree: true, characterData: true });
}"""


SELECT = "card => getSelection().selectAllChildren(card)"


def test_a_spreadsheet_is_asked_about_with_table_chart_and_source(page: Page) -> None:
    """Attach a file, ask, watch the steps, get a table, chart, source and cost, see what its figures rest
    on, press the suggested question, and type the next one."""
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

    answer.get_by_role("button", name="what is 2 + 3?").click()
    panel = page.get_by_test_id("thread-panel")
    expect(panel.get_by_text(FOOTER)).to_have_count(2)

    reply(page, "And by product?")
    expect(last_answer(page)).to_contain_text("Query")
    expect(finished(page).locator("table").first).to_contain_text("product")


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


def test_cards_and_text_come_in_while_it_works(page: Page) -> None:
    """The steps appear, then the answer streams in and replaces them. A text selection made
    meanwhile is kept."""
    page.evaluate(WRITTEN)
    ask_of_sample(page, "What is the total revenue by region?")
    answer = last_answer(page)
    expect(answer).to_have_class(re.compile("streaming"))
    expect(answer.locator(".plan")).to_contain_text("Read sales.csv")
    answer.locator(".task-title").filter(has_text="Read sales.csv").evaluate(SELECT)
    finished(page)
    assert page.evaluate("written")  # below the plan, before the end
    assert page.evaluate("selected") == "Read sales.csv"
    expect(answer.locator(".plan")).to_have_count(0)
    expect(answer).not_to_have_class(re.compile("streaming"))


def test_an_edited_question_has_its_answer_revised_in_place(page: Page) -> None:
    """The existing answer changes and says that it was revised; there is no second answer."""
    say(page, "what is 6 * 7?")
    expect(finished(page)).to_contain_text("42")
    question(page).hover()
    question(page).get_by_test_id("message-menu").click()
    page.get_by_role("button", name="Edit message").click()
    box = question(page).get_by_role("textbox", name="Edit message")
    box.fill("@Bot what is 6 * 8?")
    box.press("Enter")
    expect(last_answer(page)).to_contain_text("Revised: the question was edited")
    expect(last_answer(page)).to_contain_text("48")
    expect(page.get_by_test_id("thread-panel").get_by_test_id("message")).to_have_count(2)


def test_an_answer_is_made_again_and_judged(page: Page) -> None:
    """Ask again and Look deeper answer below; thumbs down asks what was wrong."""
    say(page, "what is 9 * 9?")
    answer = finished(page)
    answer.get_by_role("button", name="Bad answer").click()
    modal = page.get_by_test_id("modal")
    expect(modal).to_contain_text("Your comment")
    modal.locator("textarea").fill("It should be in words.")
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    choose(answer, "Ask again")
    messages = page.get_by_test_id("thread-panel").get_by_test_id("message")
    expect(messages).to_have_count(3)
    expect(finished(page)).to_contain_text("81")
    choose(last_answer(page), "Look deeper")
    expect(messages).to_have_count(4)
    expect(finished(page)).to_contain_text("81")


def test_a_card_is_approved_and_then_it_is_posted(page: Page) -> None:
    """The card shows the exact text, whom it notifies and its buttons, which the keyboard reaches; then
    who decided. The post has a real mention and a link, as in Slack."""
    say(page, "@Ben Okafor is new: say hello to Ben in #sales, he may like #random too")
    panel = page.get_by_test_id("thread-panel")
    card = panel.get_by_test_id("message").filter(has_text="approve this?")
    expect(card).to_contain_text("Mentions @Ben Okafor (U0BEN00001). Other @names notify nobody.")
    expect(card).to_contain_text("Nothing happens without approval")
    draw(page, "approval", panel, until=card)
    card.get_by_role("button", name=re.compile("^Approve:")).press("Enter")
    decided = panel.get_by_test_id("message").filter(has_text="Approved by")
    expect(decided.get_by_role("button", name="Deny")).to_have_count(0)
    expect(panel).to_contain_text("posted in #sales")
    page.get_by_test_id("channel-sales").click()
    expect(page.get_by_role("heading", name="#sales", level=1)).to_be_visible()
    posted = page.get_by_test_id("message").last
    expect(posted.locator(".mention").first).to_have_text("@Ben Okafor")
    expect(posted.get_by_role("link", name="#random")).to_be_visible()
    expect(posted).to_contain_text("not @Nobody")
    expect(posted).to_contain_text("Asked for by @Ada Lovelace")


def test_figures_are_read_again_shown_to_one_and_posted(page: Page) -> None:
    """The person sees what changed, posts it, and has it kept up to date; the answer stays as it is."""
    act_as(page, BEN)
    say(page, "How many seconds since 1970?", channel="sales")
    finished(page)
    panel = page.get_by_test_id("thread-panel")
    answer = panel.get_by_test_id("message").nth(1)
    words = answer.inner_text()
    choose(answer, "Refresh figures")
    result = page.get_by_test_id("modal")
    expect(result).to_contain_text("1 of 1 changed:")
    expect(result).to_contain_text("→")
    expect(result).to_contain_text("may no longer fit")
    result.get_by_role("button", name="Post it in the thread").click()
    expect(result).to_contain_text("I posted it in the thread.")
    page.keyboard.press("Escape")
    posted = panel.get_by_test_id("message").filter(has_text="Refreshed for")
    expect(posted).to_contain_text("1 of 1 changed:")
    assert answer.inner_text() == words
