"""What the signature of a tool's function says: its arguments, and its result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError

from bot.core.errors import ToolDefinitionError

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def arguments_model(
    function: Callable[..., Any], hints: dict[str, Any], services: Mapping[str, type]
) -> type[BaseModel]:
    """A field for each parameter that the model sets. Raises ToolDefinitionError for one that it
    cannot set, or whose default its own bounds refuse."""
    name = function.__name__
    fields: dict[str, Any] = {}
    for key, parameter in inspect.signature(function).parameters.items():
        if key in services:
            continue
        if key not in hints:
            raise ToolDefinitionError(f"Tool {name}: parameter {key} has no annotation.")
        if parameter.kind not in _NAMED or key.startswith("_"):
            raise ToolDefinitionError(
                f"Tool {name}: the model cannot set {parameter}; "
                "a parameter has a name of its own, without a leading underscore."
            )
        fields[key] = (hints[key], parameter.default)
    try:
        for key, (hint, default) in fields.items():
            given = default is not inspect.Parameter.empty
            fields[key] = (
                hint,
                Field(default=_default(name, key, hint, default)) if given else ...,
            )
        config = ConfigDict(extra="forbid", frozen=True)
        return create_model(f"{name}_arguments", __config__=config, **fields)
    except PydanticSchemaGenerationError as error:
        raise ToolDefinitionError(_no_type(name, "a parameter", error)) from None


def _default(tool: str, key: str, hint: Any, default: Any) -> Any:
    """What pydantic would take as it is: the model leaves out what it then may not say itself."""
    try:
        return TypeAdapter(hint).validate_python(default)
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise ToolDefinitionError(f"Tool {tool}: the default of {key} is refused: {why}.") from None


def returned(tool: str, returns: Any) -> TypeAdapter[Any]:
    """Checks results by their annotation. Raises ToolDefinitionError for what is not data."""
    if returns in (bytes, bytearray):
        raise ToolDefinitionError(
            f"Tool {tool}: the result is bytes. Keep them with artifacts.save and return the handle."
        )
    try:
        return TypeAdapter(returns)
    except PydanticSchemaGenerationError as error:
        raise ToolDefinitionError(_no_type(tool, "the result", error)) from None


def _no_type(tool: str, what: str, error: PydanticSchemaGenerationError) -> str:
    return f"Tool {tool}: {what} has a type that is not data. {error.message.splitlines()[0]}"
