"""What people do on the page, and what they wait for.

`PICTURES=docs/pictures pytest tests/e2e` draws the pictures of README.md and docs/slack.md again.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import SAMPLE

ADA, BEN = "U0ADA00001", "U0BEN00001"
FOOTER = re.compile(r"script · \d[\d.,]* (s|min \d+ s) · \S+")


def say(page: Page, text: str, *, channel: str = "general") -> None:
    """Mention the bot in a channel."""
    page.get_by_test_id(f"channel-{channel}").click()
    expect(page.get_by_role("heading", name=f"#{channel}", level=1)).to_be_visible()
    composer = page.get_by_test_id("composer")
    composer.fill(f"@Answer Bot {text}")
    composer.press("Enter")


def reply(page: Page, text: str) -> None:
    """Write in the open thread, without a mention."""
    composer = page.get_by_test_id("thread-composer")
    composer.click()
    composer.press_sequentially(text)
    page.keyboard.press("Enter")


def ask_directly(page: Page, text: str) -> None:
    """Write a direct message to the bot, which is answered right below it."""
    expect(page.get_by_role("textbox", name="Message Answer Bot")).to_be_visible()
    composer = page.get_by_test_id("composer")
    composer.fill(text)
    composer.press("Enter")


def ask_of_sample(page: Page, text: str, channel: str = "general") -> None:
    page.get_by_test_id(f"channel-{channel}").click()
    expect(page.get_by_role("heading", name=f"#{channel}", level=1)).to_be_visible()
    page.get_by_test_id("file-input").set_input_files(SAMPLE)
    say(page, text, channel=channel)


def last_answer(page: Page) -> Locator:
    """Return the newest message of the open thread."""
    return page.get_by_test_id("thread-panel").get_by_test_id("message").last


def finished(page: Page) -> Locator:
    """Return the newest message once it is complete: the footer comes last."""
    answer = last_answer(page)
    expect(answer).to_contain_text(FOOTER)
    return answer


def question(page: Page) -> Locator:
    """Return the first message of the open thread."""
    return page.get_by_test_id("thread-panel").get_by_test_id("message").first


def act_as(page: Page, user: str) -> None:
    """Act as another person; the page reloads for them."""
    with page.expect_response(re.compile("sidebar")):
        page.get_by_test_id("act-as").select_option(value=user)


def choose(answer: Locator, entry: str) -> None:
    """Choose an entry in the menu under an answer."""
    answer.get_by_test_id("overflow").click()
    answer.get_by_role("menuitem", name=entry).click()


def press(page: Page, message: Locator, shortcut: str) -> Locator:
    """Choose a shortcut in a message's menu. Return the modal that opens."""
    message.hover()
    message.get_by_test_id("message-menu").click()
    page.get_by_test_id(f"shortcut-{shortcut}").click()
    return page.get_by_test_id("modal")


def home(page: Page) -> Locator:
    """Open the Home tab. Return it."""
    page.get_by_test_id("dm-bot").click()
    page.get_by_test_id("home-tab").click()
    return page.get_by_test_id("home")


def draw(page: Page, name: str, area: Locator, *, until: Locator | None = None) -> None:
    """Write a picture of `area`, down to the end of `until`, if pictures are wanted."""
    folder = os.environ.get("PICTURES")
    if not folder:
        return
    from PIL import Image

    page.mouse.move(0, 0)  # nothing is shown as being pointed at
    box = area.bounding_box()
    assert box is not None
    if until is not None:
        last = until.bounding_box()
        assert last is not None
        box["height"] = last["y"] + last["height"] + 12 - box["y"]
    picture = Image.open(io.BytesIO(page.screenshot(clip=box)))
    # 64 colours are enough for a page of text, and take a third of the bytes.
    picture.convert("RGB").quantize(64).save(Path(folder) / f"{name}.png", optimize=True)
