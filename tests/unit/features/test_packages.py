"""Features of installed packages: found by their entry point, with their settings, or one line.

The example of docs/features.md is built, installed, and takes part in a bot.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
import tomllib
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from bot.app.entry_points import FEATURES_GROUP
from bot.app.features import all_features, operator_parts
from bot.app.tool_loading import _loaded, catalogue
from bot.core.errors import ConfigurationError, ToolDefinitionError
from bot.dev.model import Script, finish
from bot.dev.workspace import ADA
from bot.features import Feature
from bot.settings import Settings
from bot.telemetry.metrics import Metrics
from tests.support.deployment import deployed
from tests.support.runs import answer
from tests.unit.test_commands import bot
from tests.unit.test_tool_package import built, install_wheel

ROOT = Path(__file__).parents[3]
EXAMPLE, PAGE = ROOT / "docs" / "examples" / "house_style", ROOT / "docs" / "features.md"
SALES = "C0SALES001"
OF_OURS = {"surfaces", "mcp_doors", "may_have", "off"}
"""Fields for what only one of our own features does."""

GREETING = """
from pydantic import BaseModel, Field
from bot.features import Feature, OperatorPart

class Greeting(BaseModel):
    word: str

def greeting(settings: Greeting) -> Feature:
    return Feature(settings.word)

class Reserved(BaseModel):
    begin: int = Field(alias="from")

def reserved(settings: Reserved) -> Feature:
    assert settings.begin == 9
    return Feature("greeting")

def nothing() -> Feature:
    return None

def two(one: str) -> Feature:
    return Feature("greeting")

class Broken(OperatorPart):
    async def checks(self, stores):
        raise KeyError("checks")

    async def usage_lines(self, stores):
        raise KeyError("usage")

    async def end_person(self, stores, user):
        raise KeyError("ends")

def broken() -> Feature:
    return Feature("greeting", operator_part=Broken())

NUMBER = 1
"""

TOOLS = """
from typing import Protocol

from bot.toolkit import Provided, tool


class Words(Protocol):
    "What the feature offers."


@tool(group="house", summary="Greet")
def greet(words: Provided[Words]) -> str:
    "Greet."
    return "Hello"
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder from which packages are imported, with one in it."""
    (tmp_path / "greeting_of_test.py").write_text(GREETING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "greeting_of_test", raising=False)
    return tmp_path


def install(place: Path, entry: str, package: str = "greeting-of-test") -> None:
    """Make `place` a folder with an installed package of this entry point."""
    facts = place / f"{package.replace('-', '_')}-1.0.dist-info"
    facts.mkdir(exist_ok=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[slack_answer_bot.features]\ngreeting = {entry}\n")


def names(table: Mapping[str, Any] | None = None, name: str = "greeting") -> list[str]:
    """The names of all features with this table in bot.toml, those of the operator's commands last."""
    tables = {} if table is None else {name: dict(table)}
    return [feature.name for feature in all_features(Settings(_env_file=None, features=tables))]


def test_a_feature_of_a_package_has_its_settings_and_comes_after_ours(place: Path) -> None:
    install(place, "greeting_of_test:greeting")
    assert names({"word": "greeting"})[-2] == "greeting"


def test_a_tool_may_ask_for_what_the_feature_of_its_package_offers(place: Path) -> None:
    """The bot need not know the type; without the feature it would not start."""
    (place / "greeting_tools.py").write_text(TOOLS)
    facts = place / "greeting_of_test-1.0.dist-info" / "entry_points.txt"
    install(place, "greeting_of_test:greeting")
    tools = "[slack_answer_bot.tools]\ngreet = greeting_tools\n"
    try:
        for features, fits in ((facts.read_text(), True), ("", False)):
            facts.write_text(features + tools)
            _loaded.cache_clear()
            with (
                nullcontext()
                if fits
                else pytest.raises(ToolDefinitionError, match="provides Words")
            ):
                assert catalogue().get("greet")
    finally:
        _loaded.cache_clear()


def test_a_setting_may_have_a_name_that_python_reserves(place: Path) -> None:
    install(place, "greeting_of_test:reserved")
    assert names({"from": 9})[-2] == "greeting"


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ({"word": 1}, r"features\.greeting\.word: must be a text"),
        ({}, r"features\.greeting\.word: is missing"),
        ({"word": "greeting", "wrd": 1}, r"features\.greeting\.wrd: there is no such key"),
    ],
)
def test_a_wrong_setting_of_a_package_is_one_line(
    place: Path, table: dict[str, Any], wrong: str
) -> None:
    install(place, "greeting_of_test:greeting")
    with pytest.raises(ConfigurationError, match=f"^Wrong setting: {wrong}"):
        names(table)


def test_a_table_of_no_feature_is_one_line() -> None:
    with pytest.raises(ConfigurationError, match=r"features\.gone: no installed package"):
        names({}, "gone")


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ("greeting_of_test:NUMBER", "it must name a function"),
        ("greeting_of_test:nothing", "must return a Feature with the name greeting"),
        ("greeting_of_test:greeting", "must return a Feature with the name greeting"),
        ("greeting_of_test:two", "two must have no parameter, or one whose type is"),
        ("greeting_of_test:gone", "AttributeError"),
        ("nowhere_of_test:greeting", "ModuleNotFoundError: No module named 'nowhere_of_test'"),
        ("broken_of_test:greeting", "ZeroDivisionError"),
    ],
)
def test_a_mistake_names_the_package_and_its_place(place: Path, entry: str, line: str) -> None:
    (place / "broken_of_test.py").write_text("1 / 0\n")
    install(place, entry)
    with pytest.raises(ToolDefinitionError, match=f"^package greeting-of-test, .*{line}") as error:
        names({"word": "another"})
    assert "\n" not in str(error.value)


