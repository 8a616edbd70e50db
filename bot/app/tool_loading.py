"""Tool discovery: the tools defined in the files of `tools/`."""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from functools import cache
from types import ModuleType

import tools
from bot.agent.builtin.subagents import dispatch_subagent
from bot.core.errors import ToolDefinitionError
from bot.toolkit import Tool
from bot.toolkit.catalogue import Catalogue


@cache
def catalogue() -> Catalogue:
    """Return all tools: those of the modules in `tools/`, and the agent's own.

    Raises ToolDefinitionError with one line that names the file.
    """
    modules = [_module(each.name) for each in pkgutil.iter_modules(tools.__path__)]
    # `@tool` leaves the tool on the function that it decorates.
    found = (getattr(value, "tool", None) for module in modules for value in vars(module).values())
    in_files = Catalogue.of(each for each in found if isinstance(each, Tool))
    return in_files.with_own(dispatch_subagent.tool)


def _module(name: str) -> ModuleType:
    """Import a module of `tools/`. Raises ToolDefinitionError that names its file and line."""
    file = f"tools/{name}.py"
    try:
        return importlib.import_module(f"tools.{name}")
    except ToolDefinitionError as error:
        raise ToolDefinitionError(f"{file}: {error}") from error
    except SyntaxError as error:
        raise ToolDefinitionError(f"{file}, line {error.lineno}: {error.msg}.") from error
    except Exception as error:  # any mistake in the file
        lines = [
            each.lineno
            for each in traceback.extract_tb(error.__traceback__)
            if each.filename.endswith(file)
        ]
        line = f", line {lines[-1]}" if lines else ""
        raise ToolDefinitionError(f"{file}{line}: {type(error).__name__}: {error}") from error
