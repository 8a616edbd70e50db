"""The page without a model key: the first minute of the README."""

from __future__ import annotations

from collections.abc import Generator

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import dev_in

pytestmark = [pytest.mark.browser, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with dev_in(tmp_path_factory.mktemp("demo")) as started:
        yield started


def test_an_example_is_answered_by_the_demo_and_says_what_to_set(page: Page) -> None:
    """The page says that it is a demo; one click attaches the table, and real tools read it."""
    expect(page.get_by_role("status").first).to_contain_text("OPENAI_API_KEY")
    page.get_by_test_id("channel-sales").click()
    expect(page.get_by_role("heading", name="#sales", level=1)).to_be_visible()
    page.get_by_test_id("example-1").click()
    composer = page.get_by_test_id("composer")
    expect(composer).not_to_be_empty()
    composer.press("Enter")
    answer = page.get_by_test_id("thread-panel").get_by_test_id("message").last
    expect(answer).to_contain_text("Demo: ")
    expect(answer).to_contain_text("OPENAI_BASE_URL")
    expect(answer.locator("table").first).to_contain_text("108,226")
    expect(answer.get_by_role("link", name="sales.csv")).to_be_visible()
