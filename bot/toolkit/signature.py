"""Argument and result types from the signature of a tool function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.fields import FieldInfo

from bot.core.errors import ToolDefinitionError

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def arguments_model(
    function: Callable[..., Any],
    hints: dict[str, Any],
    services: Mapping[str, type],
    described: Mapping[str, str],
) -> type[BaseModel]:
    """Return a pydantic model with a field for each parameter that the language model sets.

    `described` has descriptions by parameter. Raises ToolDefinitionError for a parameter that the
    language model cannot set, that is described in its annotation too, or whose default violates
    its own bounds.
    """
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
            about: dict[str, Any] = {}
            if key in described:
                about["description"] = _only(name, key, hint, described[key])
            if default is not inspect.Parameter.empty:
                about["default"] = _default(name, key, hint, default)
            fields[key] = (hint, Field(**about))
        config = ConfigDict(extra="forbid", frozen=True)
        return create_model(f"{name}_arguments", __config__=config, **fields)
    except PydanticSchemaGenerationError as error:
        raise ToolDefinitionError(_no_type(name, "a parameter", error)) from None


def _only(tool: str, key: str, hint: Any, description: str) -> str:
    """Return the description from the docstring. Raises ToolDefinitionError if there is another."""
    if FieldInfo.from_annotation(hint).description:
        raise ToolDefinitionError(
            f"Tool {tool}: {key} is described twice, in Args and in its annotation. Keep one."
        )
    return description


def _default(tool: str, key: str, hint: Any, default: Any) -> Any:
    """Return the validated default. Raises ToolDefinitionError if its own annotation refuses it."""
    try:
        return TypeAdapter(hint).validate_python(default)
    except ValidationError as error:
        why = error.errors()[0]["msg"]
        raise ToolDefinitionError(f"Tool {tool}: the default of {key} is refused: {why}.") from None


def result_validator(tool: str, returns: Any) -> TypeAdapter[Any]:
    """Return a validator for results. Raises ToolDefinitionError for a type that is not data."""
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
