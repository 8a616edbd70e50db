"""*Refresh* under an answer, and what an admin makes of one that was rated bad."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_first_answer import finished, say
from tests.e2e.test_home import home
from tests.e2e.test_shortcuts import ADA, BEN, act_as

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_figures_are_read_again_shown_to_one_and_posted(page: Page) -> None:
    """The person sees what changed, posts it, and has it kept up to date; the answer stays as it is."""
    act_as(page, BEN)
    say(page, "How many seconds since 1970?", channel="sales")
    finished(page)
    panel = page.get_by_test_id("thread-panel")
    answer = panel.get_by_test_id("message").nth(1)
    words = answer.inner_text()
    answer.get_by_role("button", name="Refresh").click()
    result = panel.get_by_test_id("message").filter(has_text="1 of 1 changed:")
    expect(result).to_contain_text("→")
    expect(result).to_contain_text("Only visible to you")
    expect(result).to_contain_text("may no longer fit")
    result.get_by_role("combobox").select_option("Every weekday at 9:00")
    expect(panel).to_contain_text("I will read the figures again every Monday through Friday")
    result.get_by_role("button", name="Post it in the thread").click()
    posted = panel.get_by_test_id("message").filter(has_text="Refreshed for")
    expect(posted).to_contain_text("1 of 1 changed:")
    assert answer.inner_text() == words


def test_an_admin_learns_from_an_answer_that_was_rated_bad(page: Page) -> None:
    """The comment becomes a card in Home; the case is tried before and after, and accepted."""
    act_as(page, BEN)
    say(page, "what is 9 * 9?", channel="sales")
    answer = finished(page)
    answer.get_by_role("button", name="Bad answer").click()
    form = page.get_by_test_id("modal")
    expect(form).to_contain_text("admins read your comment and the question")
    form.get_by_role("textbox").fill("Say it in words, too.")
    page.get_by_test_id("modal-submit").click()
    expect(form).to_have_count(0)

    act_as(page, ADA)
    tab = home(page)
    expect(tab).to_contain_text("Say it in words, too.")
    tab.get_by_role("button", name="Look into it").first.click()
    card = page.get_by_test_id("modal")
    expect(card.get_by_role("textbox", name="Question of the")).to_have_value("what is 9 * 9?")
    card.get_by_role("textbox", name="What the answer must say").fill("eighty-one")
    card.get_by_role("textbox", name="New instruction").fill("Write figures in words, too.")
    card.get_by_role("button", name="Try before and after").click()
    expect(card).to_contain_text("Working on it")
    expect(card).to_contain_text("With the new instruction: fails; does not say “eighty-one”")
    page.get_by_test_id("modal-submit").click()
    expect(card).to_have_count(0)
    expect(tab).not_to_contain_text("Say it in words, too.")
