"""Descriptions from a tool's docstring: of the tool, and of its arguments in an `Args:` section."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from bot.core.errors import ToolDefinitionError

_ARGUMENTS = re.compile(r"^(?:Args|Arguments|Parameters|Params):[ \t]*$", re.MULTILINE)


def descriptions(function: Callable[..., Any]) -> tuple[str, dict[str, str]]:
    """Return what the model reads about a tool, and about each argument that `Args:` describes.

    The section is in Google's style; the tool's description is the text before it. Raises
    ToolDefinitionError for a section that cannot be read, and for one that describes an argument
    twice or one that is no parameter.
    """
    text = inspect.getdoc(function) or ""
    section = _ARGUMENTS.search(text)
    if section is None:
        return text, {}
    description = text[: section.start()].rstrip()
    from docstring_parser import ParseError, google  # most tools have no such section

    owner = f"Tool {function.__name__}, Args"
    try:
        # Without the description, in which the parser would look for sections of its own.
        entries = google.parse(f"_\n\n{text[section.start() :]}").params
    except ParseError as error:
        raise ToolDefinitionError(f"{owner}: {str(error).splitlines()[0]}") from None
    found: dict[str, str] = {}
    for entry in entries:
        if entry.arg_name not in inspect.signature(function).parameters:
            raise ToolDefinitionError(f"{owner}: {entry.arg_name} is none of its parameters.")
        if entry.arg_name in found:
            raise ToolDefinitionError(f"{owner}: {entry.arg_name} is described twice.")
        found[entry.arg_name] = " ".join((entry.description or "").split())
        if not found[entry.arg_name]:
            raise ToolDefinitionError(f"{owner}: {entry.arg_name} has no description.")
    return description, found
