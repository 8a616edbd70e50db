"""What README.md and docs/ say is true: their examples run, and every setting is there."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import tomllib
import typing
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter
from typer.main import get_command
from typer.testing import CliRunner

from bot.cli import cli
from bot.core.answers import Answer
from bot.core.outcome import Outcome, Totals
from bot.features.commands.settings import BeforeToolCommand
from bot.mcp.config import McpOAuth
from bot.model import ModelChoice
from bot.settings import Settings, Tables, load_settings
from bot.testing import run_tool
from docs.examples.crm_tools.fake_crm import TOKEN, running_crm

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
TOOLS = ROOT / "docs" / "tools.md"
SETTINGS = ROOT / "docs" / "settings.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
NOT_FOR_OPERATORS = {"bot_failpoints"}  # which only the tests of faults set


def blocks(page: Path, language: str) -> list[str]:
    """The fenced examples in one language."""
    return re.findall(rf"```{language}\n(.*?)```", page.read_text("utf-8"), re.DOTALL)


async def test_the_tool_of_the_readme_works() -> None:
    """A newcomer copies it; it must run as it stands."""
    [example] = blocks(README, "python")
    scope: dict[str, object] = {"__name__": "tools.units"}
    exec(compile(example, "tools/units.py", "exec"), scope)
    made = scope["miles_to_kilometres"].tool  # type: ignore[attr-defined]
    result = await made.run(made.arguments(miles=2), {})
    assert result.content == "3.219 km"


async def test_the_tool_and_the_tests_of_docs_tools_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool author copies both; the tests must pass as they stand."""
    tool, tests = blocks(TOOLS, "python")[0], blocks(TOOLS, "python")[-1]
    module = ModuleType("tools.units")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(tool, "tools/units.py", "exec"), module.__dict__)
    scope: dict[str, Any] = {}
    exec(compile(tests, "test_units.py", "exec"), scope)
    examples = [made for name, made in scope.items() if name.startswith("test_")]
    assert len(examples) == 3
    for example in examples:
        running = example()
        if running is not None:
            await running


async def test_the_own_client_of_docs_tools_works() -> None:
    """The provider opens it with the token, and the tool asks a server with it."""
    module = ModuleType("crm_of_the_page")
    exec(compile(blocks(TOOLS, "python")[1], "crm.py", "exec"), module.__dict__)
    async with (
        running_crm() as server,
        module.open_crm.opened(url=str(server.make_url("")), token=TOKEN) as client,
    ):
        found = await run_tool(module.find_tickets, {"query": "printer"}, {module.Crm: client})
    assert "The printer is on fire" in found.content


