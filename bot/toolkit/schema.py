"""JSON schemas in the shape that the Responses API's strict mode takes.

Rules (docs "Structured outputs", as of November 2026): the root is an object; every object has
`additionalProperties: false` and lists all of its properties as required, so that an optional one
is nullable; no allOf, not, oneOf, if/then/else, no free-form dictionaries.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from bot.core.errors import ToolDefinitionError

_DROPPED = frozenset({"title", "default", "examples", "minLength", "maxLength", "uniqueItems"})
_REFUSED = {
    "oneOf": "a discriminated union (use a plain union)",
    "allOf": "an intersection",
    "not": "a negation",
    "prefixItems": "a tuple (use a list or a model)",
    "patternProperties": "a dictionary with key patterns",
    "dependentSchemas": "dependent schemas",
    "contentEncoding": "bytes",
}


def strict_schema(model: type[BaseModel], *, owner: str) -> dict[str, Any]:
    """The strict JSON schema of `model`.

    Fields with a default become nullable: the model sends null to leave them out; see
    `without_nulls`. What pydantic checks and the schema cannot say is checked when a call comes
    in. Raises ToolDefinitionError, naming `owner` and the field, for what strict mode cannot
    express.
    """
    schema = model.model_json_schema(mode="validation")
    strict = _strict(schema, where=owner)
    if not isinstance(strict, dict) or strict.get("type") != "object":
        raise ToolDefinitionError(f"{owner}: the root of a schema must be an object.")
    return strict


def without_nulls(model: type[BaseModel], given: Any) -> Any:
    """`given` without the nulls that stand for "left out", so that defaults apply."""
    if not isinstance(given, dict):
        return given
    optional = {name for name, field in model.model_fields.items() if not field.is_required()}
    return {key: value for key, value in given.items() if value is not None or key not in optional}


def _strict(node: Any, *, where: str) -> Any:
    if isinstance(node, list):
        return [_strict(each, where=where) for each in node]
    if not isinstance(node, dict):
        return node
    for key, what in _REFUSED.items():
        if key in node:
            raise ToolDefinitionError(f"{where}: strict mode cannot express {what}.")
    if node.get("format") == "binary":
        raise ToolDefinitionError(f"{where}: strict mode cannot express bytes.")
    kept = {key: value for key, value in node.items() if key not in _DROPPED}
    if not kept.keys() - {"description"}:
        raise ToolDefinitionError(f"{where}: a value of any type; give it a type.")
    if kept.get("type") == "object" or "properties" in kept:
        return _strict_object(kept, where=where)
    return {
        key: value if key in {"enum", "const", "required"} else _strict_member(key, value, where)
        for key, value in kept.items()
    }


def _strict_member(key: str, value: Any, where: str) -> Any:
    if key == "$defs":
        return {name: _strict(each, where=f"{where}, {name}") for name, each in value.items()}
    return _strict(value, where=where)


def _strict_object(node: dict[str, Any], *, where: str) -> dict[str, Any]:
    if node.get("additionalProperties"):
        raise ToolDefinitionError(f"{where}: a dictionary with free keys; use a list of models.")
    required = set(node.get("required", ()))
    properties = {
        name: _property(each, optional=name not in required, where=f"{where}, field {name}")
        for name, each in node.get("properties", {}).items()
    }
    strict: dict[str, Any] = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    if "description" in node:
        strict["description"] = node["description"]
    if "$defs" in node:
        strict["$defs"] = _strict_member("$defs", node["$defs"], where)
    return strict


def _property(node: dict[str, Any], *, optional: bool, where: str) -> Any:
    strict = _strict(node, where=where)
    if not optional or _allows_null(strict):
        return strict
    description = strict.pop("description", None)
    nullable: dict[str, Any] = {"anyOf": [strict, {"type": "null"}]}
    if description is not None:
        nullable = {"description": description, **nullable}
    return nullable


def _allows_null(node: dict[str, Any]) -> bool:
    return node.get("type") == "null" or any(_allows_null(each) for each in node.get("anyOf", ()))
