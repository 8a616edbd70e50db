"""A call that waits for a person, as people see it and decide it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_first_answer import say

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_a_card_is_approved_and_then_it_is_posted(page: Page) -> None:
    """The exact text and three buttons; after the press who decided, and the message elsewhere."""
    say(page, 'post "We ship on Friday." in #sales')
    panel = page.get_by_test_id("thread-panel")
    card = panel.get_by_test_id("message").filter(has_text="may I do this?")
    expect(card).to_contain_text("We ship on Friday.")
    expect(card).to_contain_text("Nothing happens before")
    card.get_by_role("button", name="Approve", exact=True).click()
    decided = panel.get_by_test_id("message").filter(has_text="Approved by")
    expect(decided).to_contain_text("We ship on Friday.")
    expect(decided.get_by_role("button", name="Deny")).to_have_count(0)
    expect(panel).to_contain_text("It is posted in")
    page.get_by_test_id("channel-sales").click()
    expect(page.get_by_test_id("message").last).to_contain_text("We ship on Friday.")
