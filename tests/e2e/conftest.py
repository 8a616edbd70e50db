"""Fixtures: `bot dev` in its own process, and headless Chromium on its page."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENT = """
from bot.dev.workspace import core
from bot.__main__ import main
core.TRIGGER_LIFETIME = 60.0
main()
"""
"""`python -m bot` with a workspace that waits for a busy machine to open a modal, as Slack does not."""

SAMPLE = Path(__file__).parents[2] / "bot/dev/page/static/samples/sales.csv"
SCRIPTED = ("--script", str(Path(__file__).with_name("script.yaml")))


def _browser_scope(fixture_name: str, config: pytest.Config) -> Literal["session", "module"]:
    """Share one browser when only this folder is run; otherwise, start one per file.

    Playwright's event loop would disturb async tests of other folders."""
    alone = all("tests/e2e" in each for each in config.args)
    return "session" if alone else "module"


@pytest.fixture(scope=_browser_scope)
def browser() -> Generator[Browser]:
    """Start headless Chromium; skip without one, and fail when CI=true."""
    if CHROMIUM is None:
        missing = "needs Chromium: install the package `chromium`"
        pytest.fail(missing) if os.environ.get("CI") == "true" else pytest.skip(missing)
    expect.set_options(timeout=60_000)  # a chart alone takes 15 s on a busy machine
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield started
        started.close()


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """Yield the page's address of a `bot dev` without settings, whose model follows the script."""
    folder = tmp_path_factory.mktemp("dev")
    with dev_in(folder, *SCRIPTED) as started:
        yield started


@contextmanager
def dev_in(folder: Path, *options: str) -> Generator[str]:
    """Yield the page's address of a `bot dev` with the settings in the folder, if any."""
    keep = ("PATH", "HOME", "LANG", "VIRTUAL_ENV", "PYTHONPATH")
    with subprocess.Popen(
        [sys.executable, "-c", PATIENT, "dev", "--port", "0", *options],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={key: os.environ[key] for key in keep if key in os.environ},
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("Open http://127.0.0.1:"), line
            yield line.split()[1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=40)
    assert process.returncode == 0


@pytest.fixture
def view() -> dict[str, Any]:
    """Return the size of the window, and other options of its tab: the pixels of a good screen for
    pictures."""
    sharp = (
        {"device_scale_factor": 2, "color_scheme": "light"} if os.environ.get("PICTURES") else {}
    )
    return {"viewport": {"width": 1400, "height": 950}, **sharp}


@pytest.fixture
def page(browser: Browser, address: str, view: dict[str, Any]) -> Generator[Page]:
    """Open a new tab on the page; fail the test if one of its scripts fails."""
    # Nothing moves: to draw a spinner again and again takes more time than all else.
    context = browser.new_context(**view, reduced_motion="reduce")
    tab = context.new_page()
    errors: list[str] = []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(address)
    yield tab
    context.close()
    assert errors == []
