"""Errors for wrongly used decorators: Python's own would not say what a tool's author has to write."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from functools import wraps
from typing import Any, TypeVar, cast

from bot.core.errors import ToolDefinitionError

F = TypeVar("F", bound=Callable[..., Any])


def explains_misuse(decorator: F) -> F:
    """Make a decorator whose options are all named raise ToolDefinitionError for wrong ones."""
    options = inspect.signature(decorator).parameters
    name = f"@{decorator.__name__}"
    needed = [key for key, option in options.items() if option.default is option.empty]
    form = ", ".join(f'{key}="…"' for key in needed)

    @wraps(decorator)
    def checked(*functions: Any, **given: Any) -> Any:
        if functions:
            raise ToolDefinitionError(f"{name} is written with options: {name}({form}).")
        if missing := [key for key in needed if key not in given]:
            raise ToolDefinitionError(f"{name} lacks {' and '.join(missing)}: {name}({form}).")
        for key in sorted(given.keys() - options.keys()):
            near = get_close_matches(key, options, 1)
            meant = f"did you mean {near[0]}?" if near else f"it has {', '.join(options)}."
            raise ToolDefinitionError(f"{name} has no option {key}: {meant}")
        return decorator(**given)

    return cast("F", checked)
