"""docs/requirements.md says what the agent loop does; tests hold it to that."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "requirements.md"
ROW = re.compile(r"^\| ([A-IK]\d{1,2}) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"\b([A-IK]\d{1,2})[a-c]?\b")


def test_every_requirement_is_one_plain_sentence() -> None:
    """Without codes of other pages."""
    requirements = ROW.findall(PAGE.read_text("utf-8"))
    assert len(requirements) == 62
    assert [name for name, text in requirements if text[-1] != "." or ". " in text] == []


def test_every_requirement_has_a_test() -> None:
    """One that no test names is a promise that nobody holds the project to."""
    named = set[str]()
    for path in TESTS.rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                named |= {*NAMED.findall((ast.get_docstring(node) or "").split(":")[0])}
    requirements = ROW.findall(PAGE.read_text("utf-8"))
    assert [name for name, _ in requirements if name not in named] == []
