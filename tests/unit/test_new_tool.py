"""`bot tools new`: a file with a tool and its test, which pass as they are (22.4)."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.tool_loading import load_tools
from bot.cli.new_tool import new_tool_lines, write_tool
from bot.core.errors import ConfigurationError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of tools as an operator has it: not there yet, and not a package."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "ours"
    sys.modules.pop("billing", None)


def checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both files are clean, the tool is found, and each test passes, as `pytest` would run it."""
    for command in (["check"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--isolated", str(folder)]
        subprocess.run(ruff, check=True, stdout=subprocess.PIPE)
    assert load_tools((folder,)).catalogue.get("search_billing")
    monkeypatch.syspath_prepend(str(folder))
    tests = runpy.run_path(str(folder / "test_billing.py"))
    examples = [made for name, made in tests.items() if name.startswith("test_")]
    assert len(examples) == 3
    for example in examples:
        example()


def test_what_is_written_passes_and_is_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """22.4: a new author begins with something that works."""
    wrote, first, then = new_tool_lines("billing", [folder])
    assert str(folder / "billing.py") in wrote
    assert f"pytest {folder / 'test_billing.py'}" in first
    assert "`bot tools` lists it" in then
    checked(folder, monkeypatch)


def test_others_cannot_change_what_was_written(folder: Path) -> None:
    """22.1: otherwise the bot would not start with it."""
    write_tool("invoices", folder)
    assert not [path for path in (folder, *folder.iterdir()) if path.stat().st_mode & 0o022]


@pytest.mark.parametrize("existing", ["invoices.py", "test_invoices.py"])
def test_nothing_is_overwritten(folder: Path, existing: str) -> None:
    """22.4: neither file; the other one is not written then."""
    folder.mkdir()
    (folder / existing).write_text("mine")
    with pytest.raises(ConfigurationError, match=f"{existing} exists"):
        write_tool("invoices", folder)
    assert [path.name for path in folder.iterdir()] == [existing]
    assert (folder / existing).read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "../invoices",
            "invoices.py",
            "1invoices",
            "_invoices",
            "test_invoices",
            "invoices_test",
            "setup",
            "class",
        ),
        *("c" * 21, "invoices\n", "calendar", "aiohttp", "web"),
    ],
)
def test_a_name_that_cannot_work_is_refused(folder: Path, name: str) -> None:
    """22.4: no module of tools, a module that exists, or a tool that exists (search_web)."""
    with pytest.raises(ConfigurationError) as caught:
        write_tool(name, folder)
    assert "\n" not in str(caught.value)
    assert not folder.exists()


def test_a_name_becomes_that_of_a_module(folder: Path) -> None:
    """22.4: people write names as they like."""
    assert write_tool("Our-INVOICES", folder).file.name == "our_invoices.py"


def test_without_a_folder_of_theirs_it_writes_to_the_working_directory(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """22.4: never among the bot's own tools, which an upgrade replaces; and it says how to configure it."""
    *_, then = new_tool_lines("invoices", [])
    assert 'paths = ["tools"]' in then
    assert (folder.parent / "tools" / "invoices.py").is_file()
    assert (folder.parent / "tools" / "test_invoices.py").is_file()
    monkeypatch.setattr("bot.cli.new_tool.own_folder", lambda: folder.parent / "tools")
    *_, then = new_tool_lines("bills", [])
    assert 'paths = ["own_tools"]' in then
    assert (folder.parent / "own_tools" / "bills.py").is_file()
