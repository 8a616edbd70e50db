"""Message shortcuts, each with its own kind of result (C3)."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_first_answer import finished, last_answer, reply

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]

ADA, BEN, CHLOE = "U0ADA00001", "U0BEN00001", "U0CHLOE001"


def thread_of_three(page: Page, opening: str, channel: str) -> Locator:
    """Post a discussion between three people and open its thread. Return its first message."""
    page.get_by_test_id(f"channel-{channel}").click()
    act_as(page, ADA)
    page.get_by_test_id("composer").click()
    page.keyboard.type(opening)
    page.keyboard.press("Enter")
    first = page.locator("main").get_by_test_id("message").filter(has_text=opening)
    open_thread(page, first)
    for user, text in (
        (BEN, "The login page fails on Safari. I'll fix it by Wednesday."),
        (CHLOE, "Who tells the customers about the new date?"),
        (ADA, "We agreed that the launch of the shop moves to Friday."),
        (ADA, "Chloe, please send the invoice to ACME."),
    ):
        act_as(page, user)
        reply(page, text)
        expect(last_answer(page)).to_contain_text(text)
    act_as(page, ADA)
    return first


def open_thread(page: Page, message: Locator) -> None:
    message.hover()
    message.get_by_test_id("reply").click()
    expect(page.get_by_test_id("thread-composer")).to_be_visible()


def act_as(page: Page, user: str) -> None:
    """Act as another person; the page reloads for them."""
    with page.expect_response(re.compile("sidebar")):
        page.get_by_test_id("act-as").select_option(value=user)


def press(page: Page, message: Locator, shortcut: str) -> Locator:
    """Choose a shortcut in a message's menu. Return the modal that opens."""
    message.hover()
    message.get_by_test_id("message-menu").click()
    page.get_by_test_id(f"shortcut-{shortcut}").click()
    return page.get_by_test_id("modal")


def test_a_thread_is_summarised_and_goes_on_from_there(page: Page) -> None:
    """The summary lists participants, decisions and open questions; a follow-up is answered."""
    first = thread_of_three(page, "Shall we launch the shop on Monday?", "general")
    modal = press(page, first, "summarise_thread")
    expect(modal).to_contain_text("Shall we launch the shop on Monday?")
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    answer = finished(page)
    expect(answer).to_contain_text("moves to Friday")
    expect(answer).to_contain_text("Decided")
    expect(answer).to_contain_text("Still open")
    expect(answer).to_contain_text(re.compile("participants: ada.*, ben.*, chloe", re.IGNORECASE))

    mention(page, "what did Ben say about Safari?")
    expect(last_answer(page)).to_contain_text("fails on Safari")
    finished(page)


def test_action_items_are_a_table_with_owners(page: Page) -> None:
    """The table says who has to do what."""
    first = thread_of_three(page, "Shall we launch the app on Monday?", "sales")
    press(page, first, "extract_actions")
    page.get_by_test_id("modal-submit").click()
    table = finished(page).locator("table")
    expect(table).to_contain_text("Send the invoice to ACME")
    expect(table).to_contain_text("Chloe")


def test_a_draft_reply_is_seen_by_the_asker_alone(page: Page) -> None:
    """Only the asker sees the draft, by default; it follows the instruction from the modal."""
    thread_of_three(page, "Shall we launch the site on Monday?", "sales")
    panel = page.get_by_test_id("thread-panel")
    asked = panel.get_by_test_id("message").filter(has_text="Who tells the customers")
    modal = press(page, asked, "draft_reply")
    expect(modal.get_by_role("radio", name="Only to me")).to_be_checked()
    modal.locator("textarea").fill("say that support does it")
    page.get_by_test_id("modal-submit").click()
    draft = finished(page)
    expect(draft.locator("blockquote")).to_contain_text("Support tells them.")
    expect(draft).to_contain_text("Only visible to you")

    act_as(page, BEN)
    open_thread(page, page.locator("main").get_by_test_id("message").filter(has_text="the site"))
    expect(last_answer(page)).to_contain_text("invoice to ACME")


def mention(page: Page, text: str) -> None:
    """Mention the bot: in a thread of several people it waits for that."""
    composer = page.get_by_test_id("thread-composer")
    composer.fill(f"@Answer Bot {text}")
    composer.press("Enter")
