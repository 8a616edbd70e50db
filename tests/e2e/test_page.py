"""The page itself, as people of Slack expect it: long messages, the keyboard, a finger."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.test_first_answer import finished, say
from tests.e2e.test_shortcuts import ADA, BEN, act_as

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def write(page: Page, text: str) -> Locator:
    """A message in the channel that is open; it, once it is there."""
    composer = page.get_by_test_id("composer")
    composer.fill(text)
    composer.press("Enter")
    return page.locator("main").get_by_test_id("message").filter(has_text=text.split("\n")[0])


def channel(page: Page, name: str) -> None:
    page.get_by_test_id(f"channel-{name}").click()
    expect(page.get_by_role("heading", name=f"#{name}", level=1)).to_be_visible()


def test_a_long_message_is_shown_in_part_until_one_asks_for_more(page: Page) -> None:
    """It stays open when it is drawn anew, and opens by itself when the keyboard goes into it."""
    log = "\n".join(f"Step {n} of the long log" for n in range(80))
    said = write(page, f"{log} https://log.example/last")
    more = said.get_by_test_id("more")
    expect(more).to_have_text("Show more")
    more.click()
    expect(more).to_have_text("Show less")
    said.hover()
    said.locator("[data-name='+1']").first.click()
    expect(said.locator(".reaction")).to_have_count(1)
    expect(more).to_have_text("Show less")
    more.click()
    expect(more).to_have_text("Show more")
    link = said.get_by_role("link", name="https://log.example/last")
    link.focus()
    expect(more).to_have_text("Show less")
    expect(link).to_be_in_viewport()


def test_what_one_wrote_is_edited_as_it_was(page: Page) -> None:
    """Up edits what one sent last, its marks, channels and emoji as they were typed; a key does each of
    a message's actions; a channel in it is a link."""
    composer = page.get_by_test_id("composer")
    write(page, "*See* #sales :rocket:")
    said = page.locator("main").get_by_test_id("message").filter(has_text="See #sales 🚀")
    expect(said.locator("strong")).to_have_text("See")
    composer.press("ArrowUp")
    box = page.get_by_role("textbox", name="Edit message")
    expect(box).to_have_value("*See* #sales :rocket:")
    page.keyboard.press("Enter")
    expect(said).to_contain_text("(edited)")
    expect(said.locator("strong")).to_have_text("See")
    expect(composer).to_be_focused()
    said.focus()
    page.keyboard.press("e")  # as in Slack
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    for pins in (1, 0):
        said.focus()
        page.keyboard.press("p")
        expect(page.get_by_test_id("kept")).to_have_count(pins)
    said.get_by_role("link", name="#sales").click()
    expect(page.get_by_role("heading", name="#sales", level=1)).to_be_visible()


def test_the_focus_stays_near_what_was_deleted(page: Page) -> None:
    """On the message after it, else on the one before; in a place that is empty then, one writes."""
    act_as(page, BEN)
    page.goto(f"{page.url.split('?')[0]}?user={BEN}&channel=C0FINANCE1")
    first, second, third = (write(page, f"Number {word}.") for word in ("one", "two", "three"))
    for message in (second, third):
        delete_by_keyboard(page, message)
        expect(message).to_have_count(0)
        expect(third if message is second else first).to_be_focused()
    delete_by_keyboard(page, first)
    expect(page.get_by_test_id("composer")).to_be_focused()