def test_the_settings_of_the_examples_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And each key of the examples is one that exists."""
    path = tmp_path / "bot.toml"
    monkeypatch.setenv("BOT_CONFIG", str(path))
    to_try, to_adapt = blocks(README, "toml")
    path.write_text(to_try, "utf-8")
    assert load_settings(_env_file=None).mcp_servers["clock"].args == ("mcp-server-time",)
    monkeypatch.setenv("TICKETS_TOKEN", "t")
    path.write_text(f"{to_try}\n{to_adapt}", "utf-8")
    servers = load_settings(_env_file=None)
    assert servers.mcp_servers["tickets"].allows("get_one")
    assert servers.access.open_servers == ("tickets",)
    example = "\n".join(blocks(SETTINGS, "toml"))
    path.write_text(example, "utf-8")
    settings = load_settings(_env_file=None)
    given = tomllib.loads(example)
    assert settings.limits.turns == given["limits"]["turns"]
    assert settings.databases["shop"].description == given["databases"]["shop"]["description"]
    assert settings.model.reasoning == "medium"


def tables_of_the_page() -> dict[str, dict[str, str]]:
    """The default of each key, as docs/settings.md writes it, by the heading above its table."""
    found: dict[str, dict[str, str]] = {}
    heading = ""
    for line in SETTINGS.read_text("utf-8").splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        elif row := re.match(r"\| `(\w+)` \| (?:`(.*?)`|(required)|) ?\|", line):
            name, default, required = row.groups()
            found.setdefault(heading, {})[name] = default or required or ""
    return found


def written(value: Any) -> str:
    """A default as the page writes it: a text bare, all else as in TOML; nothing for None or ""."""
    if value is None or value == "":
        return ""
    plain = TypeAdapter(Any).dump_python(value, mode="json")
    return plain if isinstance(plain, str) else json.dumps(plain)


def keys(table: Any) -> dict[str, str]:
    """The keys of a table of bot.toml, a model or a dataclass, and their defaults."""
    if dataclasses.is_dataclass(table):
        return {each.name: written(each.default) for each in dataclasses.fields(table)}
    return {
        name: "required" if field.is_required() else written(field.get_default())
        for name, field in table.model_fields.items()
    }


def table_class(name: str) -> Any:
    """The class of a table of bot.toml, within `dict[str, …]` or `… | None`."""
    annotation = Tables.model_fields[name].annotation
    inner = [each for each in typing.get_args(annotation) if each not in (str, type(None))]
    return inner[0] if inner else annotation


HEADINGS = {
    "channels": "[channels.ID]",
    "databases": "[databases.NAME]",
    "profiles": "[profiles.NAME]",
    "mcp_servers": "[mcpServers.NAME]",
    "hooks": "[[hooks.before_tool]] and [[hooks.after_tool]]",
}


def test_docs_name_every_setting_with_its_default() -> None:
    """An operator looks there, not into the code; a setting that is gone is not there either."""
    tables = {
        HEADINGS.get(name, f"[{name}]"): keys(table_class(name))
        for name in Tables.model_fields
        if name not in ("features", "reactions")  # whose keys packages and operators name
    }
    tables[HEADINGS["hooks"]] = keys(BeforeToolCommand)
    tables["[[model.choices]]"] = keys(ModelChoice)
    del tables[HEADINGS["mcp_servers"]]["oauth"]  # a table of its own
    tables["[mcpServers.NAME.oauth]"] = keys(McpOAuth)
    del tables[HEADINGS["channels"]]["version"]  # of what is stored
    others = {
        name: field
        for name, field in Settings.model_fields.items()
        if name not in Tables.model_fields
    }
    environment = {
        name.upper(): written(field.get_default())
        for name, field in others.items()
        if name not in NOT_FOR_OPERATORS
    }
    assert tables_of_the_page() == tables | {
        "Environment": environment | {"BOT_CONFIG": "bot.toml", "BOT_SECRETS_DIR": "/run/secrets"}
    }


def test_docs_name_every_field_of_the_json() -> None:
    """A script's author looks there; a field that is gone is not there either."""
    page = (ROOT / "docs" / "scripts.md").read_text("utf-8")
    tables = page.split("| --- | --- |\n")[2:]
    rows = [re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for table in tables]
    named = [re.findall(r"`(\w+)`", " ".join(each)) for each in rows]
    models: tuple[type[BaseModel], ...] = (Outcome, Answer, Totals)
    for fields, model in zip(named, models, strict=True):
        assert sorted(fields) == sorted(model.model_fields)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_of_the_docs_exists(page: Path) -> None:
    """`bot something` in the text is a command of the program."""
    commands = set(get_command(cli).commands)  # type: ignore[attr-defined]
    named = set(re.findall(r"`bot ([\w-]+)", page.read_text("utf-8")))
    assert named <= commands


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_the_docs_leads_somewhere(page: Path) -> None:
    """To a file of the repository, and to a heading of it where one is named. Pictures are small."""
    text = page.read_text("utf-8")
    for picture in re.findall(r'src="([^"]+)"', text):
        assert (page.parent / picture).stat().st_size <= 150_000, picture
    links = re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)", text)
    for path, heading in links:
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if heading:
            titles = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in titles}
            assert heading in slugs, f"{path}#{heading}"


@pytest.mark.parametrize("page", [README, TOOLS], ids=lambda page: page.name)
def test_a_page_is_short(page: Path) -> None:
    """They are for busy people: operators and tool authors."""
    assert len(page.read_text("utf-8").split()) <= 900


def test_slacks_own_command_line_finds_what_it_asks_for() -> None:
    """`slack run` reads .slack/hooks.json: its commands exist, and the manifest is JSON on stdout."""
    hooks = json.loads((ROOT / ".slack" / "hooks.json").read_text("utf-8"))["hooks"]
    commands = get_command(cli).commands  # type: ignore[attr-defined]
    for hook in hooks.values():
        program = hook.split()
        assert program[:3] == ["python3", "-m", "bot"]
        assert program[3] in commands
    shown = CliRunner().invoke(cli, hooks["get-manifest"].split()[3:])
    assert json.loads(shown.stdout)["display_information"]["name"]
