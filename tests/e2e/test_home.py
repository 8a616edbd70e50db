"""The Home tab: memories, schedules and settings of a person, and channel settings for admins."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_first_answer import finished, last_answer, say
from tests.e2e.test_shortcuts import ADA, BEN, act_as, press

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def home(page: Page) -> Locator:
    page.get_by_test_id("dm-bot").click()
    page.get_by_test_id("home-tab").click()
    return page.get_by_test_id("home")


def test_people_take_back_what_is_remembered_and_say_how_to_be_answered(page: Page) -> None:
    """People see their memories with Forget, which asks first, and settings that apply from then on;
    no admin section."""
    act_as(page, BEN)
    page.get_by_test_id("dm-bot").click()
    page.get_by_test_id("prompts").get_by_role("button", name="short answers").click()
    finished(page)

    tab = home(page)
    expect(tab).to_contain_text("I like short answers")
    expect(tab).not_to_contain_text("For admins")
    tab.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("dialog")).to_contain_text("I like short answers")
    page.get_by_role("button", name="Keep it").click()
    expect(tab).to_contain_text("I like short answers")
    tab.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Forget it").click()
    expect(tab).to_contain_text("Nothing yet")
    expect(tab).not_to_contain_text("I like short answers")

    tab.get_by_role("button", name="Change").click()
    modal = page.get_by_test_id("modal")
    modal.get_by_role("textbox").fill("In <French>, please.")
    modal.get_by_text("Only to me").click()
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    expect(tab).to_contain_text("In <French>, please.")

    page.get_by_test_id("channel-sales").click()
    page.get_by_test_id("composer").fill("We sold twelve umbrellas.")
    page.keyboard.press("Enter")
    said = page.get_by_test_id("message").filter(has_text="twelve umbrellas")
    modal = press(page, said, "ask_about_message")
    expect(modal.get_by_role("radio", name="Only to me")).to_be_checked()


def channel_form(page: Page, channel: str) -> Locator:
    tab = home(page)
    expect(tab).to_contain_text("For admins")
    expect(tab).to_contain_text("Budgets")
    expect(tab).to_contain_text("Tools:")
    expect(tab.locator("[data-block=channel_choice]")).to_be_visible()  # as just opened
    tab.get_by_role("combobox").select_option(label=channel)
    return page.get_by_test_id("modal")


def test_an_admin_says_who_may_ask_in_a_channel_and_takes_it_back(page: Page) -> None:
    """Errors appear at their field; saved settings apply to the next
    question; Reset restores bot.toml."""
    act_as(page, ADA)
    form = channel_form(page, "#partners")
    form.get_by_role("textbox", name="What I should know about").fill("Answer in Latin.")
    form.get_by_role("textbox", name="The only tools").fill("time, teleport")
    form.get_by_role("spinbutton", name="Maximum steps").fill("0")
    page.get_by_test_id("modal-submit").click()
    expect(form.locator("[data-error-for=turns]")).to_contain_text("at least 1")
    form.get_by_role("spinbutton", name="Maximum steps").fill("9")
    day = form.get_by_role("spinbutton", name="Maximum dollars per day for all questions here")
    day.fill("0.001")
    day.evaluate("field => field.scrollIntoView(false)")  # at the lower edge
    page.get_by_test_id("modal-submit").click()
    too_little = form.get_by_text("Must be at least 0.01")
    expect(too_little).to_be_in_viewport(ratio=1)  # not below the foot of the form
    day.fill("")
    page.get_by_test_id("modal-submit").click()
    expect(form.locator("[data-error-for=tools]")).to_contain_text("teleport")
    form.get_by_role("textbox", name="The only tools").fill("time")
    form.get_by_role("checkbox", name="Eve External").check()
    form.get_by_text("Everything that makes changes").click()
    page.get_by_test_id("modal-submit").click()
    expect(form).to_have_count(0)

    say(page, "what is 6 * 7?", channel="partners")
    expect(page.get_by_text("from the people that an admin has listed")).to_be_visible()

    form = channel_form(page, "#partners")
    instructions = form.get_by_role("textbox", name="What I should know about")
    expect(instructions).to_have_value("Answer in Latin.")
    expect(form.get_by_role("radio", name="Everything that makes changes")).to_be_checked()
    form.get_by_role("button", name="Reset to bot.toml").click()
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(form).to_contain_text("the settings of bot.toml again")
    form.get_by_test_id("modal-close").click()
    say(page, "what is 6 * 7?", channel="partners")
    expect(finished(page)).to_contain_text("42")


def test_pausing_for_everybody_asks_first(page: Page) -> None:
    act_as(page, ADA)
    tab = home(page)
    tab.get_by_role("button", name="Pause me").click()
    expect(page.get_by_role("dialog")).to_contain_text("Pause me for everybody?")
    page.keyboard.press("Escape")
    say(page, "what is 5 * 5?", channel="sales")
    expect(finished(page)).to_contain_text("25")
    expect(last_answer(page)).not_to_contain_text("paused")


def test_the_home_tab_opens_by_its_link(page: Page) -> None:
    """The link also works for a person who has never opened the tab."""
    page.goto(f"{page.url.split('?')[0]}?channel=D0BEN00001&user={BEN}&tab=home")
    expect(page.get_by_test_id("home")).to_contain_text("How to ask")


def test_home_is_there_for_whoever_one_acts_as_next(page: Page) -> None:
    """Each person gets their own tab, built when they open it."""
    act_as(page, ADA)
    tab = home(page)
    expect(tab).to_contain_text("For admins")
    act_as(page, BEN)
    expect(tab).to_contain_text("What your questions have cost")
    expect(tab).not_to_contain_text("For admins")