def test_two_features_of_one_name_are_refused(place: Path) -> None:
    install(place, "greeting_of_test:greeting")
    install(place, "greeting_of_test:greeting", "another-of-test")
    with pytest.raises(ToolDefinitionError, match="another package has a feature of this name"):
        names({"word": "greeting"})


async def test_the_bot_does_not_start_with_a_broken_package(place: Path, tmp_path: Path) -> None:
    """It says where, and ends with exit code 3; the doctor goes on with its other checks."""
    (place / "broken_of_test.py").write_text("1 / 0\n")
    install(place, "broken_of_test:greeting")
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s", "OPENAI_API_KEY": "sk-no"}
    variables = {**tokens, "PYTHONPATH": str(place), "OPENAI_BASE_URL": "http://127.0.0.1:1"}
    for command in ("serve", "ask x"):
        done = await bot(tmp_path, *command.split(), **variables)
        assert done.code == 3, command
        assert done.err.splitlines()[-1].startswith("bot: package greeting-of-test, entry point")
        assert "Traceback" not in done.err
    done = await bot(tmp_path, "doctor", **variables)
    assert "package greeting-of-test" in " ".join(done.out.split())
    assert "Traceback" not in done.err


async def test_operators_erase_count_and_examine_beside_a_broken_package(
    place: Path, tmp_path: Path, redis_url: str
) -> None:
    """A person is erased here, and the operator told that something may be left elsewhere."""
    install(place, "greeting_of_test:broken")
    variables = {"PYTHONPATH": str(place), "REDIS_URL": redis_url}
    done = await bot(tmp_path, "usage", **variables)
    assert (done.code, "Nothing was spent" in done.out) == (0, True)
    done = await bot(tmp_path, "erase", "--user", "U0ADA00001", **variables)
    assert done.code == 1
    assert "! greeting_of_test.Broken failed" in " ".join(done.out.split())
    assert "rased" in done.out
    done = await bot(tmp_path, "doctor", OPENAI_BASE_URL="http://127.0.0.1:1", **variables)
    assert "greeting_of_test.Broken: KeyError: 'checks'" in " ".join(done.out.split())


@pytest.fixture
def house_style(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The wheel of the example, installed for this test."""
    folder = tmp_path / "installed"
    install_wheel(built(EXAMPLE, tmp_path), folder)
    monkeypatch.syspath_prepend(folder)
    for name in [name for name in sys.modules if name.split(".")[0] == "house_style"]:
        monkeypatch.delitem(sys.modules, name)  # of the tests beside it
    return folder


async def test_the_example_takes_part_in_a_bot(house_style: Path, redis_url: str) -> None:
    """Its hook sends an answer back and counts that, its button says why to the person alone."""
    table = tomllib.loads((EXAMPLE / "bot.toml").read_text("utf-8"))["features"]
    script = Script([finish(answer("We utilize paper.")), finish(answer("We use paper."))])
    async with deployed(script, redis_url, features=table) as bot:
        thread = await bot.ask(ADA, SALES, "Paper?")
        [message] = await bot.answered(SALES, thread)
        assert "We use paper." in str(message["blocks"])
        await bot.ws.click(ADA, SALES, message["ts"], "house_style_show")
        [told] = await bot.ws.until(
            lambda: [m for m in bot.ws.messages(SALES, thread, ADA) if m.get("is_ephemeral")]
        )
    assert told["text"].splitlines()[0] == "• use, not _utilize_"
    metrics = Metrics()
    features = {feature.name: feature for feature in all_features(Settings(_env_file=None))}
    metrics.include(operator_parts([features["house_style"]])[0].metrics)
    assert "house_style_sent_back_total 1.0" in metrics.text().decode()


async def test_the_doctor_has_the_line_of_the_example(house_style: Path, tmp_path: Path) -> None:
    done = await bot(
        tmp_path, "doctor", PYTHONPATH=str(house_style), OPENAI_BASE_URL="http://127.0.0.1:1"
    )
    assert "no words are replaced" in " ".join(done.out.split())


def test_the_page_names_all_that_there_is() -> None:
    """Each field of a feature, and the tables and group by which a package is found."""
    page = PAGE.read_text("utf-8")
    rows = re.findall(r"^\| (`.+?) \| ", page, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    fields = [field.name for field in dataclasses.fields(Feature)]
    assert named == [name for name in fields if name not in OF_OURS]
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    [[_, of_page]] = re.findall(r"```(toml)\n(.*?)```", page, re.DOTALL)
    assert tomllib.loads(of_page)["project"]["entry-points"] == project["entry-points"]
    assert FEATURES_GROUP in project["entry-points"]
    assert len(page.split()) <= 600


def test_the_example_imports_of_the_bot_what_the_door_has() -> None:
    code = (EXAMPLE / "house_style" / "feature.py").read_text("utf-8")
    modules = {
        node.module
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bot")
    }
    assert modules == {"bot.features.door"}
