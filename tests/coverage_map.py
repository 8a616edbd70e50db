"""Which tests hold up which requirement: `python -m tests.coverage_map` writes tests/README.md.

A test names the requirements that it holds up at the start of its docstring: "B2 D5: …".
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS / "README.md"
_COUNTS = {"A": 7, "B": 9, "C": 8, "D": 10, "E": 4, "G": 6, "H": 5, "I": 6}
IDS = tuple(f"{part}{n}" for part, count in _COUNTS.items() for n in range(1, count + 1))
"""The requirements on the agent loop. Each has one row on the page, tested or not."""

_NAMED = re.compile(r"\b([A-I]\d{1,2})[a-c]?\b")
_HEAD = """\
# Tests, by what they hold up

Written by `python -m tests.coverage_map` from the docstrings; a test sees that it is up to date.
`python -m tests.behaviour` prints how runs end when things go wrong.
`HYPOTHESIS_PROFILE=heavy pytest tests/unit/agent/test_stateful.py --timeout 0` searches long.

| requirement | tests |
|---|---|
"""


def found() -> dict[str, list[str]]:
    """Requirement → the tests that name it, as "file::test"."""
    by_id: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for name, words in _documented(path):
            for each in dict.fromkeys(_NAMED.findall(words.split(":")[0])):
                by_id[each].append(f"{path.relative_to(TESTS).as_posix()}::{name}")
    return by_id


def page() -> str:
    """The page, as it should stand in tests/README.md."""
    tests = found()
    return _HEAD + "".join(f"| {each} | {_cell(tests.get(each, []))} |\n" for each in IDS)


def _documented(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named = node.name.startswith(("test_", "check_"))
            if named and (words := ast.get_docstring(node)):
                yield node.name, words


def _cell(tests: list[str]) -> str:
    return "<br>".join(f"`{each}`" for each in tests) or "**none yet**"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
