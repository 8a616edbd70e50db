"""`bot tools new`: the files of a new tool and of its test, which pass as they are."""

from __future__ import annotations

import importlib.util
import keyword
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from bot.app.tool_folders import may_hold_tools, own_folder
from bot.core.errors import ConfigurationError

_NAME = re.compile(r"[a-z][a-z0-9_]{0,19}")

_TOOL = Template('''\
"""Tools for $words."""

from __future__ import annotations

from bot.toolkit import Reads, ToolError, progress, tool

_ENTRIES = ("Ada Lovelace, London", "Grace Hopper, New York")
"""Examples: call your own system in the place of these."""


@tool(
    group="$name",
    summary="Find entries of $words by their words",
    safety=Reads(foreign=True),
    title="Look in $words for {query}",
)
async def $tool(query: str) -> str:
    """Find the entries of $words that have all words, in any case.

    Args:
        query: Words that an entry has.
    """
    await progress("looking for entries")
    words = query.casefold().split()
    found = [each for each in _ENTRIES if all(w in each.casefold() for w in words)]
    if not found:
        raise ToolError(f"No entry has all words of {query!r}. Try fewer words.")
    return "\\n".join(found)
''')

_TEST = Template('''\
"""Tests of the tools for $words."""

from __future__ import annotations

import asyncio

from bot.testing import assert_schema, run_tool
from bot.testing.scripted import call, finish, scripted_run

# isort: split
from $module import $tool


def test_one_call() -> None:
    """The entries that have the words are returned, and people see what goes on."""
    shown: list[str] = []
    calling = run_tool($tool, {"query": "ada"}, progress=shown)
    found = asyncio.run(calling)
    assert found.content == "Ada Lovelace, London"
    assert shown == ["looking for entries"]


def test_what_the_model_sees() -> None:
    """Each argument has a type and a description."""
    assert_schema($tool, {"query": {"type": "string"}})


def test_a_whole_run() -> None:
    """A mistake of the model goes back to it; the model here gives these replies."""
    replies = [
        call("$tool", {"query": "nobody"}),
        call("$tool", {"query": "ada"}),
        finish({"summary": "Ada lives in London."}),
    ]
    question = "Where does Ada live?"
    running = scripted_run(question, replies, tools=[$tool])
    run = asyncio.run(running)
    assert "Try fewer words" in run.outputs[0]
    assert "Ada Lovelace, London" in run.outputs[1]
    assert run.answer.summary == "Ada lives in London."
''')


@dataclass(frozen=True, slots=True)
class NewTool:
    """The files that were written, and the name of the tool in them."""

    name: str
    file: Path
    test: Path


def new_tool_lines(name: str, paths: Sequence[Path]) -> list[str]:
    """Write a tool and its test; return what was written, and what to do next.

    `paths` are the configured folders of tools: the first gets the files, or a new folder in the
    working directory, never one of the bot's own. Raises ConfigurationError, see `write_tool`.
    """
    folder = paths[0].expanduser() if paths else Path("tools")
    if folder.absolute() == own_folder():
        folder = Path("own_tools")
    made = write_tool(name, folder)
    # In a clone, pytest reads the settings of all its tests, which need their plug-ins.
    in_clone = own_folder().parent in folder.absolute().parents
    install = "pip install -e '.[test]'" if in_clone else "pip install pytest"
    then = ""
    if folder not in map(Path.expanduser, paths):
        then = f'add `[tools]` with `paths = ["{folder}"]` to bot.toml; '
    return [
        f"Wrote {made.file} and {made.test}.",
        f"Next: call your system in {made.name}, `{install}`, and run `pytest {made.test}`.",
        f"Then {then}`bot tools` lists it. docs/tools.md says the rest.",
    ]


def write_tool(name: str, folder: Path) -> NewTool:
    """Write a tool and its test, and return where they are.

    The test is beside the tool. Raises ConfigurationError if the name cannot be used, a file exists,
    or a file cannot be written.
    """
    module = name.replace("-", "_").lower()
    if not _NAME.fullmatch(module) or keyword.iskeyword(module) or not may_hold_tools(module):
        raise ConfigurationError(
            f"{name!r} cannot be the name of a file of tools: take a word such as crm, of up to 20 "
            "letters, digits and _."
        )
    file, test = folder / f"{module}.py", folder / f"test_{module}.py"
    tool = f"search_{module}"
    _check_free(module, tool, file, test)
    package = "." if (folder / "__init__.py").is_file() else ""
    texts = {"name": module, "words": module.replace("_", " "), "tool": tool}
    texts["module"] = f"{package}{module}"
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        _write(file, _TOOL.substitute(texts))
        _write(test, _TEST.substitute(texts))
    except OSError as error:
        raise ConfigurationError(f"{error.filename} cannot be written: {error.strerror}.") from None
    return NewTool(tool, file, test)


def _check_free(module: str, tool: str, *files: Path) -> None:
    """Raise ConfigurationError if a file, a module or a tool of these names exists.

    The tools are looked for in the text of the files: loading all of them takes seconds.
    """
    for file in files:
        if file.exists():
            raise ConfigurationError(f"{file} exists, and is not overwritten. Choose another name.")
    if importlib.util.find_spec(module):
        raise ConfigurationError(
            f"There is a module {module} already, which tests would import instead. Choose another "
            f"name, such as our_{module}."
        )
    for file in (*own_folder().glob("*.py"), *files[0].parent.glob("*.py")):
        if f"def {tool}(" in file.read_text("utf-8", errors="replace"):
            raise ConfigurationError(f"There is a tool {tool} in {file}. Choose another name.")


def _write(path: Path, text: str) -> None:
    """Write a new file that only its owner can change: the bot loads no other code."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
