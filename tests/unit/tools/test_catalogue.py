"""The tools as a whole: all can be offered, the README's example works, and importing them is
cheap."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tools
from bot.ops.doctor.tools import examine_tools
from bot.settings import Settings
from bot.toolkit import Tool
from bot.toolkit.catalogue import Catalogue

ROOT = Path(tools.__file__).parents[1]
MODULES = [f"tools.{each.name}" for each in pkgutil.iter_modules(tools.__path__)]


def found(module: ModuleType) -> list[Tool]:
    members = (getattr(each, "tool", None) for each in vars(module).values())
    return [each for each in members if isinstance(each, Tool)]


@pytest.fixture
def catalogue() -> Catalogue:
    return Catalogue.of(each for name in MODULES for each in found(importlib.import_module(name)))


def test_every_tool_can_be_offered(catalogue: Catalogue) -> None:
    """Names are unique, schemas strict, and the core is small (D1)."""
    assert not catalogue.core
    assert len(catalogue.tools) >= 45
    for each in catalogue.tools:
        assert each.definition()["parameters"]["additionalProperties"] is False
        for name, argument in each.parameters["properties"].items():
            assert argument.get("description"), f"{each.name}: {name} is not described"


def test_cards_have_one_short_line(catalogue: Catalogue) -> None:
    query = catalogue.get("query_table")
    assert query is not None
    arguments = query.arguments(sql="SELECT region,\n  sum(n) " + "x" * 99, handles=["tbl_1"])
    title = query.title(arguments)
    assert title.startswith("Query: SELECT region, sum(n) xxx")
    assert title.endswith("x…")
    assert len(title) <= 80
    arguments = query.arguments(sql="SELECT 1", handles=["tbl_1"], purpose="total n by region")
    assert query.title(arguments) == "Query: total n by region"
    search = catalogue.get("search_document")
    assert search is not None
    arguments = search.arguments(handle="doc_7k2p9xyz", query="refunds")
    assert search.title(arguments) == "Search the document for refunds"  # people know no handles


def test_the_tool_of_docs_tools_is_found(catalogue: Catalogue) -> None:
    """A tool is one file of a dozen lines."""
    text = (ROOT / "docs" / "tools.md").read_text(encoding="utf-8")
    code, *_ = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    module = ModuleType("tools.units")
    exec(code, vars(module))
    [made] = found(module)
    assert made.function(100, "C") == "212.0 °F"
    assert made.function(32, "F") == "0.0 °C"
    assert made.title(made.arguments(value=20, unit="C")) == "Convert 20.0 °C"
    assert Catalogue.of([*catalogue.tools, made]).get("convert_temperature") is made


async def test_the_name_of_a_tool_that_is_gone_stays_known(catalogue: Catalogue) -> None:
    """A channel that allows pivot_table by its name goes on with what replaces it, and one with a pattern
    for it starts; an evaluation that expects it is met by query_table. Doctor says of a command on it
    that it never runs."""
    assert [tool.name for tool in catalogue.only(["pivot_table", "dates"]).tools] == ["query_table"]
    assert catalogue.only(["find_dup*"]).tools == ()
    assert catalogue.has("find_dup*")
    assert not catalogue.has("find_nothing*")
    assert "Call query_table: PIVOT tbl_x ON month" in catalogue.missing("pivot_table")
    assert {"pivot_table", "query_table"} <= {*catalogue.names_of("query_table")}
    for words in ("find duplicate rows", "pivot by month", "join tables"):
        assert catalogue.search(words, 1)[0].name == "query_table"
    commands = [
        {"tool": "pivot_table", "run": ["true"]},
        {"tool": "query_*", "run": ["true"]},
    ]
    channels, hooks = {"C1": {"tools": ["pivot_table"]}}, {"before_tool": commands}
    checks = await examine_tools(
        Settings.model_validate({"_env_file": None, "channels": channels, "hooks": hooks})
    )
    assert [check.subject for check in checks] == ["tools", "hooks"]
    assert checks[-1].text == "there is no tool pivot_table: these commands never run"


def test_the_readme_lists_every_tool(catalogue: Catalogue) -> None:
    text = (ROOT / "tools" / "README.md").read_text(encoding="utf-8")
    assert not [each.name for each in catalogue.tools if f"`{each.name}`" not in text]


def test_heavy_libraries_wait_until_they_are_needed() -> None:
    """A worker's start pays for none of them."""
    heavy = [
        "matplotlib",
        "duckdb",
        "psycopg",
        "sqlglot",
        "openpyxl",
        "pypdfium2",
        "aiohttp",
        "pint",
        "holidays",
        "docx",
        "typst",
        "fontTools",
    ]
    code = f"import sys, {', '.join(MODULES)}; print([m for m in {heavy} if m in sys.modules])"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert run.stdout.strip() == "[]"