def test_a_finger_reaches_what_a_mouse_does(browser: Browser, address: str) -> None:
    """A long press on a message opens its actions; a thread covers the channel and brings no keyboard,
    and shows a tall reply from its top until it was read; the sidebar takes the focus, and gives it back."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    phone = context.new_page()
    phone.goto(address)
    phone.get_by_test_id("composer").fill("From my phone.")
    phone.get_by_test_id("composer").press("Enter")  # a new line, as in Slack on a phone
    phone.get_by_test_id("send").tap()
    said = phone.locator("main").get_by_test_id("message").filter(has_text="From my phone.")
    expect(said).to_have_count(1)
    hold(phone, said.locator(".text"))
    phone.get_by_test_id("sheet-reply").tap()
    panel = phone.get_by_test_id("thread-panel")
    expect(panel.get_by_test_id("message")).to_have_count(1)
    expect(panel.get_by_test_id("thread-composer")).not_to_be_focused()
    expect(said.first).to_be_hidden()
    panel.get_by_test_id("thread-composer").fill("\n".join(["And more."] * 32))
    panel.get_by_role("button", name="Send").tap()
    tall = panel.get_by_test_id("message").nth(1)
    for _ in range(2):
        expect(tall.locator(".msg-head")).to_be_in_viewport()
        phone.reload()
    panel.locator("#replies").evaluate("list => list.scrollTo(0, list.scrollHeight)")
    panel.get_by_test_id("close-thread").tap()
    expect(phone.locator("#messages")).to_be_focused()
    said.get_by_test_id("replies").tap()
    expect(tall).to_be_in_viewport()
    expect(tall.locator(".msg-head")).not_to_be_in_viewport()
    panel.get_by_test_id("close-thread").tap()
    expect(phone.get_by_test_id("sheet-reply")).to_be_hidden()
    opener = phone.get_by_role("button", name="Open the sidebar")
    opener.tap()
    expect(phone.get_by_test_id("channel-general")).to_be_focused()
    phone.keyboard.press("Escape")
    expect(opener).to_be_focused()
    context.close()


def hold(phone: Page, element: Locator) -> None:
    """A finger on the element until the sheet is there."""
    box = element.bounding_box()
    assert box
    at = [{"x": box["x"] + 5, "y": box["y"] + 5}]
    finger = phone.context.new_cdp_session(phone)
    finger.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": at})
    expect(phone.locator("#message-menu")).to_be_visible()
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def delete_by_keyboard(page: Page, message: Locator) -> None:
    message.focus()
    for key in ("Enter", "ArrowLeft", "Enter", "End"):  # the toolbar, its last button, its menu
        page.keyboard.press(key)
    page.get_by_test_id("delete-message").press("Enter")
    page.get_by_role("button", name="Delete", exact=True).press("Enter")


def test_one_s_own_press_is_followed_and_what_others_write_waits_below(page: Page) -> None:
    """The view goes to the answer that a button far above has brought, and to no other message."""
    page.set_viewport_size({"width": 1400, "height": 480})
    say(page, "what is 9 * 9?", channel="sales")
    finished(page)
    panel = page.get_by_test_id("thread-panel")
    panel.get_by_role("button", name="Regenerate").click()
    expect(panel.get_by_test_id("message")).to_have_count(3)
    finished(page)
    panel.get_by_role("button", name="Go deeper").first.click()  # scrolls up to it
    expect(panel.get_by_test_id("message")).to_have_count(4)
    answer = finished(page)
    expect(answer.get_by_role("button", name="Regenerate")).to_be_in_viewport()

    panel.locator("#replies").evaluate("list => list.scrollTo(0, 0)")
    other = page.context.new_page()
    other.goto(f"{page.url}&user={BEN}".replace(ADA, BEN))
    other.get_by_test_id("thread-composer").fill("I see.")
    other.keyboard.press("Enter")
    pill = panel.get_by_role("button", name="New messages")
    expect(pill).to_be_visible()
    messages_end = panel.locator("#replies").evaluate("it => it.getBoundingClientRect().bottom")
    pill_begins = pill.evaluate("it => it.getBoundingClientRect().top")
    assert pill_begins >= messages_end  # it covers no button of a message
    pill.click()
    expect(panel.get_by_text("I see.")).to_be_in_viewport()


def test_what_one_is_about_outlives_a_change_of_the_channel(page: Page) -> None:
    """An open edit box, its focus and a draft are still there when somebody joins the channel."""
    channel(page, "random")
    said = write(page, "Room 4 is free.")
    page.get_by_test_id("composer").fill("Half a thought")
    said.press("e")
    box = page.get_by_role("textbox", name="Edit message")
    box.press_sequentially(" Ask @Ben.")
    other = page.context.new_page()
    other.goto(f"{page.url.split('?')[0]}?user={BEN}&channel=C0RANDOM01")
    expect(page.get_by_text("is not in this conversation")).to_be_visible()
    write(other, "/invite @Answer Bot")
    expect(page.get_by_text("is not in this conversation")).to_have_count(0)
    expect(page.get_by_test_id("composer")).to_have_value("Half a thought")
    expect(box).to_have_value("Room 4 is free. Ask @Ben.")
    expect(box).to_be_focused()
    box.press("Escape")
    page.get_by_test_id("composer").fill("")
    said.press("t")
    expect(page.get_by_test_id("thread-composer")).to_be_focused()
    said.press("t")  # also where it is open already
    expect(page.get_by_test_id("thread-composer")).to_be_focused()
    for part in ("channel-random", "composer", "thread-composer"):
        page.keyboard.press("F6")
        expect(page.get_by_test_id(part)).to_be_focused()
    gone = "{channel: 'C0RANDOM01', thread: '1.1', tab: 'messages'}"  # as after a restart
    page.evaluate(f"history.pushState({gone}, ''); history.pushState({{}}, ''); history.back()")
    expect(page.get_by_test_id("thread-panel")).to_be_hidden()
