"""What begins at once loads no SDK: help, the loop, and settings; a process that serves loads what it uses."""

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
    assert not _loaded_by(code) & (_SDKS | also)


def test_a_process_that_serves_loads_what_it_uses() -> None:
    """Issue 40: each of these takes from 0.5 to 11 MB, and is loaded where it is first needed."""
    code = (
        "import bot.cli.processes, bot.app.process, bot.runs.queue.docket\n"
        "from bot.model import PriceList\n"
        "from bot.model.client import sdk_client\n"
        "sdk_client('key', None), PriceList().window('gpt-5.4-mini')"
    )
    unused = {
        "babel.messages",  # English readers need no catalogue
        "beartype",  # docket's store of results
        "bot.evals",  # trials of admins
        "bot.library.documents.reports.pdf",
        "cryptography.fernet",  # no keys
        "duckdb",
        "genai_prices.data",  # read, and given back
        "httpcore2._async",
        "jsonschema",
        "matplotlib",
        "mcp",
        "openai.resources",
        "openai.types.responses",
        "opentelemetry.sdk.metrics",
        "rich",
        "yaml",  # no skills
    }
    assert not _loaded_by(code) & unused


def test_the_rest_of_an_sdk_is_there_for_who_asks() -> None:
    """A tool of the operator may use OpenAI's SDK, whose front the bot leaves out."""
    code = (
        "from bot.model import sdk\n"
        "import openai, openai.types\n"
        "from openai import *\n"
        "from openai.types import responses\n"
        "assert AsyncOpenAI is openai.AsyncOpenAI is sdk.AsyncOpenAI\n"
        "assert openai.types.responses.Response is responses.Response\n"
        "assert openai.OpenAI(api_key='key').responses and openai.APIError is sdk.APIError"
    )
    assert "openai.resources" in _loaded_by(code)


def _loaded_by(code: str) -> set[str]:
    """The modules that are loaded after `code` ran in a process of its own."""
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    return set(subprocess.check_output(command, text=True).splitlines()[-1].split())
