"""Entry points of installed packages, which bring tools and features.

A mistake in one of them is one line that names its place, and the bot does not start.
"""

from __future__ import annotations

import importlib.util
import traceback
from importlib import metadata
from pathlib import Path
from typing import Any

from bot.core.errors import ToolDefinitionError
from bot.toolkit.definition_place import short_path

FEATURES_GROUP = "slack_answer_bot.features"
"""The group of entry points by which installed packages offer features."""

MISTAKES = (Exception, SystemExit)
"""What importing a file with a mistake may raise."""


def origin_of(point: metadata.EntryPoint) -> str:
    """Return the package of an entry point, in words."""
    return f"package {point.dist.name}" if point.dist else f"entry point {point.name}"


def entry_of(point: metadata.EntryPoint) -> str:
    """Return the package and the line of an entry point, for messages."""
    return f"{origin_of(point)}, entry point {point.name} = {point.value}"


def load(point: metadata.EntryPoint) -> Any:
    """Return what an entry point names. Raises ToolDefinitionError that names the place."""
    try:
        return point.load()
    except MISTAKES as error:
        line = line_about(error, *folders_of(point))
        raise ToolDefinitionError(f"{entry_of(point)}: {line}") from error


def folders_of(point: metadata.EntryPoint) -> list[Path]:
    """Return the folder of the package that an entry point is in, if it can be found."""
    try:
        package = importlib.util.find_spec(point.value.partition(":")[0].partition(".")[0].strip())
    except (ImportError, ValueError):
        return []
    return [Path(package.origin).parent] if package and package.origin else []


def line_about(error: BaseException, *folders: Path) -> str:
    """Return one line about a mistake in `folders`: the last place in their code, and the error."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{short_path(error.filename)}, line {error.lineno}: {error.msg}."
    text = " ".join(str(error).split())
    if not isinstance(error, ToolDefinitionError):
        text = f"{type(error).__name__}: {text}"
    places = [
        f"{short_path(frame.filename)}, line {frame.lineno}: "
        for frame in traceback.extract_tb(error.__traceback__)
        if any(Path(frame.filename).is_relative_to(folder) for folder in folders)
    ]
    return f"{places[-1]}{text}" if places else text
