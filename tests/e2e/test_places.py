"""Places beside the answers: the Home tab, the agent's pane, a workflow step, answers for one person."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.steps import ADA, BEN, FOOTER, act_as, choose, draw, finished, home, press, say

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_people_take_back_what_is_remembered_and_say_how_to_be_answered(page: Page) -> None:
    """People see their memories with Forget, which asks first, and settings that apply from then on;
    no admin section. Home is in the language that one chooses, which stays."""
    act_as(page, BEN)
    page.get_by_test_id("dm-bot").click()
    page.get_by_test_id("prompts").get_by_role("button", name="short answers").click()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text(FOOTER)  # right below the question

    for _ in range(
        40
    ):  # the answer above may be an earlier one, and Home is drawn when it is opened
        tab = home(page)
        if "I like short answers" in tab.inner_text():
            break
        page.wait_for_timeout(500)
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
    modal.get_by_role("textbox").fill("Briefly, amounts in <EUR>.")
    modal.get_by_text("Only to me").click()
    page.get_by_test_id("modal-submit").click()
    expect(modal).to_have_count(0)
    expect(tab).to_contain_text("Briefly, amounts in <EUR>.")
    draw(page, "home", tab)

    page.get_by_test_id("language").select_option(label="Deutsch")
    expect(tab).to_contain_text("Deine Einstellungen")
    act_as(page, ADA)
    expect(page.get_by_test_id("language")).to_have_value("en-US")
    act_as(page, BEN)
    expect(page.get_by_test_id("language")).to_have_value("de-DE")
    page.reload()
    expect(page.get_by_test_id("language")).to_have_value("de-DE")
    expect(tab).to_contain_text("Deine Einstellungen")
    page.get_by_test_id("language").select_option(label="English")
    expect(tab).to_contain_text("Your settings")

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
    choice = tab.locator("[data-block=channel_choice]")
    expect(choice).to_be_visible()  # as just opened
    choice.get_by_role("combobox").select_option(label=channel)
    return page.get_by_test_id("modal")


def test_an_admin_says_who_may_ask_in_a_channel_and_takes_it_back(page: Page) -> None:
    """The tab opens by its link, for a person who never opened it, and for whoever one acts as next.
    Errors appear at their field; saved settings apply to the next question; Reset restores bot.toml.
    Pausing asks first."""
    page.goto(f"{page.url.split('?')[0]}?channel=D0BEN00001&user={BEN}&tab=home")
    tab = page.get_by_test_id("home")
    expect(tab).to_contain_text("Your usage")
    expect(tab).not_to_contain_text("For admins")
    act_as(page, ADA)
    expect(tab).to_contain_text("For admins")
    tab.get_by_role("button", name="Pause the bot").click()
    expect(page.get_by_role("dialog")).to_contain_text("Pause for everybody?")
    page.keyboard.press("Escape")
    form = channel_form(page, "#partners")
    form.get_by_role("textbox", name="Instructions for this channel").fill("Answer in Latin.")
    form.get_by_role("textbox", name="Allowed tools").fill("time, teleport")
    form.get_by_role("spinbutton", name="Maximum steps").fill("0")
    page.get_by_test_id("modal-submit").click()
    expect(form.locator("[data-error-for=turns]")).to_contain_text("at least 1")
    form.get_by_role("spinbutton", name="Maximum steps").fill("9")
    day = form.get_by_role("spinbutton", name="Maximum dollars per day in this channel")
    day.fill("0.001")
    day.evaluate("field => field.scrollIntoView(false)")  # at the lower edge
    page.get_by_test_id("modal-submit").click()
    too_little = form.get_by_text("Must be at least 0.01")
    expect(too_little).to_be_in_viewport(ratio=1)  # not below the foot of the form
    day.fill("")
    page.get_by_test_id("modal-submit").click()
    expect(form.locator("[data-error-for=tools]")).to_contain_text("teleport")
    form.get_by_role("textbox", name="Allowed tools").fill("time")
    form.get_by_role("checkbox", name="Eve External").check()
    form.get_by_text("Every change").click()
    page.get_by_test_id("modal-submit").click()
    expect(form).to_have_count(0)

    say(page, "what is 6 * 7?", channel="partners")
    expect(page.get_by_text("questions from people on a list")).to_be_visible()

    form = channel_form(page, "#partners")
    instructions = form.get_by_role("textbox", name="Instructions for this channel")
    expect(instructions).to_have_value("Answer in Latin.")
    expect(form.get_by_role("radio", name="Every change")).to_be_checked()
    form.get_by_role("button", name="Reset to bot.toml").click()
    page.get_by_role("button", name="Reset", exact=True).click()
    expect(form).to_contain_text("the settings of bot.toml again")
    form.get_by_test_id("modal-close").click()
    say(page, "what is 6 * 7?", channel="partners")
    expect(finished(page)).to_contain_text("42")


def test_prompts_fit_what_is_open_and_fill_the_composer(page: Page) -> None:
    """The prompts fit the pane alone, or name the channel that is open beside it. The answer is right
    below the question, and no empty thread opens. A sample can be attached at any time."""
    act_as(page, BEN)
    page.get_by_test_id("dm-bot").click()
    prompts = page.get_by_test_id("prompts")
    expect(prompts.get_by_role("button")).to_have_count(3)
    expect(prompts).to_contain_text("Remember that")
    page.get_by_test_id("beside").select_option(label="#sales open")
    expect(prompts).to_contain_text("What was said in #sales today?")
    prompts.get_by_role("button", name="still open").click()
    expect(page.get_by_test_id("composer")).to_have_value(
        "Which questions in #sales are still open?"
    )
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("Which questions in #sales are still open?")
    expect(page.locator("main")).to_contain_text(FOOTER)  # right below the question
    expect(page.get_by_test_id("thread-panel")).to_be_hidden()
    page.get_by_test_id("samples").click()  # at any time
    page.get_by_test_id("sample-minutes.pdf").click()
    expect(page.locator("main [data-attached]")).to_contain_text("minutes.pdf")
    page.get_by_test_id("beside").select_option(label="No channel open")
    expect(prompts).to_contain_text("Remember that")
    page.get_by_test_id("beside").select_option(label="#sales open")
    expect(prompts).to_contain_text("What was said in #sales today?")
    page.get_by_test_id("dm-bot").click()  # opened anew it is by itself
    expect(prompts).to_contain_text("Remember that")
    expect(page.get_by_test_id("beside")).to_have_value("")


def test_a_step_of_a_workflow_returns_outputs_or_says_why_not(page: Page) -> None:
    """The step shows all its outputs under their titles; an unusable schema fails the step."""
    page.get_by_test_id("shortcuts").click()
    page.get_by_test_id("open-step-answer_question").click()
    step = page.get_by_test_id("step-answer_question")
    page.get_by_test_id("run-step").click()
    expect(step.get_by_role("textbox", name="Question")).to_be_focused()  # it is required
    step.get_by_role("textbox", name="Question").fill("What is 18% of 24,350?")
    page.get_by_test_id("run-step").click()
    outputs = page.get_by_test_id("outputs")
    expect(outputs).to_contain_text("The step is done")
    expect(outputs.locator("[data-output=answer]")).to_have_text("18% of 24,350 = 4,383")
    expect(outputs.locator("[data-output=data]")).to_contain_text('"summary"')
    expect(outputs.locator("[data-output=complete]")).to_have_text("yes")

    schema = step.get_by_role("textbox", name="JSON schema")
    schema.fill('{"type": "object", "properties": {"total": {"type": "number"}}}')
    page.get_by_test_id("run-step").click()
    expect(outputs.locator("[data-output=data]")).to_contain_text('"total": 4383')

    schema.fill("{")
    page.get_by_test_id("run-step").click()
    expect(outputs).to_contain_text("The step failed.")
    expect(outputs).to_contain_text("schema")
    step.get_by_role("button", name="Close").last.click()
    expect(step).to_be_hidden()


def test_what_one_saw_alone_is_posted_by_its_button(page: Page) -> None:
    """Nobody else sees the answer before; then it is posted in the thread, marked as shared."""
    act_as(page, ADA)
    page.get_by_test_id("composer").fill("Each of the 12 instalments is 89.90.")
    page.keyboard.press("Enter")
    message = page.get_by_test_id("message").filter(has_text="instalments is 89.90").first
    modal = press(page, message, "ask_about_message")
    modal.get_by_role("textbox").fill("What is 12 * 89.90?")
    modal.get_by_text("Only to me").click()
    draw(page, "shortcut", modal)
    page.get_by_test_id("modal-submit").click()
    private = page.get_by_test_id("message").filter(has_text="Only visible to you")
    alone = private.filter(has_text="1,078.8")
    expect(alone).to_be_visible()
    act_as(page, BEN)
    expect(message).to_be_visible()
    expect(page.get_by_text("1,078.8")).to_have_count(0)
    act_as(page, ADA)
    choose(alone, "Post it in the thread")
    expect(alone).to_have_count(0)
    act_as(page, BEN)
    message.get_by_test_id("replies").click()
    panel = page.get_by_test_id("thread-panel")
    expect(panel).to_contain_text("shared my answer")
    expect(panel).to_contain_text("1,078.8")
