"""Approvals: how people see a waiting call and decide on it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_first_answer import FOOTER, finished, reply, say
from tests.e2e.test_home import home

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_a_card_is_approved_and_then_it_is_posted(page: Page) -> None:
    """The card shows the exact text and three buttons, then who decided; the message is posted."""
    say(page, 'post "We ship on Friday." in #sales')
    panel = page.get_by_test_id("thread-panel")
    card = panel.get_by_test_id("message").filter(has_text="approve this?")
    expect(card).to_contain_text("We ship on Friday.")
    expect(card).to_contain_text("Nothing happens without approval")
    card.get_by_role("button", name=re.compile("^Approve:")).press("Enter")
    decided = panel.get_by_test_id("message").filter(has_text="Approved by")
    expect(decided).to_contain_text("We ship on Friday.")
    expect(decided.get_by_role("button", name="Deny")).to_have_count(0)
    expect(panel).to_contain_text("posted in #sales")
    page.get_by_test_id("channel-sales").click()
    expect(page.get_by_role("heading", name="#sales", level=1)).to_be_visible()
    expect(page.get_by_test_id("message").last).to_contain_text("We ship on Friday.")
    expect(page.get_by_test_id("message").last).to_contain_text("Asked for by @Ada Lovelace")


def test_whom_the_asker_mentioned_is_notified_by_a_post(page: Page) -> None:
    """The card names the person, and the post has a real mention and a link, as in Slack."""
    say(page, "@Ben Okafor is new: say hello to Ben in #sales, he may like #random too")
    panel = page.get_by_test_id("thread-panel")
    card = panel.get_by_test_id("message").filter(has_text="approve this?")
    expect(card).to_contain_text("Mentions @Ben Okafor (U0BEN00001). Other @names notify nobody.")
    card.get_by_role("button", name=re.compile("^Approve:")).click()
    expect(panel).to_contain_text("posted in #sales")
    page.get_by_test_id("channel-sales").click()
    posted = page.get_by_test_id("message").last
    expect(posted.locator(".mention").first).to_have_text("@Ben Okafor")
    expect(posted.get_by_role("link", name="#random")).to_be_visible()
    expect(posted).to_contain_text("not @Nobody")


def test_what_is_denied_is_not_done_and_said_so(page: Page) -> None:
    """The card says who decided, and nothing is posted."""
    say(page, 'post "We ship on Sunday." in #sales')
    panel = page.get_by_test_id("thread-panel")
    card = panel.get_by_test_id("message").filter(has_text="approve this?")
    card.get_by_role("button", name="Deny").click()
    expect(panel).to_contain_text("Denied by")
    finished(page)
    page.get_by_test_id("channel-sales").click()
    expect(page.get_by_role("heading", name="#sales", level=1)).to_be_visible()
    expect(page.get_by_text("We ship on Sunday.")).to_have_count(0)


def test_stop_calls_off_what_waits(page: Page) -> None:
    """Typing "stop" while a card waits: the answer and the card say that nothing was done."""
    say(page, 'post "We ship on Monday." in #sales')
    panel = page.get_by_test_id("thread-panel")
    expect(panel.get_by_role("button", name="Deny")).to_be_visible()
    reply(page, "stop")
    expect(panel).to_contain_text("Stopped. Not done: Post in #sales.")
    expect(panel).to_contain_text("Cancelled: the run has ended")
    expect(panel.get_by_role("button", name="Deny")).to_have_count(0)


def test_a_message_for_later_is_told_of_as_scheduled_and_cancelled(page: Page) -> None:
    """The button under the answer cancels it, or Home does, which asks first."""
    panel = page.get_by_test_id("thread-panel")
    for text, hour in (("good morning everybody", 9), ("good night", 22)):
        say(page, f'schedule "{text}" in #sales for tomorrow at {hour}')
        panel.get_by_role("button", name=re.compile("^Approve:")).click()
        expect(panel).to_contain_text("scheduled for")
    reply(page, "what is scheduled?")
    expect(panel).to_contain_text("2 messages wait to be posted")
    panel.get_by_role("button", name="Cancel the message “good night”").click()
    panel.get_by_role("button", name=re.compile("^Approve:")).click()
    expect(panel.get_by_text(FOOTER)).to_have_count(3)
    tab = home(page)
    expect(tab).to_contain_text("to be posted")
    expect(tab).not_to_contain_text("good night")
    cancel = tab.get_by_role("button", name="Cancel: good morning everybody")
    for answer, left in (("Keep it", 1), ("Cancel it", 0)):
        cancel.click()
        asked = page.get_by_role("dialog")
        expect(asked).to_contain_text("“good morning everybody” will not be posted.")
        asked.get_by_role("button", name=answer).click()
        expect(asked).to_be_hidden()
        expect(cancel).to_have_count(left)


def test_a_question_is_scheduled_told_of_and_cancelled(page: Page) -> None:
    """Once approved, Home lists it; a request ends it. Direct messages need no approval."""
    say(page, "every Monday at 9:30 what is 6 * 7?")
    panel = page.get_by_test_id("thread-panel")
    card = panel.get_by_test_id("message").filter(has_text="approve this?")
    card.get_by_role("button", name=re.compile("^Approve:")).click()
    expect(panel).to_contain_text("It is scheduled")
    expect(home(page)).to_contain_text("every Monday at 09:30")
    page.get_by_test_id("channel-general").click()
    page.get_by_test_id("replies").last.click()
    reply(page, "cancel the schedule")
    expect(panel).to_contain_text("Cancelled.")

    page.get_by_test_id("dm-bot").click()
    expect(page.get_by_role("heading", name="Answer Bot", level=1)).to_be_visible()
    composer = page.get_by_test_id("composer")
    composer.fill("every Monday at 9:30 what is 6 * 7?")
    composer.press("Enter")
    expect(panel).to_contain_text("It is scheduled")
    expect(panel.get_by_role("button", name=re.compile("^Approve:"))).to_have_count(0)
