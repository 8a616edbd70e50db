"""What README.md says is true: its examples run."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from bot.commands import cli
from bot.settings import load_settings

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    """The fenced examples in one language."""
    return re.findall(rf"```{language}\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


async def test_the_tool_of_the_readme_works() -> None:
    """A newcomer copies it; it must run as it stands."""
    [example] = blocks("python")
    scope: dict[str, object] = {"__name__": "tools.units"}
    exec(compile(example, "tools/units.py", "exec"), scope)
    made = scope["miles_to_kilometres"].tool  # type: ignore[attr-defined]
    result = await made.run(made.arguments(miles=2), {})
    assert result.content == "3.219 km"


def test_the_settings_of_the_readme_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each key of the example is one that exists."""
    example = "\n".join(blocks("toml"))
    path = tmp_path / "bot.toml"
    path.write_text(example, "utf-8")
    monkeypatch.setenv("BOT_CONFIG", str(path))
    settings = load_settings(_env_file=None)
    given = tomllib.loads(example)
    assert settings.limits.turns == given["limits"]["turns"]
    assert settings.databases["shop"].description == given["databases"]["shop"]["description"]
    assert settings.model.reasoning == "medium"
    assert settings.mcp_servers["tickets"].takes("get_one")


def test_every_command_of_the_readme_exists() -> None:
    """`bot something` in the text is a command of the program."""
    commands = set(get_command(cli).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"`bot ([\w-]+)", README.read_text("utf-8")))
    assert named
    assert named <= commands


def test_slacks_own_command_line_finds_what_it_asks_for() -> None:
    """`slack run` reads .slack/hooks.json: its commands exist, and the manifest is JSON on stdout."""
    hooks = json.loads((README.parent / ".slack" / "hooks.json").read_text("utf-8"))["hooks"]
    commands = get_command(cli).commands  # type: ignore[attr-defined]
    for hook in hooks.values():
        program = hook.split()
        assert program[:3] == ["python3", "-m", "bot"]
        assert program[3] in commands
    shown = CliRunner().invoke(cli, hooks["get-manifest"].split()[3:])
    assert json.loads(shown.stdout)["display_information"]["name"]
