"""Places of definitions, for error messages: file and line of a function, name of a type."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any


def place_of(function: Callable[..., Any]) -> str:
    """Return the file and line where a function is defined, or its module if it has no file."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    if code is None:
        return str(getattr(function, "__module__", "unknown"))
    return f"{short_path(code.co_filename)}, line {code.co_firstlineno}"


def short_path(file: str) -> str:
    """Return the path as seen from the current folder, if the file is in it."""
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else file


def type_name(kind: Any) -> str:
    """Return the name of a type as its author wrote it."""
    return kind.__name__ if isinstance(kind, type) else str(kind)
