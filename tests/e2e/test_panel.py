"""The agent's pane and workflow steps: suggested prompts, the open channel, inputs and outputs."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.test_first_answer import finished
from tests.e2e.test_shortcuts import ADA, BEN, act_as, press

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


def test_prompts_fit_what_is_open_and_one_click_asks(page: Page) -> None:
    """The prompts fit the pane alone, or name the channel that is open beside it."""
    act_as(page, BEN)
    page.get_by_test_id("dm-bot").click()
    prompts = page.get_by_test_id("prompts")
    expect(prompts.get_by_role("button")).to_have_count(3)
    expect(prompts).to_contain_text("Remember that")
    page.get_by_test_id("beside").select_option(label="Next to #sales")
    expect(prompts).to_contain_text("What was said in #sales today?")
    prompts.get_by_role("button", name="still open").click()
    panel = page.get_by_test_id("thread-panel")
    expect(panel.get_by_test_id("status")).to_contain_text("Bot")
    expect(panel).to_contain_text("Which questions in #sales are still open?")
    finished(page)
    expect(panel.get_by_test_id("status")).to_be_empty()
    page.get_by_test_id("beside").select_option(label="Next to no channel")
    expect(prompts).to_contain_text("Remember that")
    page.get_by_test_id("beside").select_option(label="Next to #sales")
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
    page.get_by_test_id("modal-submit").click()
    private = page.get_by_test_id("message").filter(has_text="Only visible to you")
    alone = private.filter(has_text="1,078.8")
    expect(alone).to_be_visible()
    act_as(page, BEN)
    expect(message).to_be_visible()
    expect(page.get_by_text("1,078.8")).to_have_count(0)
    act_as(page, ADA)
    alone.get_by_role("button", name="Post it in the thread").click()
    expect(alone).to_have_count(0)
    act_as(page, BEN)
    message.get_by_test_id("replies").click()
    panel = page.get_by_test_id("thread-panel")
    expect(panel).to_contain_text("shared my answer")
    expect(panel).to_contain_text("1,078.8")
