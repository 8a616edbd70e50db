"""A running answer, and what people do with it: watch, stop, edit, repeat, rate."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import SAMPLE
from tests.e2e.test_first_answer import finished, last_answer, reply, say

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


def ask_of_sample(page: Page, text: str, channel: str = "general") -> None:
    page.get_by_test_id(f"channel-{channel}").click()
    expect(page.get_by_role("heading", name=f"#{channel}", level=1)).to_be_visible()
    page.get_by_test_id("file-input").set_input_files(SAMPLE)
    say(page, text, channel=channel)


def question(page: Page) -> Locator:
    """Return the first message of the open thread."""
    return page.get_by_test_id("thread-panel").get_by_test_id("message").first


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


def test_the_word_stop_stops_it_with_what_was_found(page: Page) -> None:
    """Typing "stop" in the thread stops the run, asks no new question, and offers Retry."""
    ask_of_sample(page, "What is the total revenue by month? Show a chart.", channel="sales")
    expect(last_answer(page).locator(".plan")).to_contain_text("Query")
    stopped = page.get_by_test_id("thread-panel").get_by_text("What I had found so far")
    reply(page, "stop")
    expect(stopped).to_be_visible()
    panel = page.get_by_test_id("thread-panel")
    expect(panel).to_contain_text("60 rows")
    expect(panel).not_to_contain_text("handle")  # what only the model has a use for
    panel.get_by_role("button", name="Retry").click()
    finished(page)
    expect(panel.get_by_test_id("message")).to_have_count(4)  # the question, "stop", both ends


def test_a_cross_on_the_question_stops_it(page: Page) -> None:
    """A cross as a reaction stops the run."""
    ask_of_sample(page, "What is the total revenue by month? Show a chart.", channel="sales")
    expect(last_answer(page).locator(".plan")).to_be_visible()
    question(page).hover()
    question(page).locator("[data-name=x]").click()
    expect(last_answer(page)).to_contain_text("Stopped")


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
    """Regenerate and Go deeper answer below; thumbs down asks what was wrong."""
    say(page, "what is 9 * 9?")
    answer = finished(page)
    answer.get_by_role("button", name="Bad answer").click()
    modal = page.get_by_test_id("modal")
    expect(modal).to_contain_text("What was wrong, or missing?")
    modal.locator("textarea").fill("It should be in words.")
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    answer.get_by_role("button", name="Regenerate").click()
    messages = page.get_by_test_id("thread-panel").get_by_test_id("message")
    expect(messages).to_have_count(3)
    expect(finished(page)).to_contain_text("81")
    last_answer(page).get_by_role("button", name="Go deeper").click()
    expect(messages).to_have_count(4)
    expect(finished(page)).to_contain_text("81")
