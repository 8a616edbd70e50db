"""What begins at once loads no SDK: help, the loop, and settings."""

from __future__ import annotations

import subprocess
import sys

import pytest

_SDKS = {"openai", "slack_bolt", "slack_sdk", "duckdb", "mcp", "docket", "jsonschema", "matplotlib"}


@pytest.mark.parametrize(
    ("code", "also"),
    [
        ("import bot.agent.loop", {"redis", "aiohttp"}),
        ("import bot.settings", {"aiohttp"}),
        (
            "import sys; sys.argv = ['bot', '--help']\n"
            "from bot.__main__ import main\n"
            "try: main()\n"
            "except SystemExit: pass",
            {"asyncio", "pydantic", "redis", "aiohttp", "bot.settings"},
        ),
    ],
    ids=["loop", "settings", "help"],
)
def test_fronts_load_no_sdk(code: str, also: set[str]) -> None:
    """Issue 34: option classes live without code, and heavy libraries load where they are used."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    loaded = set(subprocess.check_output(command, text=True).splitlines()[-1].split())
    assert not loaded & (_SDKS | also)
